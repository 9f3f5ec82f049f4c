"""Stream a multipart upload to storage: counted on the way, never whole in memory, never stored twice."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from uuid import UUID

import multipart
from pydantic import BaseModel
from starlette.requests import Request

from sederunt import foreign_json
from sederunt.api.transport.bodies import refuse_declared, too_large
from sederunt.api.transport.middleware import request_info_of
from sederunt.errors import InvalidConfig, UnsupportedMedia
from sederunt.media.containers import HEAD_BYTES, kind_of_head
from sederunt.media.facts import refuse_overlong
from sederunt.media.readers import Readers, until_read
from sederunt.media.sandboxed_probe import probe_sandboxed
from sederunt.storage.objects import Objects

FORM_SLACK_BYTES = 1_000_000  # for boundaries, headers and the other fields besides the file
MOST_FIELD_BYTES = 500_000  # of all fields together; fits a vocabulary of 1,000 entries as JSON
MOST_FIELDS = 2_000
SPEECH_BYTES_S = 4_000  # typical size of a second of compressed speech

_FLAGS: Mapping[str, bool] = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """A file in storage."""

    key: str
    size: int
    objects: Objects
    filename: str = ""  # as in the form; empty for an input without a chosen file
    digest: str | None = None  # SHA-256, if requested

    async def check(self, readers: Readers, account_id: UUID, *, most_hours: float) -> float:
        """Check the content and length; return the length in seconds. Raises UnsupportedMedia, BrokenMedia.

        Of a file in a bucket only the first bytes are checked here, and the rest by the worker that transcribes it;
        until then its length is estimated from its size.
        """
        if self.size == 0:
            raise UnsupportedMedia("The file is empty.")
        path = self.objects.local_path(self.key)
        if path is not None:
            async with readers.place(account_id) as gives_way:
                facts = await until_read(partial(probe_sandboxed, path, gives_way=gives_way))
            refuse_overlong(facts, most_hours)
            return facts.duration_s
        kind_of_head(await self.objects.read_range(self.key, 0, min(self.size, HEAD_BYTES)))
        return min(self.size / SPEECH_BYTES_S, most_hours * 3600)


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    fields: Mapping[str, list[str]]
    upload: Upload | None


def boundary_of(request: Request) -> str | None:
    """Return the boundary of a multipart form; None for other bodies. Raises InvalidConfig if it is missing."""
    kind, options = multipart.parse_options_header(request.headers.get("content-type", ""))
    if kind != "multipart/form-data":
        return None
    boundary = options.get("boundary", "")
    if not boundary:
        raise InvalidConfig({"body": ["The Content-Type multipart/form-data needs a boundary."]})
    return str(boundary)


async def take_form(
    request: Request, boundary: str, objects: Objects, key: str, *, file_field: str, most_bytes: int, digest: bool
) -> Form:
    """Read the whole form; its file is stored under `key` as it arrives, and hashed if `digest` is set.

    Raises TooLarge as soon as the file exceeds `most_bytes`, InvalidConfig for an invalid form, and ClientDisconnect;
    in each case nothing is left in storage.
    """
    refuse_declared(request, most_bytes + FORM_SLACK_BYTES)
    fields: dict[str, list[str]] = {}
    bytes_left = MOST_FIELD_BYTES
    upload: Upload | None = None
    try:
        async for segment in _segments(request, boundary):
            if segment.name != file_field:
                value = await _field(segment, bytes_left, file_field)
                bytes_left -= len(value.encode())
                fields.setdefault(segment.name, []).append(value)
            elif upload is not None:
                raise InvalidConfig({file_field: [f"{file_field} must be given once."]})
            else:
                upload = await _store(segment, objects, key, most_bytes, hashlib.sha256() if digest else None)
    except multipart.MultipartError as error:
        raise InvalidConfig({"body": [f"The body is not a valid multipart form: {error.args[0]}."]}) from None
    return Form(fields=fields, upload=upload)


async def _store(
    segment: "_Segment", objects: Objects, key: str, most_bytes: int, digest: "hashlib._Hash | None"
) -> Upload:
    size = 0
    async with objects.writer(key) as writer:
        async for data in segment.chunks():
            size += len(data)
            if size > most_bytes:
                raise too_large(most_bytes)
            if digest is not None:
                digest.update(data)
            await writer.write(data)
    sha256 = digest.hexdigest() if digest else None
    return Upload(key=key, size=size, objects=objects, filename=segment.filename or "", digest=sha256)


async def _field(segment: "_Segment", most_bytes: int, file_field: str) -> str:
    name_fault = InvalidConfig(
        {file_field: [f"The file must be sent as {file_field}; the form has it as {segment.name}."]}
    )
    value = bytearray()
    async for data in segment.chunks():
        value += data
        if len(value) > most_bytes:
            sentence = f"The fields beside the file must not be larger than {MOST_FIELD_BYTES:,} bytes together."
            raise name_fault if segment.is_file else InvalidConfig({segment.name: [sentence]})
    try:
        return value.decode()
    except UnicodeDecodeError:
        sentence = f"{segment.name} must be UTF-8."
        raise (name_fault if segment.is_file else InvalidConfig({segment.name: [sentence]})) from None


class _Segment:
    """One part of the form; its chunks must be read before the next part is requested."""

    def __init__(self, part: multipart.MultipartSegment, events: AsyncIterator[Any]) -> None:
        self.name, self.filename, self._events = part.name, part.filename, events

    @property
    def is_file(self) -> bool:
        return self.filename is not None

    async def chunks(self) -> AsyncIterator[bytes]:
        async for event in self._events:
            if event is None:
                return
            yield bytes(event)


async def _segments(request: Request, boundary: str) -> AsyncIterator[_Segment]:
    events = _events(request, boundary)
    async for event in events:
        if isinstance(event, multipart.MultipartSegment):
            yield _Segment(event, events)


async def _events(request: Request, boundary: str) -> AsyncIterator[Any]:
    """Yield parser events chunk by chunk; other requests are let pass before each chunk."""
    traffic = request_info_of(request).traffic
    with traffic.making_way(), multipart.PushMultipartParser(boundary, max_segment_count=MOST_FIELDS) as parser:
        async for chunk in request.stream():
            await traffic.let_pass()
            if chunk:
                for event in parser.parse(chunk):
                    yield event
            if parser.closed:
                break


def form_values(model: type[BaseModel], fields: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return a form's strings as JSON values: flags and lists according to the field's type.

    A list is given as repeated fields (`name` or `name[]`), or as one JSON array.
    """
    types_by_field = _wanted(model)
    values: dict[str, Any] = {}
    for name, texts in fields.items():
        field = name.removesuffix("[]")
        values[field] = _value(texts, types_by_field.get(field, frozenset()), is_repeated=name != field)
    return values


@cache
def _wanted(model: type[BaseModel]) -> Mapping[str, frozenset[str]]:
    """Return the JSON types that each field accepts."""
    properties: Mapping[str, Mapping[str, Any]] = model.model_json_schema()["properties"]
    return {
        name: frozenset(kind["type"] for kind in schema.get("anyOf", [schema]) if "type" in kind)
        for name, schema in properties.items()
    }


def _value(texts: list[str], types: frozenset[str], *, is_repeated: bool) -> Any:
    if texts == [""] and "null" in types:  # how a form leaves a field out
        return None
    if "array" in types:
        if len(texts) == 1 and not is_repeated and texts[0].lstrip().startswith("["):
            try:
                return foreign_json.read(texts[0], keeps_halves=True)
            except ValueError:
                return texts[0]
        return texts
    if "boolean" in types:
        return _FLAGS.get(texts[-1].lower(), texts[-1])
    return texts[-1]
