"""Storage keys of a recorder's files. The suffix says what a file holds.

Pieces of sound and pictures exist until they are assembled.
"""

from collections.abc import Mapping
from uuid import UUID

SOUND, PICTURES, SPANS = ".mka", ".mkv", ".json"
# Kind → its folder in storage.
FOLDERS: Mapping[str, str] = {SOUND: "pieces", PICTURES: "video", SPANS: "spans"}


def files_prefix(bot_id: UUID, kind: str) -> str:
    """Return the prefix of the keys of all files of a kind."""
    return f"bots/{bot_id}/{FOLDERS[kind]}/"
