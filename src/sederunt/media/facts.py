"""The facts that probing a media file finds."""

from dataclasses import dataclass

from sederunt.errors import UnsupportedMedia


@dataclass(frozen=True, kw_only=True, slots=True)
class MediaFacts:
    container: str  # mp3, wav, mp4, m4a, mov, webm, matroska, flac, ogg
    duration_s: float
    has_audio: bool
    has_video: bool
    codec: str  # of the first sound track that is read
    channels: int  # of the track with most
    tracks: int = 1  # with sound, including those left out
    joined: bool = False  # another recording may begin inside, with its own clock
    ends_early: bool = False  # its end is missing
    stated_s: float | None = None  # its stated length, if known to be wrong


def refuse_overlong(facts: MediaFacts, most_hours: float) -> None:
    """Raise UnsupportedMedia for a recording longer than allowed."""
    if facts.duration_s > most_hours * 3600:
        hours = facts.duration_s / 3600
        raise UnsupportedMedia(f"The recording is {hours:.2f} hours long; at most {most_hours:g} are taken.")
