"""Seal stored secrets with AES-256-GCM, bound to table, column and row, with a list of keys so that they can change.

A sealed value is: key id (8 bytes) · nonce (12 bytes) · ciphertext with its tag. A value's place is its associated
data, so a value copied into another row does not open there.
"""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sederunt.errors import SetupError
from sederunt.settings import Settings

KEY_FILE = "sealing.key"
SHORTEST_KEY = 32  # characters
_ID_BYTES, _NONCE_BYTES = 8, 12
_ENCODING, _ANY_TEXT = "utf-8", "surrogatepass"  # JSON can carry a lone surrogate; it must survive unchanged


class Sealer:
    """Seals with the first key, opens with any of them."""

    def __init__(self, keys: Sequence[str], *, origin: str = "SEDERUNT_SECRET_KEYS") -> None:
        """Take `keys` of at least 32 characters, newest first. Raises SetupError for none, or a shorter one."""
        if not keys or any(len(key) < SHORTEST_KEY for key in keys):
            raise SetupError(f"A sealing key needs at least {SHORTEST_KEY} characters ({origin}).")
        self._ciphers = dict(_cipher(key) for key in keys)
        self._newest = _cipher(keys[0])[0]

    def seal(self, text: str, table: str, column: str, row: object) -> bytes:
        """Seal the text to its place."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        cipher = self._ciphers[self._newest]
        return (
            self._newest + nonce + cipher.encrypt(nonce, text.encode(_ENCODING, _ANY_TEXT), _place(table, column, row))
        )

    def open(self, sealed: bytes, table: str, column: str, row: object) -> str:
        """Open a sealed text. Raises SetupError if it was sealed with a missing key, or for another place."""
        key_id, nonce, ciphertext = (
            sealed[:_ID_BYTES],
            sealed[_ID_BYTES : _ID_BYTES + _NONCE_BYTES],
            sealed[_ID_BYTES + _NONCE_BYTES :],
        )
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise SetupError(
                f"A secret in {table} was sealed with a key that is not here: add it to SEDERUNT_SECRET_KEYS, "
                f"or bring back {KEY_FILE} of the data directory it was made with. Where that is lost for good: "
                "sederunt accounts forget-sealed."
            )
        try:
            return cipher.decrypt(nonce, ciphertext, _place(table, column, row)).decode(_ENCODING, _ANY_TEXT)
        except InvalidTag:
            raise SetupError(f"A secret in {table} is damaged, or was moved there from elsewhere.") from None

    def opens(self, sealed: bytes, table: str, column: str, row: object) -> bool:
        """Return whether a sealed text opens."""
        try:
            self.open(sealed, table, column, row)
        except SetupError:
            return False
        return True

    def is_current(self, sealed: bytes) -> bool:
        """Return whether a value is sealed with the newest key."""
        return sealed.startswith(self._newest)

    def reseal(self, sealed: bytes, table: str, column: str, row: object) -> bytes:
        """Seal a secret again, with the newest key."""
        if self.is_current(sealed):
            return sealed
        return self.seal(self.open(sealed, table, column, row), table, column, row)


def has_key(settings: Settings) -> bool:
    """Return whether there is a key, so that `load_sealer` makes none."""
    return bool(settings.secret_keys) or (settings.data / KEY_FILE).exists()


def load_sealer(settings: Settings) -> Sealer:
    """Load the sealer with the keys of the settings, else with one made in the data directory at the first use.

    If a database is open, call `lost_key.open_sealer` instead, which never makes a key in place of a lost one.
    """
    if settings.secret_keys:
        return Sealer([key.get_secret_value() for key in settings.secret_keys])
    try:
        key = _key_of_directory(settings.data)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds no key"
        raise SetupError(f"{settings.data / KEY_FILE} cannot be read or made: {reason}.") from error
    return Sealer([key], origin=str(settings.data / KEY_FILE))


def _key_of_directory(data: Path) -> str:
    path = data / KEY_FILE
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="ascii").strip()
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Written under another name, then linked: of several processes that start at once one wins, and none ever reads
    # half a key. mkstemp makes the file 0600.
    descriptor, draft = tempfile.mkstemp(dir=data, prefix=f".{KEY_FILE}-")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()
    return path.read_text(encoding="ascii").strip()


def _cipher(key: str) -> tuple[bytes, AESGCM]:
    """Return (id, cipher) of a key text."""
    kdf = HKDF(algorithm=hashes.SHA256(), length=32 + _ID_BYTES, salt=None, info=b"sederunt sealing")
    key_material = kdf.derive(key.encode())
    return key_material[32:], AESGCM(key_material[:32])


def _place(table: str, column: str, row: object) -> bytes:
    return f"{table}/{column}/{row}".encode()
