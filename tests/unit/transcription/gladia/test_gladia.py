"""Gladia's requests, answers and messages, without a network."""

import json
from typing import Any

import pytest

from sederunt.errors import ProviderFault
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.faults import Explained
from sederunt.transcription.cloud.job import Progress
from sederunt.transcription.cloud.vendor import Acknowledged, Ask, Finished, StreamRefused, asked
from sederunt.transcription.gladia import requests
from sederunt.transcription.gladia.parse import parse
from sederunt.transcription.gladia.stream import GladiaCodec
from sederunt.transcription.gladia.vendor import ENDS, VENDOR, state
from sederunt.transcription.models import find
from sederunt.transcription.sessions import Draft, Heard, Settled


def ask(model: str = "gladia", **wishes: Any) -> Ask:
    row = find(model)
    assert row is not None
    usual: dict[str, Any] = {"lang": None, "vocabulary": (), "mask_profanity": False, "mixed": True}
    return asked(row, Access(key="k", label="x", region="us-west"), **{**usual, **wishes})


def test_the_request_says_what_was_asked_for() -> None:
    wanted = requests.submit(ask(lang="de-AT", vocabulary=["Sederunt"]), "u").json
    assert wanted["language_config"] == {"languages": ["de"], "code_switching": False}
    assert wanted["custom_vocabulary_config"] == {"vocabulary": ["Sederunt"]}
    assert "language_config" not in requests.submit(ask(), "u").json
    assert requests.submit(ask(lang="multi"), "u").json["language_config"]["code_switching"] is True


def test_a_session_is_begun_in_the_credentials_region_without_voices() -> None:
    begun = requests.begin(ask("gladia-realtime"))
    assert list(begun.query) == [("region", "us-west")]
    assert "diarization" not in begun.json
    assert begun.json["messages_config"]["receive_partial_transcripts"] is True


def utterance(text: str, start: float = 0.0, **more: Any) -> dict[str, Any]:
    words = [
        {"word": f" {word}", "start": start + n, "end": start + n + 0.5, "confidence": 0.9}
        for n, word in enumerate(text.split())
    ]
    return {"start": start, "end": start + len(words), "text": text, "language": "en", "words": words, **more}


def test_words_keep_no_space_and_voices_are_numbered_within_their_channel() -> None:
    told = [utterance("Well, yes.", speaker=3, channel=0), utterance("No", 5.0, speaker=3, channel=1)]
    result = parse({"result": {"transcription": {"utterances": told, "languages": ["en"]}}})
    assert [(each.speaker, each.transcript) for each in result.utterances] == [(0, "Well, yes."), (1, "No")]
    assert [word.word for word in result.utterances[0].words] == ["Well", "yes"]
    assert result.detected_lang == "en"


NONSENSE: list[Any] = [{"result": {"transcription": {"utterances": [None, {"words": 7}]}}}]


@pytest.mark.parametrize("body", NONSENSE)
def test_odd_items_hold_no_words(body: Any) -> None:
    assert parse(body).utterances == ()


def test_a_job_is_running_done_or_failed() -> None:
    assert state({"status": "queued"}) is Progress.RUNNING
    assert state({"status": "done"}) is Progress.DONE
    assert state({"status": "error", "error_code": 422}) == Explained(code="422")


def read(codec: GladiaCodec, kind: str, data: Any = None, **more: Any) -> list[Any]:
    return list(codec.read(json.dumps({"type": kind, "data": data, **more})))


def test_a_final_takes_the_place_of_its_drafts_whatever_its_id() -> None:
    codec = GladiaCodec(ask("gladia-realtime"))
    (draft,) = read(codec, "transcript", {"id": "a", "is_final": False, "utterance": utterance("Well")})
    assert isinstance(draft, Draft)
    gone, final, heard = read(codec, "transcript", {"id": "b", "is_final": True, "utterance": utterance("Well yes")})
    assert (gone.said.key, gone.said.transcript) == ("a", "")
    assert isinstance(final, Settled)
    assert (final.said.transcript, final.said.label) == ("Well yes", None)
    assert heard == Heard(2.0)


def test_what_was_acknowledged_is_not_sent_again() -> None:
    codec = GladiaCodec(ask("gladia-realtime"))
    assert read(codec, "audio_chunk", {"byte_range": [0, 3200]}, acknowledged=True) == [Acknowledged(3200)]
    assert read(codec, "audio_chunk", {"byte_range": None}, acknowledged=True) == []
    assert read(codec, "audio_chunk", None, acknowledged=False) == []
    assert read(codec, "end_session") == [Finished()]
    assert isinstance(read(codec, "error", {"message": "oops"})[0], StreamRefused)


def test_a_session_that_is_over_is_not_taken_up_again() -> None:
    assert {1000, 4403} <= ENDS
    assert 1011 not in ENDS


@pytest.mark.parametrize("code", [1002, 1003, 1007, 1008, 4001, 4002, 4003])
def test_a_code_that_means_a_refusal_elsewhere_leaves_a_session_to_go_on_with(code: int) -> None:
    assert VENDOR.live is not None
    assert VENDOR.live.closes is not None
    assert VENDOR.live.closes[code] is ProviderFault.TRANSIENT
    assert code not in VENDOR.live.ends


def test_a_final_without_an_id_or_words_costs_no_word() -> None:
    codec = GladiaCodec(ask("gladia-realtime"))
    data = {"is_final": True, "utterance": {"start": "1.5", "end": 2.0, "text": "Well then"}}
    (said, _) = codec.read(json.dumps({"type": "transcript", "data": data}))
    assert isinstance(said, Settled)
    assert (said.said.transcript, said.said.start) == ("Well then", 1.5)
