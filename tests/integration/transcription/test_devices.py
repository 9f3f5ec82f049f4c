"""Where networks compute: by the code that a GPU would be reached through, on a machine that has none."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import pytest

from sederunt.cli.checks import Fault, check_device
from sederunt.errors import SetupError
from sederunt.model.transcript import Utterance
from sederunt.settings import Settings, WhisperSettings
from sederunt.transcription.whisper import devices
from sederunt.transcription.whisper.engine import Whisper
from sederunt.transcription.whisper.loading import load_whisper
from sederunt.transcription.whisper.sound import PcmSource

no_gpu = pytest.mark.skipif(ctranslate2.get_cuda_device_count() > 0, reason="this machine has a GPU")


@pytest.mark.usefixtures("tiny")
@no_gpu
def test_the_device_and_its_numbers_are_settings(
    models: Path, clips: dict[str, Any], tape: Callable[..., PcmSource]
) -> None:
    plain = load_whisper(WhisperSettings(), models, "tiny.en")
    whole = load_whisper(WhisperSettings(device="auto", compute_type="float32"), models, "tiny.en")
    assert whole.network is not plain.network
    source = tape(6, (1, clips["superlative"]))
    words = [" ".join(said.transcript for said in _read(each, source)).lower() for each in (plain, whole)]
    assert words[0] == words[1] != ""


def _read(whisper: Whisper, source: PcmSource) -> Sequence[Utterance]:
    return whisper.transcribe(source, lang="en").utterances


@no_gpu
async def test_what_is_not_there_is_told_with_what_to_do(models: Path) -> None:
    cuda, odd = WhisperSettings(device="cuda"), WhisperSettings(compute_type="float8")
    for settings, remedy in ((cuda, "SEDERUNT_WHISPER__DEVICE=cpu"), (odd, "SEDERUNT_WHISPER__COMPUTE_TYPE")):
        assert remedy in str(devices.obstacle(settings))
        with pytest.raises(SetupError, match=remedy):
            load_whisper(settings, models, "tiny.en")
        with pytest.raises(Fault) as found:
            await check_device(Settings(data=models, whisper=settings))
        assert remedy in found.value.remedy
    assert await check_device(Settings(data=models)) == "cpu, int8"
