"""A row of the table of routes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from sederunt.api.access.permissions import Permission
from sederunt.api.call import Call
from sederunt.api.schemas.requests import Body

Handler = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestBody:
    """The body that a route takes."""

    model: type[Body]
    partial: bool = False  # changes: no field is required
    file_field: str | None = None  # also taken as multipart/form-data, with this field as the file
    example: Mapping[str, Any] = field(default_factory=dict)

    @property
    def required(self) -> Sequence[str]:
        """Return the fields that have to be sent."""
        return () if self.partial else self.model.REQUIRED


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """One method on one path below the version prefix."""

    method: str
    path: str
    handler: Handler
    name: str  # operationId
    summary: str
    tag: str
    answer: str  # name of the answer's schema
    body: RequestBody | None = None
    query: Sequence[str] = ()  # names of parameters in the document's table
    refusals: Sequence[int] = ()  # statuses besides 200, 401, 429 and those implied by its body and path
    permission: Permission | None = None  # None: `read` for a GET, `write` for everything else
    once: bool = False  # takes an Idempotency-Key
    unwritten: bool = False  # its handler writes the audit entry itself, if there is anything to record
    links: Sequence[str] = ()  # names of routes that take the `id` of the resource that this one makes
    tagged: bool = False  # bodies of ended resources have an ETag, and are not sent to callers that have them
    media_types: Sequence[str] = ()  # of answers besides JSON, by the query's `format`

    @property
    def changes(self) -> bool:
        """Return whether a request by this route changes something and goes into the audit list."""
        return self.method != "GET" and self.needed != "read" and not self.unwritten

    @property
    def needed(self) -> Permission:
        """Return the permission that its caller needs."""
        return self.permission or ("read" if self.method == "GET" else "write")
