"""What each vendor's official client does with one file, against an address of ours. Runs with the clients' own Python.

`python official_clients.py NAME WAY ADDRESSES AUDIO`: NAME is a vendor, WAY "batch" or "live", ADDRESSES a JSON object
with url, socket_url and key, AUDIO a WAV file at 16 kHz. Prints a JSON object with the text it ended with.
"""

import asyncio
import json
import os
import sys
import threading
import time
import wave
from pathlib import Path

FRAME_S = 0.1
FASTER = 4  # than real time; AssemblyAI and Soniox allow a head start


def pieces(audio):
    """The samples in frames, at a multiple of real time."""
    with wave.open(audio) as source:
        pcm = source.readframes(source.getnframes())
    size = int(32_000 * FRAME_S)
    for first in range(0, len(pcm), size):
        yield pcm[first : first + size]
        time.sleep(FRAME_S / FASTER)


def deepgram_client(at):
    from deepgram import DeepgramClient
    from deepgram.environment import DeepgramClientEnvironment

    sockets = at["socket_url"].removesuffix("/v1/listen")
    return DeepgramClient(
        api_key=at["key"],
        environment=DeepgramClientEnvironment(base=at["url"], production=sockets, agent=sockets, agent_rest=at["url"]),
    )


def deepgram_batch(at, audio):
    answer = deepgram_client(at).listen.v1.media.transcribe_file(
        request=Path(audio).read_bytes(),
        model="nova-3",
        punctuate=True,
        utterances=True,
        diarize_model="latest",
        detect_language=True,
        keyterm=["Americans", "my country"],
    )
    first = answer.results.channels[0].alternatives[0]
    return {"text": first.transcript, "words": len(first.words), "speakers": [w.speaker for w in first.words]}


def deepgram_live(at, audio):
    from deepgram.core.events import EventType

    finals, drafts = [], []
    with deepgram_client(at).listen.v1.connect(
        model="nova-3",
        encoding="linear16",
        sample_rate="16000",
        interim_results="true",
        punctuate="true",
        utterance_end_ms="1000",
        vad_events="true",
    ) as socket:

        def heard(message):
            if getattr(message, "type", "") == "Results":
                (finals if message.is_final else drafts).append(message.channel.alternatives[0].transcript)

        socket.on(EventType.MESSAGE, heard)
        listening = threading.Thread(target=socket.start_listening, daemon=True)
        listening.start()
        for piece in pieces(audio):
            socket.send_media(piece)
        socket.send_finalize()
        socket.send_close_stream()
        listening.join(60)
    return {"text": " ".join(finals), "drafts": len(drafts)}


def assemblyai_batch(at, audio):
    import assemblyai as aai

    aai.settings.base_url, aai.settings.api_key, aai.settings.polling_interval = at["url"], at["key"], 0.1
    config = aai.TranscriptionConfig(
        speaker_labels=True, speech_models=["universal-2"], language_detection=True, keyterms_prompt=["Americans"]
    )
    done = aai.Transcriber().transcribe(audio, config)
    return {"text": done.text, "error": done.error, "speakers": [u.speaker for u in done.utterances]}


def assemblyai_live(at, audio):
    from assemblyai.streaming.v3 import (
        StreamingClient,
        StreamingClientOptions,
        StreamingEvents,
        StreamingParameters,
        TurnEvent,
    )

    turns, drafts, ended = {}, [], []

    def turn(_, event: TurnEvent):
        if event.end_of_turn:
            turns[event.turn_order] = event.transcript
        else:
            drafts.append(event.transcript)

    host = at["socket_url"].removesuffix("/v3/ws")
    client = StreamingClient(StreamingClientOptions(api_key=at["key"], api_host=host, connect_timeout=10))
    client.on(StreamingEvents.Turn, turn)
    client.on(StreamingEvents.Error, lambda _, error: ended.append(str(error)))
    client.connect(
        StreamingParameters(
            sample_rate=16000,
            encoding="pcm_s16le",
            speech_model="universal-streaming-english",
            format_turns=True,
            speaker_labels=True,
            keyterms_prompt=["Americans", "my country"],
        )
    )
    client.stream(pieces(audio))
    client.disconnect(terminate=True)
    return {"text": " ".join(turns[order] for order in sorted(turns)), "drafts": len(drafts), "errors": ended}


def speechmatics_batch(at, audio):
    from speechmatics.batch import AsyncClient, JobConfig, JobType, TranscriptionConfig
    from speechmatics.batch._models import TrackingConfig

    async def run():
        async with AsyncClient(api_key=at["key"], url=at["url"] + "/v2") as client:
            config = JobConfig(
                type=JobType.TRANSCRIPTION,
                tracking=TrackingConfig(reference="ours"),
                transcription_config=TranscriptionConfig(
                    language="en", diarization="speaker", additional_vocab=[{"content": "Americans"}]
                ),
            )
            job = await client.submit_job(audio, config=config)
            done = await client.wait_for_completion(job.id, polling_interval=0.1)
            return {"text": done.transcript_text}

    return asyncio.run(run())


def speechmatics_live(at, audio):
    from speechmatics.rt import (
        AsyncClient,
        AudioEncoding,
        AudioFormat,
        ServerMessageType,
        TranscriptionConfig,
        TranscriptResult,
    )

    async def run():
        finals, drafts = [], []
        async with AsyncClient(api_key=at["key"], url=at["socket_url"]) as client:
            client.on(
                ServerMessageType.ADD_TRANSCRIPT,
                lambda message: finals.append(TranscriptResult.from_message(message).metadata.transcript),
            )
            client.on(ServerMessageType.ADD_PARTIAL_TRANSCRIPT, drafts.append)
            await client.start_session(
                transcription_config=TranscriptionConfig(
                    language="en", enable_partials=True, diarization="speaker", max_delay=2
                ),
                audio_format=AudioFormat(encoding=AudioEncoding.PCM_S16LE, sample_rate=16000),
            )
            coming = pieces(audio)
            while piece := await asyncio.to_thread(next, coming, b""):
                await client.send_audio(piece)
            await client.stop_session()
        return {"text": "".join(finals), "drafts": len(drafts)}

    return asyncio.run(run())


def revai_batch(at, audio):
    from rev_ai import apiclient
    from rev_ai.models import CustomVocabulary

    client = apiclient.RevAiAPIClient(at["key"], url=at["url"])
    job = client.submit_job_local_file(
        audio, metadata="ours", language="en", custom_vocabularies=[CustomVocabulary(["Americans"])]
    )
    while client.get_job_details(job.id).status.name == "IN_PROGRESS":
        time.sleep(0.1)
    found = client.get_transcript_object(job.id)
    text = " ".join("".join(element.value for element in monologue.elements) for monologue in found.monologues)
    client.delete_job(job.id)
    return {"text": text}


def elevenlabs_batch(at, audio):
    from elevenlabs.client import ElevenLabs

    client = ElevenLabs(api_key=at["key"], base_url=at["url"])
    with Path(audio).open("rb") as source:
        found = client.speech_to_text.convert(
            file=source, model_id="scribe_v2", diarize=True, tag_audio_events=False, keyterms=["Americans", "country"]
        )
    return {"text": found.text, "words": len([w for w in found.words if w.type == "word"])}


def soniox_client(at):
    from soniox import SonioxClient

    return SonioxClient(api_key=at["key"], api_base_url=at["url"] + "/v1", websocket_base_url=at["socket_url"])


def soniox_batch(at, audio):
    client = soniox_client(at)
    file = client.files.upload(audio)
    from soniox.types import CreateTranscriptionConfig

    job = client.stt.create(
        config=CreateTranscriptionConfig(
            enable_speaker_diarization=True, enable_language_identification=True, context={"terms": ["Americans"]}
        ),
        file_id=file.id,
        client_reference_id="ours",
    )
    while client.stt.get(job.id).status in ("queued", "processing"):
        time.sleep(0.1)
    text = client.stt.get_transcript(job.id).text
    client.stt.delete(job.id)
    client.files.delete(file.id)
    return {"text": text}


def soniox_live(at, audio):
    from soniox.types import RealtimeSTTConfig

    config = RealtimeSTTConfig(
        model="stt-rt-v5",
        audio_format="pcm_s16le",
        sample_rate=16000,
        num_channels=1,
        enable_speaker_diarization=True,
        enable_endpoint_detection=True,
    )
    said, drafts = [], 0
    with soniox_client(at).realtime.stt.connect(config=config) as session:

        def speak():
            for piece in pieces(audio):
                session.send_byte_chunk(piece)
            session.finish()

        speaking = threading.Thread(target=speak, daemon=True)
        speaking.start()
        for event in session.receive_events():
            said += [token.text for token in event.tokens if token.is_final and token.text not in ("<end>", "<fin>")]
            drafts += any(not token.is_final for token in event.tokens)
        speaking.join()
    return {"text": "".join(said), "drafts": drafts}


def gladia_batch(at, audio):
    from gladiaio_sdk import GladiaClient

    client = GladiaClient(api_key=at["key"], api_url=at["url"])
    done = client.pre_recorded_v2().transcribe(
        audio,
        {
            "diarization": True,
            "custom_metadata": {"reference": "ours"},
            "custom_vocabulary": True,
            "custom_vocabulary_config": {"vocabulary": ["Americans"]},
        },
        interval=0.1,
    )
    return {"text": done.result.transcription.full_transcript}


def gladia_live(at, audio):
    from gladiaio_sdk import GladiaClient, LiveV2InitRequest

    client = GladiaClient(api_key=at["key"], api_url=at["url"])
    finals, drafts, trouble, over = [], [], [], threading.Event()
    session = client.live_v2().start_session(
        LiveV2InitRequest.from_dict(
            {
                "encoding": "wav/pcm",
                "bit_depth": 16,
                "sample_rate": 16000,
                "channels": 1,
                "messages_config": {"receive_partial_transcripts": True},
            }
        )
    )

    def message(heard):
        if heard.type == "transcript":
            (finals if heard.data.is_final else drafts).append(heard.data.utterance.text)

    session.on("message", message)
    session.on("error", lambda error: trouble.append(str(error)))
    session.on("ended", lambda _: over.set())
    for piece in pieces(audio):
        session.send_audio(piece)
    session.stop_recording()
    over.wait(60)
    return {"text": " ".join(finals), "drafts": len(drafts), "errors": trouble}


def salad_batch(at, audio):
    from salad_cloud_transcription_sdk import SaladCloudTranscriptionSdk
    from salad_cloud_transcription_sdk.models import TranscriptionJobInput, TranscriptionRequest

    sdk = SaladCloudTranscriptionSdk(api_key=at["key"], base_url=at["url"] + "/api/public")
    sdk.transcription._storage_service.set_base_url(at["url"])  # its host is fixed in the constructor
    request = TranscriptionRequest(
        options=TranscriptionJobInput(
            return_as_file=False, language_code="en", word_level_timestamps=True, diarization=True
        ),
        metadata={"reference": "ours"},
    )
    organisation = "practice-organisation"
    job = sdk.transcription.transcribe(source=audio, organization_name=organisation, request=request)
    while job.status not in ("succeeded", "failed", "cancelled"):
        time.sleep(0.1)
        job = sdk.transcription.get_transcription_job(organisation, job.id_)
    output = job.output if isinstance(job.output, dict) else vars(job.output)
    return {"text": output["text"]}


def main():
    name, way, addresses, audio = sys.argv[1:]
    said = sys.stdout
    sys.stdout = sys.stderr  # one client prints what it does
    answer = globals()[f"{name}_{way}"](json.loads(addresses), audio)
    said.write(json.dumps(answer) + "\n")
    said.flush()
    os._exit(0)  # some clients leave threads behind


if __name__ == "__main__":
    main()
