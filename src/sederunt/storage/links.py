"""Signed addresses: each opens one file without a key until it expires, and nothing else.

The signature covers resource, id, name and expiry, so any process that holds the secret can make and check addresses,
and nothing has to be stored. The file may be gone earlier: deletion takes effect at once.
"""

import base64
import hashlib
import hmac
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

_PURPOSE = b"sederunt file link 1"  # keeps other signatures by the same secret from fitting
_OTHER_PURPOSE = b"sederunt other 1"


class Links:
    """Signs and checks addresses.

    Args:
        secret: at least 16 bytes, the same in every process.
        base_url: how callers reach the API, without the version's path.
    """

    def __init__(self, secret: bytes, base_url: str) -> None:
        if len(secret) < 16:
            raise ValueError(f"Expected a secret of at least 16 bytes, found {len(secret)}.")
        self._key = hmac.digest(secret, _PURPOSE, hashlib.sha256)
        self._other_key = hmac.digest(secret, _OTHER_PURPOSE, hashlib.sha256)
        self._base_url = base_url.rstrip("/")

    def sign(self, resource: str, id: UUID, name: str, until: datetime) -> str:  # noqa: A002 (the contract's name)
        """Return the address of a file: <base>/files/<resource>/<id>/<name>?until=<Unix seconds>&signature=…"""
        expiry = int(until.timestamp())
        path = f"/files/{quote(resource, safe='')}/{id}/{quote(name, safe='')}"
        return f"{self._base_url}{path}?until={expiry}&signature={self._signature(resource, id, name, str(expiry))}"

    def check(self, resource: str, id: UUID, name: str, *, until: str, signature: str, now: datetime) -> bool:  # noqa: A002
        """Return whether the address, in its received and decoded parts, was signed here and has not expired.

        The signature is compared in constant time; any text may be passed in.
        """
        expected_signature = self._signature(resource, id, name, until)
        is_genuine = hmac.compare_digest(expected_signature.encode(), signature.encode("utf-8", "replace"))
        return is_genuine and now.timestamp() < int(until)

    def derive(self, text: str) -> bytes:
        """Return a key for the purpose that the text names, derived from the secret."""
        return hmac.digest(self._other_key, text.encode("utf-8", "replace"), hashlib.sha256)

    def _signature(self, resource: str, id: UUID, name: str, until: str) -> str:  # noqa: A002
        message = b"".join(
            len(part).to_bytes(4, "big") + part
            for part in (text.encode("utf-8", "replace") for text in (resource, str(id), name, until))
        )
        return base64.urlsafe_b64encode(hmac.digest(self._key, message, hashlib.sha256)).rstrip(b"=").decode()
