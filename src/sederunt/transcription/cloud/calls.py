"""Requests to vendors, and their replies, as plain data: so the builders of requests are pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Sound:
    """Where a request carries the sound file: in a multipart field, or as the whole body."""

    part: str | None = None  # the multipart field; None for the whole body


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorCall:
    """One request. The client adds authentication, deadlines and the vendor's address."""

    method: str
    path: str  # from the vendor's root, such as "/v1/listen"; or a whole URL from the vendor
    root: str | None = None  # another root of the vendor, used if the settings name no address
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: _NONE)
    json: Any = None
    form: Sequence[tuple[str, str]] = ()  # the other fields of a multipart body
    sound: Sound | None = None
    # Refusals (status, and the vendor's code or None for any) that still answer the question.
    answering_refusals: frozenset[tuple[int, str | None]] = frozenset()
    answers_late: bool = False  # the reply comes after the vendor has processed all sound: wait for so long

    @property
    def is_whole(self) -> bool:
        """Return whether the path is a whole address."""
        return not self.path.startswith("/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """The answer of a vendor."""

    status: int
    headers: Mapping[str, str]
    body: Any  # the values of JSON, or the text of anything else
    is_json: bool = True

    @property
    def is_good(self) -> bool:
        """Return whether the status is one of the 2xx."""
        return 200 <= self.status < 300


def continued(call: VendorCall, address: Any) -> VendorCall | None:
    """Return the request for the page of a listing whose URL the vendor gave; None if it gave none."""
    query = parse_qsl(urlsplit(address).query) if isinstance(address, str) else []
    return replace(call, query=query) if query else None


def behind(call: VendorCall, name: str, value: str) -> VendorCall | None:
    """Return the request for what follows an entry of a listing, given as a parameter; None for an empty value."""
    return replace(call, query=[*call.query, (name, value)]) if value else None


def joined(root: str, path: str, *, may_overlap: bool = False) -> str:
    """Return the whole URL of a path below a root; a whole URL stays unchanged.

    Args:
        may_overlap: the root may end with the beginning of the path, since an older plug-in does not state how its
            paths begin: "https://host/v1" + "/v1/files" has one "/v1".
    """
    if urlsplit(path).scheme:
        return path
    root = root.rstrip("/")
    segments = path.partition("?")[0].split("/")[1:]
    beginnings = ("/" + "/".join(segments[:length]) for length in range(len(segments), 0, -1) if may_overlap)
    common = next((beginning for beginning in beginnings if urlsplit(root).path.endswith(beginning)), "")
    return root + path.removeprefix(common)
