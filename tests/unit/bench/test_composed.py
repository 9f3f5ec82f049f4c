"""What composed meetings take for speech is told by the whole clip, and only there where somebody speaks."""

import json
import wave
from pathlib import Path

import numpy as np

from sederunt.bench.composed import NOBODY_SPEAKS, RATE, Samples, voices_of


def tone(seconds: float, level: float) -> Samples:
    return (level * np.sin(np.arange(round(seconds * RATE)))).astype(np.float32)


def clips(folder: Path, **sounds: Samples) -> Path:
    """Write one clip of each sound, its speaker's name being its own."""
    listed = [{"file": f"{name}.wav", "speaker": name, "text": "", "lang": "en"} for name in sounds]
    (folder / "transcripts.json").write_text(json.dumps(listed))
    for name, samples in sounds.items():
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes((samples * 32_767).astype("<i2").tobytes())
    return folder


def test_a_part_of_a_clip_in_which_nobody_speaks_is_no_saying(tmp_path: Path) -> None:
    talk, pause, click, hum = tone(3, 0.3), tone(0.6, 0.0001), tone(0.15, 0.3), tone(2, 0.002)
    samples = np.concatenate([talk, pause, talk, pause, click, hum])
    (sayings,) = voices_of(clips(tmp_path, one=samples), least=1, texts_only=False).values()
    assert [round(sum(end - start for start, end in each.spoken)) for each in sayings] == [3, 3]


def test_a_clip_whose_speaker_was_told_to_be_quiet_is_nobodys(tmp_path: Path) -> None:
    quiet = next(iter(NOBODY_SPEAKS)).removesuffix(".wav")
    found = voices_of(clips(tmp_path, one=tone(3, 0.3), **{quiet: tone(3, 0.3)}), least=1, texts_only=False)
    assert "one" in found
    assert quiet not in found
