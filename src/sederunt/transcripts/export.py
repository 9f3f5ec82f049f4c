"""A transcript as a file: plain text, SRT, WebVTT, Markdown. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from sederunt.model.transcript import Segment, Transcript, Word
from sederunt.transcription.text import words_as_written

UNKNOWN = "Unknown speaker"
# Limits of a caption: what fits under a picture and can be read in time.
_CUE_CHARACTERS, _CUE_S, _PAUSE_S = 84, 7.0, 1.0
# Where to cut a longer one, best place first, if at least _LEAST_CHARACTERS stay before it.
_ENDS = ((".", "?", "!", "…", "。", "？", "！"), (",", ";", ":", "，", "、", "；", "："))
_LEAST_CHARACTERS = 28


@dataclass(frozen=True, slots=True)
class Cue:
    """A caption and its time in seconds."""

    start: float
    end: float
    speaker: str
    text: str


def as_text(transcript: Transcript, title: str) -> str:
    """Write who said what, one paragraph per segment."""
    return "".join(
        f"[{clock(segment.start)}] {speaker_of(segment)}: {_line(segment.transcript)}\n\n"
        for segment in transcript.segments
    )


def as_markdown(transcript: Transcript, title: str) -> str:
    """Write minutes: a heading, who spoke, what was said."""
    names = list(dict.fromkeys(map(speaker_of, transcript.segments)))
    lines = [f"# {_escaped(title)}\n\n"]
    if names:
        lines.append(f"**Speakers:** {', '.join(map(_escaped, names))}\n\n")
    previous_speaker = None
    for segment in transcript.segments:
        speaker = speaker_of(segment)
        if speaker != previous_speaker:
            lines.append(f"**{_escaped(speaker)}** · {clock(segment.start)}\n\n")
        previous_speaker = speaker
        lines.append(f"{_escaped(_line(segment.transcript))}\n\n")
    return "".join(lines)


def as_srt(transcript: Transcript, title: str) -> str:
    """Write SubRip captions."""
    return "".join(
        f"{number}\n{_stamp(cue.start, ',')} --> {_stamp(cue.end, ',')}\n{cue.speaker}: {cue.text}\n\n"
        for number, cue in enumerate(cues(transcript), 1)
    )


def as_vtt(transcript: Transcript, title: str) -> str:
    """Write WebVTT captions, the speakers as voices."""
    body = "".join(
        f"\n{_stamp(cue.start, '.')} --> {_stamp(cue.end, '.')}\n<v {_plain(cue.speaker)}>{_plain(cue.text)}\n"
        for cue in cues(transcript)
    )
    return f"WEBVTT\n{body}"


FORMATS: Mapping[str, tuple[str, Callable[[Transcript, str], str]]] = {
    "txt": ("text/plain; charset=utf-8", as_text),
    "srt": ("application/x-subrip; charset=utf-8", as_srt),
    "vtt": ("text/vtt; charset=utf-8", as_vtt),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}


def cues(transcript: Transcript) -> Iterator[Cue]:
    """Return the captions: whole segments if they are short, else cut after a sentence, a clause or a word."""
    for segment in transcript.segments:
        words = words_as_written(segment.utterances)
        speaker = speaker_of(segment)
        if words:
            yield from (Cue(part[0].start, part[-1].end, speaker, _written(part)) for part in _cut(words))
        elif segment.transcript.strip():
            yield Cue(segment.start, segment.end, speaker, _line(segment.transcript))


def speaker_of(segment: Segment) -> str:
    """Return the name to print: the certain one, else the likeliest."""
    guesses = segment.potential_speaker_names or ()
    likeliest = max(guesses, key=lambda guess: guess.confidence, default=None)
    name = segment.speaker_name or (f"{likeliest.name} (?)" if likeliest else f"{UNKNOWN} {segment.speaker + 1}")
    return _line(name)


def clock(seconds: float) -> str:
    """Return seconds as h:mm:ss."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _cut(words: Sequence[Word]) -> Iterator[list[Word]]:
    part: list[Word] = []
    for word in words:
        if part and word.start - part[-1].end > _PAUSE_S:
            yield part
            part = []
        while part and (_width(_written([*part, word])) > _CUE_CHARACTERS or word.end - part[0].start > _CUE_S):
            count = _kept(part)
            yield part[:count]
            part = part[count:]
        part.append(word)
    if part:
        yield part


def _kept(part: Sequence[Word]) -> int:
    """Return how many words to keep together when the next one does not fit."""
    for ends in _ENDS:
        for number in range(len(part), 0, -1):
            if _width(_written(part[:number])) < _LEAST_CHARACTERS:
                break
            if part[number - 1].word.strip().rstrip("\"'”’)").endswith(ends):
                return number
    return len(part)


def _written(words: Sequence[Word]) -> str:
    return _line("".join(word.word for word in words))


def _width(text: str) -> int:
    """Return a text's width in characters; wide East Asian ones count twice."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(letter) in "WF") for letter in text)


def _line(text: str) -> str:
    """Return the text as one line: an empty line would end a caption."""
    return " ".join(text.split())


def _stamp(seconds: float, mark: str) -> str:
    ms = max(round(seconds * 1000), 0)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{mark}{ms % 1000:03}"


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)
