"""What is known of a media file once it was looked into."""

from dataclasses import dataclass

from sederunt.errors import UnsupportedMedia


@dataclass(frozen=True, kw_only=True, slots=True)
class MediaFacts:
    container: str  # mp3, wav, mp4, m4a, mov, webm, matroska, flac, ogg
    duration_s: float
    has_audio: bool
    has_video: bool
    codec: str  # of the first sound track that is read
    channels: int  # of that with most
    tracks: int = 1  # with sound, also those that are left out
    joined: bool = False  # another recording may begin inside, where the clock does, too
    ends_early: bool = False  # something of it is missing at its end
    stated_s: float | None = None  # how long it says that it is, where that is known to be wrong


def refuse_overlong(facts: MediaFacts, most_hours: float) -> None:
    """Raise UnsupportedMedia for a recording that is longer than is taken."""
    if facts.duration_s > most_hours * 3600:
        hours = facts.duration_s / 3600
        raise UnsupportedMedia(f"The recording is {hours:.2f} hours long; at most {most_hours:g} are taken.")
