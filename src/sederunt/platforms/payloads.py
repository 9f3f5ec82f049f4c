"""Unwraps sites' messages: compression, base64, and text that stands for bytes. Never raises."""

import base64
import binascii
import zlib

LARGEST = 8_000_000  # bytes after decompression; a roster of thousands is far below


def as_bytes(value: object) -> bytes:
    """Return a payload as bytes; empty if it is neither bytes nor text."""
    if isinstance(value, bytes):
        return value
    return value.encode("utf-8", "replace") if isinstance(value, str) else b""


def inflated(payload: bytes) -> bytes:
    """Return the decompressed payload (gzip, zlib, or plain), at most LARGEST bytes; empty if it is damaged."""
    try:
        if payload[:2] == b"\x1f\x8b":
            return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(payload, LARGEST)
        if payload[:1] == b"\x78":
            return zlib.decompressobj().decompress(payload, LARGEST)
    except zlib.error:
        return b""
    return payload


def from_base64(body: bytes) -> bytes:
    """Return the bytes of a base64 text, either alphabet, padding optional; the body itself if it is not base64."""
    text = body.strip().replace(b"-", b"+").replace(b"_", b"/")
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return body
