"""The vendors besides Deepgram against their simulators: what is heard, how it fails, what is billed."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.vendors.catalogue import VENDORS
from harness.vendors.vendor import Vendor as Simulator
from sederunt.bench.words import word_error_rate
from sederunt.errors import ProviderError, ProviderFault
from sederunt.practice.clips import SHIPPED, catalogue
from sederunt.settings import Settings
from sederunt.transcription import assemblyai, elevenlabs, gladia, revai, salad, soniox, speechmatics
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.client import Manners
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.models import find
from sederunt.transcription.provider import Result, Task

JFK = SHIPPED / "jfk.wav"
HASTY = Manners(
    tries=3, first_pause_s=0.01, reply_s=5.0, longest_retry_after_s=1.0, first_poll_s=0.05, missing_for_s=0.3
)
PLUGS = {
    "assemblyai": assemblyai.PROVIDER,
    "elevenlabs": elevenlabs.PROVIDER,
    "gladia": gladia.PROVIDER,
    "revai": revai.PROVIDER,
    "salad": salad.PROVIDER,
    "soniox": soniox.PROVIDER,
    "speechmatics": speechmatics.PROVIDER,
}
MODELS = {name: name for name in PLUGS} | {
    "assemblyai": "assembly-ai",
    "elevenlabs": "elevenlabs-v2",
    "revai": "rev-ai",
}
DELETED_AT_ONCE = frozenset({"soniox"})
_F = ProviderFault


@dataclass
class Desk:
    """One vendor, simulated, and our way to it."""

    name: str
    simulator: Simulator
    max_audio_minutes: float | None = None

    @property
    def settings(self) -> Settings:
        given = {"url": self.simulator.url, "max_audio_minutes": self.max_audio_minutes}
        return Settings(providers={self.name: given})

    def access(self, key: str | None = None) -> Access:
        organisation = getattr(self.simulator, "organisation", None)
        return Access(key=key or self.simulator.key, label="the credential 0193", organisation=organisation)

    def transcribe(self, model: str | None = None, key: str | None = None, **task: Any) -> Result:
        row = find(model or MODELS[self.name])
        assert row is not None
        task = {"path": JFK, "lang": "en", "reference": "recording-7", "several_voices": True, **task}
        provider = CloudProvider(PLUGS[self.name].vendor, HASTY)
        return provider.transcribe(self.settings, Task(model=row, access=self.access(key), **task))


@pytest.fixture(params=PLUGS)
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with VENDORS[request.param]() as simulator:
        yield Desk(request.param, simulator)


def heard(result: Result) -> str:
    return " ".join(utterance.transcript for utterance in result.utterances).lower()


def test_a_file_is_transcribed_billed_once_and_its_words_have_times_and_voices(desk: Desk) -> None:
    result = desk.transcribe(vocabulary=("Sederunt",))
    assert "your country" in heard(result)
    words = [word for utterance in result.utterances for word in utterance.words]
    assert len(words) > 15
    assert all(0 <= word.start <= word.end <= 11.1 and word.speaker == 0 for word in words)
    assert result.diarized
    assert desk.simulator.ledger.seconds_billed == pytest.approx(11, abs=0.1)
    assert desk.simulator.ledger.refusals == []


def test_of_a_file_with_several_tracks_a_vendor_gets_what_we_read(desk: Desk, tmp_path: Path) -> None:
    """The simulators read the first track, which is silent here."""
    path = tmp_path / "both.m4a"
    silence = ("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono:d=11")
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", *silence, "-i", str(JFK), "-map", "0", "-map", "1", str(path)],
        check=True,
        timeout=60,
    )
    assert "your country" in heard(desk.transcribe(path=path))
    assert desk.simulator.ledger.seconds_billed == pytest.approx(11, abs=0.1)


@pytest.mark.parametrize("several_voices", [False, True])
def test_what_is_longer_than_the_vendor_takes_is_cut_and_put_together(desk: Desk, several_voices: bool) -> None:
    desk.simulator.limits.audio_s = 6.0
    desk.max_audio_minutes = 0.1
    result = desk.transcribe(several_voices=several_voices)
    assert word_error_rate(catalogue()["jfk"].text, heard(result)) <= 0.3, heard(result)
    starts = [word.start for utterance in result.utterances for word in utterance.words]
    assert starts == sorted(starts)
    assert starts[-1] > 8
    bills = desk.simulator.ledger.billed
    assert len(bills) >= 2
    assert all(bill.seconds <= 6 for bill in bills)
    assert {word.speaker for utterance in result.utterances for word in utterance.words} == {0}
    assert desk.simulator.ledger.refusals == []


# Fault → (class of the error, or None where another try succeeds). `on` is where it strikes.
FAULTS: dict[str, tuple[dict[str, Any], ProviderFault | None]] = {
    "400": ({"kind": "status", "status": 400, "times": None}, _F.INVALID_REQUEST),
    "401": ({"kind": "status", "status": 401, "times": None}, _F.AUTH),
    "402": ({"kind": "status", "status": 402, "times": None}, _F.PAYMENT),
    "413": ({"kind": "status", "status": 413, "times": None}, _F.MEDIA),
    "429 once": ({"kind": "status", "status": 429, "retry_after": "0"}, None),
    "429 for long": ({"kind": "status", "status": 429, "retry_after": "900"}, _F.RATE_LIMITED),
    "503 twice": ({"kind": "status", "status": 503, "times": 2}, None),
    "html": ({"kind": "html"}, None),
    "drop": ({"kind": "drop"}, None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_ends_as_documented_and_nothing_is_billed_twice(desk: Desk, name: str) -> None:
    fault, kind = FAULTS[name]
    desk.simulator.fault(**fault, on="submit")
    if kind is None:
        assert "your country" in heard(desk.transcribe())
    else:
        with pytest.raises(ProviderError) as caught:
            desk.transcribe()
        assert caught.value.kind is kind
        assert desk.simulator.key not in str(caught.value)
    assert len(desk.simulator.ledger.billed) == (1 if kind is None else 0)


def test_a_model_that_a_vendor_has_removed_is_told_from_other_refusals() -> None:
    with VENDORS["elevenlabs"]() as simulator, pytest.raises(ProviderError) as caught:
        Desk("elevenlabs", simulator).transcribe("vendor6")
    assert caught.value.kind is ProviderFault.UNKNOWN_MODEL


def test_a_submit_whose_answer_was_lost_is_looked_up_where_that_can_be_done(desk: Desk) -> None:
    desk.simulator.fault("lost", on="submit")
    assert "your country" in heard(desk.transcribe())
    # ElevenLabs answers a submit with the transcript and lists nothing.
    assert len(desk.simulator.ledger.billed) == (2 if desk.name == "elevenlabs" else 1)


def test_a_job_that_fails_says_so(desk: Desk) -> None:
    desk.simulator.fault("job_failed", message="no decoder for this")
    if desk.name == "elevenlabs":  # it answers 500 once; the next try is heard
        assert "your country" in heard(desk.transcribe())
        return
    why = (
        "failed to transcribe \\(500\\)" if desk.name == "gladia" else "no decoder for this"
    )  # it tells a number alone
    with pytest.raises(ProviderError, match=why):
        desk.transcribe()


def test_silence_is_an_empty_transcript(desk: Desk) -> None:
    desk.simulator.fault("empty")
    assert desk.transcribe().utterances == ()


FIELDS = (
    "words",
    "logprob",
    "start",
    "text",
    "speaker_id",
    "monologues",
    "elements",
    "word_segments",
    "score",
    "value",
    "tokens",
    "start_ms",
    "utterances",
    "results",
    "alternatives",
    "word",
)


@pytest.mark.parametrize("value", [None, "a text", 7, []])
def test_a_field_of_another_type_is_no_fault(desk: Desk, value: Any) -> None:
    for field in FIELDS:
        desk.simulator.fault("field", field=field, value=value)
        assert isinstance(desk.transcribe(), Result), field


def test_a_wrong_key_is_told_by_its_name(desk: Desk) -> None:
    with pytest.raises(ProviderError, match="did not accept the credential 0193") as caught:
        desk.transcribe(key="wrong-key")
    assert not caught.value.retryable
    account = CloudProvider(PLUGS[desk.name].vendor, HASTY).account
    account.check(desk.settings, desk.access())
    with pytest.raises(ProviderError, match="did not accept"):
        account.check(desk.settings, desk.access("wrong-key"))


def test_what_the_vendor_keeps_can_be_deleted(desk: Desk) -> None:
    result = desk.transcribe()
    assert bool(result.copies) == (desk.name not in DELETED_AT_ONCE)
    account = CloudProvider(PLUGS[desk.name].vendor, HASTY).account
    for copy in result.copies:
        account.erase(desk.settings, desk.access(), copy)
        account.erase(desk.settings, desk.access(), copy)  # gone is gone
    assert desk.simulator.ledger.deleted


def test_rev_finds_the_language_by_a_job_of_its_own() -> None:
    with VENDORS["revai"]() as simulator:
        desk = Desk("revai", simulator)
        assert desk.transcribe(lang=None).detected_lang == "en"
        assert len(simulator.ledger.of("submit_language")) == 1
        desk.transcribe(lang="en", reference="another")
        assert len(simulator.ledger.of("submit_language")) == 1


def test_salad_answers_with_a_file_where_the_answer_is_large() -> None:
    with VENDORS["salad"]() as simulator:
        simulator.limits.extra["largest_answer"] = 10
        assert "your country" in heard(Desk("salad", simulator).transcribe())
