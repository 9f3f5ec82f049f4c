"""Recognise a media file by its first bytes, and open it as that kind only.

A media library that may guess the format also guesses playlists and lists of files, and reads the files they name. So
the demuxer is chosen here, from a table; names and extensions never count.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sederunt.errors import BrokenMedia, MediaError, UnsupportedMedia
from sederunt.media import mp4, wav
from sederunt.media.tracks import SoundTrack, heard

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.codec.context import CodecContext
    from av.container import InputContainer

HEAD_BYTES = 256 * 1024  # an ID3 tag with a picture may be longer; its stated size is trusted then
LEAST_HERTZ = 1_000
FORMATS = "MP3, WAV, MP4, WEBM, M4A, FLAC or OGG"


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerKind:
    name: str
    demuxer: str
    exact_seek: bool  # whether seeking arrives at the position that the timestamp says


def kind_of(path: Path) -> ContainerKind:
    """Return the kind of a file. Raises UnsupportedMedia for any other kind, BrokenMedia for an empty file."""
    with path.open("rb") as file:
        return kind_of_head(file.read(HEAD_BYTES))


def kind_of_head(head: bytes) -> ContainerKind:
    """Return the kind of a file by its first HEAD_BYTES, or all of it."""
    if not head:
        raise BrokenMedia("The file is empty.")
    for name, fits in _TESTS:
        if fits(head):
            return _KINDS[name]
    raise UnsupportedMedia(f"Expected {FORMATS}; the content of the file is {_likely(head)}.")


# Kind → (media type, extension) for downloads.
_MEDIA_TYPES = {
    "mp3": ("audio/mpeg", ".mp3"),
    "wav": ("audio/wav", ".wav"),
    "mp4": ("video/mp4", ".mp4"),
    "m4a": ("audio/mp4", ".m4a"),
    "mov": ("video/quicktime", ".mov"),
    "webm": ("video/webm", ".webm"),
    "matroska": ("video/x-matroska", ".mkv"),
    "flac": ("audio/flac", ".flac"),
    "ogg": ("audio/ogg", ".ogg"),
}


def media_type_of(head: bytes) -> tuple[str, str]:
    """Return (media type, extension with its dot) by a file's first bytes; plain bytes for an unknown kind."""
    try:
        return _MEDIA_TYPES[kind_of_head(head).name]
    except (UnsupportedMedia, BrokenMedia):
        return "application/octet-stream", ""


def open_media(path: Path, kind: ContainerKind | None = None) -> "InputContainer":
    """Open a file as its own kind. Raises UnsupportedMedia or BrokenMedia, with a sentence, if that is not possible."""
    import av  # the API only asks for a file's kind

    kind = kind or kind_of(path)
    options = dict(_OPTIONS)
    if kind.name == "wav" and wav.understates(path):
        options["ignore_length"] = "1"
    open_as = partial(av.open, mode="r", format=kind.demuxer, metadata_errors="replace")
    try:
        try:
            container = open_as(f"file:{path.absolute()}", options=options)
        except av.FFmpegError:
            readable_bytes = mp4.end_of_whole_boxes(path) if kind.demuxer == "mov" else 0
            if not 0 < readable_bytes < path.stat().st_size:
                raise
            # FFmpeg refuses a file whose last fragment's header is cut: it gets the part before that.
            options["protocol_whitelist"] = "file,subfile"
            container = open_as(f"subfile,,start,0,end,{readable_bytes},,:file:{path.absolute()}", options=options)
    except av.FFmpegError as error:
        raise BrokenMedia(f"The file looks like {kind.name.upper()} but cannot be opened: {error.strerror}.") from error
    if container.streams.audio and not heard_in(container):
        fault = _unreadable(container.streams.audio[0])
        container.close()
        assert fault is not None, "the first track that can be read is heard"
        raise fault
    return container


def heard_in(container: "InputContainer") -> "tuple[AudioStream, ...]":
    """Return the sound tracks to read, in file order."""
    streams = container.streams.audio
    return tuple(streams[number] for number in heard([_track(stream) for stream in streams]))


def _track(stream: "AudioStream") -> SoundTrack:
    return SoundTrack(
        readable=_unreadable(stream) is None,
        dispositions=frozenset(str(flag.name) for flag in stream.disposition),
        language=stream.language or "",
    )


def _unreadable(stream: "AudioStream") -> MediaError | None:
    """Return why a sound track is not read. At an inaudibly low rate a few kilobytes would last for a day."""
    context: CodecContext | None = stream.codec_context  # None if the library has no decoder for it
    if context is None or context.name not in CODECS:
        codec = context.name if context else "in a codec without a name"
        return UnsupportedMedia(f"The sound of the file is {codec}, which is not read here.")
    hertz = stream.codec_context.sample_rate  # 0: not known yet
    if 0 < hertz < LEAST_HERTZ:
        return BrokenMedia(f"The file has {hertz} samples a second; speech takes at least {LEAST_HERTZ:,}.")
    return None


def _is_mp4(head: bytes) -> bool:
    return head[4:8] == b"ftyp" and head[8:12] not in (b"M4A ", b"M4B ", b"qt  ")


def _is_quicktime(head: bytes) -> bool:
    return head[4:12] == b"ftypqt  " or head[4:8] in (b"moov", b"mdat", b"wide")


def _is_wav(head: bytes) -> bool:
    return head[:4] in (b"RIFF", *wav.LONG) and head[8:12] == b"WAVE"


def _is_webm(head: bytes) -> bool:
    return head[:4] == b"\x1a\x45\xdf\xa3" and b"webm" in head[:80]


def _is_flac(head: bytes) -> bool:
    return head[_after_id3(head) :][:4] == b"fLaC"


def _is_mp3(head: bytes) -> bool:
    """Return whether there are three frames in a row: the sync bits alone occur in any file."""
    start = _after_id3(head)
    if start >= len(head):
        return True  # a tag longer than `head`; left to the demuxer
    positions = range(start, min(start + 8_192, len(head) - 4))
    return any(head[position] == 0xFF and _three_frames(head, position) for position in positions)


def _after_id3(head: bytes) -> int:
    """Return where the content begins after an ID3v2 tag, whose size has seven bits per byte."""
    if head[:3] != b"ID3" or len(head) < 10:
        return 0
    size = head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9]
    return 10 + size


def _three_frames(head: bytes, position: int) -> bool:
    for _ in range(3):
        length = _mp3_frame_bytes(head[position : position + 4])
        if not length:
            return False
        position += length
        if position + 4 > len(head):
            return len(head) < HEAD_BYTES  # a file shorter than three frames
    return True


def _mp3_frame_bytes(header: bytes) -> int:
    """Return the length of an MPEG layer III frame; 0 if the four bytes are no such header."""
    if len(header) < 4:
        return 0
    word = int.from_bytes(header, "big")
    version, layer, rate_index, frequency = word >> 19 & 3, word >> 17 & 3, word >> 12 & 15, word >> 10 & 3
    if word >> 21 != 0x7FF or version == 1 or layer != 1 or rate_index in (0, 15) or frequency == 3:
        return 0
    is_mpeg1 = version == 3
    kilobits = (_MPEG1_KILOBITS if is_mpeg1 else _MPEG2_KILOBITS)[rate_index]
    hertz = (44_100, 48_000, 32_000)[frequency] >> (2, 0, 1, 0)[version]
    return (144 if is_mpeg1 else 72) * kilobits * 1_000 // hertz + (word >> 9 & 1)


_MPEG1_KILOBITS = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MPEG2_KILOBITS = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)

_KINDS = {
    kind.name: kind
    for kind in (
        ContainerKind(name="wav", demuxer="wav", exact_seek=True),
        ContainerKind(name="flac", demuxer="flac", exact_seek=True),
        ContainerKind(name="ogg", demuxer="ogg", exact_seek=True),
        ContainerKind(name="webm", demuxer="matroska", exact_seek=True),
        ContainerKind(name="matroska", demuxer="matroska", exact_seek=True),
        ContainerKind(name="m4a", demuxer="mov", exact_seek=True),
        ContainerKind(name="mp4", demuxer="mov", exact_seek=True),
        ContainerKind(name="mov", demuxer="mov", exact_seek=True),
        ContainerKind(name="mp3", demuxer="mp3", exact_seek=False),
    )
}

_TESTS: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("wav", _is_wav),
    ("flac", _is_flac),
    ("ogg", lambda head: head[:4] == b"OggS"),
    ("webm", _is_webm),
    ("matroska", lambda head: head[:4] == b"\x1a\x45\xdf\xa3"),
    ("m4a", lambda head: head[4:12] in (b"ftypM4A ", b"ftypM4B ")),
    ("mp4", _is_mp4),
    ("mov", _is_quicktime),
    ("mp3", _is_mp3),  # last: the weakest sign
)

# Of the library's hundreds: those that people's recorders write and the sites send.
CODECS = (
    *("opus", "libopus", "vorbis", "libvorbis", "aac", "aac_fixed", "mp3", "mp3float", "flac", "alac", "ac3", "eac3"),
    *("pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_u8", "pcm_s8"),
    *("pcm_f32le", "pcm_f32be", "pcm_f64le", "pcm_mulaw", "pcm_alaw", "adpcm_ima_wav", "adpcm_ms", "gsm", "gsm_ms"),
    *("amrnb", "amrwb", "speex", "libspeex"),
    *("h264", "hevc", "vp8", "vp9", "libvpx", "libvpx-vp9", "av1", "libdav1d", "mpeg4", "mjpeg", "png", "theora"),
)
# The path is local by construction; these lists of the library enforce it once more.
_OPTIONS = {"codec_whitelist": ",".join(CODECS), "protocol_whitelist": "file", "max_streams": "32"}

_OTHERS = (
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"#EXTM3U", "a playlist"),
    (b"FORM", "AIFF"),
    (b"RIFF", "AVI or another RIFF file"),
    (b"\xff\xf1", "bare AAC"),
    (b"\xff\xf9", "bare AAC"),
    (b"#!AMR", "AMR"),
    (b"\x30\x26\xb2\x75", "WMA or WMV"),
    (b"\x47", "an MPEG transport stream"),
)


def _likely(head: bytes) -> str:
    for beginning, name in _OTHERS:
        if head.startswith(beginning):
            return name
    text = head[:512]
    is_text = all(byte in (9, 10, 13) or 32 <= byte < 127 for byte in text)
    return "text" if is_text else "something else"
