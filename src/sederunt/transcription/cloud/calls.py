"""One request to a vendor as plain data, so that the builders of requests are pure, and what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Sound:
    """Where a request carries the file of sound. One without a part's name is the whole body."""

    part: str | None = None  # the multipart field


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorCall:
    """One request. Authentication, deadlines and the vendor's address are added by the client."""

    method: str
    path: str  # from the vendor's root, "/v1/listen"; or a whole address that the vendor gave out
    root: str | None = None  # another root of the vendor's own, used where the settings name no address
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: _NONE)
    json: Any = None
    form: Sequence[tuple[str, str]] = ()  # the other fields of a multipart body
    sound: Sound | None = None
    # Refusals (status, the vendor's code or None for any) that answer the question all the same.
    answering_refusals: frozenset[tuple[int, str | None]] = frozenset()
    answers_late: bool = False  # the reply comes when the vendor has heard everything: wait as long as that takes

    @property
    def is_whole(self) -> bool:
        """Return whether the path is a whole address."""
        return not self.path.startswith("/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a vendor answered."""

    status: int
    headers: Mapping[str, str]
    body: Any  # of JSON its values; of anything else the text
    is_json: bool = True

    @property
    def is_good(self) -> bool:
        """Return whether the status is one of the 2xx."""
        return 200 <= self.status < 300


def continued(call: VendorCall, address: Any) -> VendorCall | None:
    """Return the request for the page of a listing that the vendor names by its address; None where it names none."""
    query = parse_qsl(urlsplit(address).query) if isinstance(address, str) else []
    return replace(call, query=query) if query else None


def behind(call: VendorCall, name: str, value: str) -> VendorCall | None:
    """Return a listing's request from behind one of its entries, which a parameter names; None where it has no name."""
    return replace(call, query=[*call.query, (name, value)]) if value else None


def joined(root: str, path: str, *, may_overlap: bool = False) -> str:
    """Return the whole address of a path behind a root; one that is whole already stays as it is.

    Args:
        may_overlap: the root may end as the path begins, for nobody has said how the vendor's paths begin (a plug-in
            of before): "https://host/v1" + "/v1/files" is one "/v1".
    """
    if urlsplit(path).scheme:
        return path
    root = root.rstrip("/")
    wanted = path.partition("?")[0].split("/")[1:]
    beginnings = ("/" + "/".join(wanted[:length]) for length in range(len(wanted), 0, -1) if may_overlap)
    common = next((each for each in beginnings if urlsplit(root).path.endswith(each)), "")
    return root + path.removeprefix(common)
