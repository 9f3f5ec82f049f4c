"""Where a bot's pieces lie in storage until they are assembled. A piece's suffix says what it holds."""

from collections.abc import Mapping
from uuid import UUID

SOUND, PICTURES = ".mka", ".mkv"
# Kind of piece → its folder in storage.
FOLDERS: Mapping[str, str] = {SOUND: "pieces", PICTURES: "video"}


def pieces_prefix(bot_id: UUID, kind: str) -> str:
    """Return the prefix of the keys of all pieces of a kind."""
    return f"bots/{bot_id}/{FOLDERS[kind]}/"
