"""One authenticated request, as seen by handlers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, TypeVar
from uuid import UUID

from starlette.requests import Request

from sederunt.accounts.keys import Caller, Scope
from sederunt.api.context import ApiContext
from sederunt.api.schemas.faults import valid
from sederunt.api.schemas.requests import Body
from sederunt.api.schemas.values import LONGEST_URL
from sederunt.api.schemas.views import Addresses
from sederunt.api.transport.bodies import json_body
from sederunt.database.paging import ListPageRequest, SegmentsPage
from sederunt.errors import InvalidConfig, NotFound

MOST_LISTED = 200  # items on one page of a list
SEGMENTS, MOST_SEGMENTS = 200, 1000  # on one page of a transcript
M = TypeVar("M", bound=Body)
W = TypeVar("W", bound=StrEnum)

_FLAGS: Mapping[str, bool] = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Call:
    """A request, its caller, and the means to answer it."""

    context: ApiContext
    request: Request
    caller: Caller

    @property
    def account_id(self) -> UUID:
        return self.caller.account_id

    @cached_property
    def base_url(self) -> str:
        """Return the base URL by which this caller reaches us, without a slash at the end."""
        scope = self.request.scope
        return self.context.base_url(scope["scheme"], self.request.headers.get("host", ""))

    @property
    def addresses(self) -> Addresses:
        """Return the factory of the addresses in an answer."""
        base = self.base_url
        return Addresses(
            base_url=base,
            links=self.context.links(base),
            now=self.context.clock.now(),
            holder=self.caller.holder,
            may_listen=Scope.READ in self.caller.scopes,
            may_act=Scope.LIVE in self.caller.scopes,
        )

    def id(self, kind: str, name: str = "id") -> UUID:
        """Return an id in the path. Raises NotFound if it is malformed, since nothing has such an id."""
        text: str = self.request.path_params[name]
        try:
            if len(text) == 36:  # UUID() also takes braces, urn: and missing dashes
                return UUID(text)
        except ValueError:
            pass
        raise NotFound(f"There is no {kind} with this id.")

    async def body(self) -> Any:
        """Return the JSON body. Raises InvalidConfig, TooLarge, TooManyRequests."""
        most_bytes = self.context.settings.api.max_body_mb * 1_000_000
        return await json_body(self.request, most_bytes, partial(self.context.bulk.begin, self.account_id))

    async def fields(self, model: type[M]) -> M:
        """Return the JSON body's fields. Raises InvalidConfig with all faults at once, TooLarge."""
        return valid(model, await self.body())

    def flag(self, name: str) -> bool:
        """Return a boolean of the query, false if it is absent. Raises InvalidConfig."""
        text = self.request.query_params.get(name)
        if text is None:
            return False
        value = _FLAGS.get(text.lower())
        if value is None:
            raise InvalidConfig({name: [f"{name} must be true or false."]})
        return value

    def word(self, name: str, words: type[W]) -> W | None:
        """Return one of an enumeration's words from the query. Raises InvalidConfig."""
        text = self.request.query_params.get(name)
        if text is None:
            return None
        try:
            return words(text)
        except ValueError:
            raise InvalidConfig({name: [f"{name} must be one of: {', '.join(words)}."]}) from None

    def text(self, name: str, *, most: int = LONGEST_URL) -> str | None:
        """Return a text of the query, up to `most` characters; None if absent or blank. Raises InvalidConfig."""
        text = self.request.query_params.get(name, "")
        if len(text) > most or "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise InvalidConfig({name: [f"{name} must be a text of up to {most} characters."]})
        return text.strip() or None

    def uuid(self, name: str) -> UUID | None:
        """Return an id of the query, None if it is absent or empty. Raises InvalidConfig."""
        text = self.request.query_params.get(name, "")
        if not text:
            return None
        try:
            if len(text) == 36:
                return UUID(text)
        except ValueError:
            pass
        raise InvalidConfig({name: [f"{name} must be an id."]})

    def segments(self) -> SegmentsPage | None:
        """Return the requested segments of a transcript; None: all. Raises InvalidConfig."""
        most = self.integer("segments_limit", default=SEGMENTS, least=1, most=MOST_SEGMENTS)
        if not {"segments_after", "segments_limit"} & set(self.request.query_params):
            return None
        return SegmentsPage(after=self.integer("segments_after", default=0, least=0, most=999_999_999), most=most)

    def page(self, *, newest_first: bool = False) -> ListPageRequest:
        """Return the requested page of a list. Raises InvalidConfig."""
        limit = self.integer("limit", default=50, least=1, most=MOST_LISTED)
        cursor = self.request.query_params.get("cursor") or None
        return ListPageRequest(limit=limit, cursor=cursor, newest_first=newest_first)

    def integer(self, name: str, *, default: int, least: int, most: int) -> int:
        """Return an integer of the query. Raises InvalidConfig."""
        text = self.request.query_params.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
            raise InvalidConfig({name: [f"{name} must be an integer between {least} and {most}."]})
        return int(text)
