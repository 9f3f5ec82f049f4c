"""Writes the Python client's models and routes from the OpenAPI document, so that neither can differ from it.

`--check` only compares.
"""

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sederunt.api.openapi import document
from sederunt.api.schemas.event_answers import event_schemas
from sederunt.api.schemas.values import LATEST_MILLISECONDS
from sederunt.platforms.registry import services

Schema = Mapping[str, Any]

TARGET = Path(__file__).parent.parent / "clients" / "python" / "src" / "sederunt_client"
RUFF = Path(sys.executable).with_name("ruff")
NOTE = "Written by scripts/client.py from the OpenAPI document; change the service, then `make docs`."
WIDTH = 100  # of a docstring's line, without its indentation

_REFUSALS = frozenset({"Refusal", "InvalidRequest"})  # become errors
_BY_KIND = frozenset(name for name, _ in event_schemas()) - {"Event"}  # the client has one record for all kinds
_LONGEST_LITERAL = 16  # words; more of them are told in the documents, not in a type
_MOMENT_MOST = LATEST_MILLISECONDS  # marks a field that takes Unix seconds
_RESERVED = {"from": "from_", "format": "format"}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One argument of a method."""

    sent: str  # its name in the request
    name: str
    kind: str
    required: bool
    told: str

    @property
    def declared(self) -> str:
        """Return it as it stands in the method's head."""
        if self.required:
            return f"{self.name}: {self.kind}"
        kinds = self.kind.removesuffix(" | None")  # which belongs at the end
        return f"{self.name}: {kinds} | Unset{' | None' if kinds != self.kind else ''} = UNSET"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of the client."""

    name: str
    method: str
    path: str
    summary: str
    in_path: tuple[Parameter, ...]
    in_query: tuple[Parameter, ...]
    in_body: tuple[Parameter, ...]
    answer: str
    takes_file: bool = False
    takes_key: bool = False
    fixed_query: tuple[tuple[str, str], ...] = ()
    pages_of: str | None = None


class Models:
    """The classes of models.py, one per schema, in an order in which each knows those before it."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._answers: dict[str, str] = {}
        self._bodies: dict[str, str] = {}

    def text(self) -> str:
        """Return models.py."""
        for name, schema in self._schemas.items():
            if name in _REFUSALS | _BY_KIND or schema.get("type") == "array":
                continue
            if name.endswith(("Fields", "Changes")):
                if name in ("StopOptionFields", "AuthenticationFields"):
                    self._bodies[name] = self._body_class(name, schema)
            else:
                self._answer_class(name, schema)
        head = f'''"""What the service answers, as frozen records, and the nested fields that it takes.

{NOTE}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict
'''
        return "\n\n".join([head, *self._answers.values(), *self._bodies.values()])

    def annotation(self, schema: Schema, owner: str = "") -> str:
        """Return the type of an answer's value."""
        if "$ref" in schema:
            return self._referred(schema["$ref"].rpartition("/")[2])
        if "anyOf" in schema:
            inner = [each for each in schema["anyOf"] if each.get("type") != "null"]
            assert len(inner) == 1, schema
            return f"{self.annotation(inner[0], owner)} | None"
        if "enum" in schema:
            return _words(schema["enum"])
        match schema.get("type"):
            case "string":
                return "datetime" if schema.get("format") == "date-time" else "str"
            case "integer":
                return "int"
            case "number":
                return "float"
            case "boolean":
                return "bool"
            case "array":
                return f"tuple[{self.annotation(schema['items'], owner)}, ...]"
            case "object" if "properties" in schema:
                self._answer_class(owner, schema)
                return owner
            case "object":
                values = schema.get("additionalProperties")
                return f"Mapping[str, {self.annotation(values, owner)}]" if values else "Mapping[str, Any]"
        raise AssertionError(f"{owner}: {schema}")

    def sent(self, schema: Schema) -> str:
        """Return the type of a value that a caller sends."""
        if "$ref" in schema:
            return str(schema["$ref"].rpartition("/")[2])
        if "anyOf" in schema:
            kinds = [
                self.sent(each)
                for each in schema["anyOf"]
                if "maxProperties" not in each or "additionalProperties" in each
            ]
            return " | ".join(dict.fromkeys(kinds))
        if "enum" in schema:
            return _words(schema["enum"])
        match schema.get("type"):
            case "null":
                return "None"
            case "string" if schema.get("contentEncoding") == "base64":
                return "bytes | str"
            case "string":
                return "date | str" if schema.get("format") == "date" else "str"
            case "integer":
                return "datetime | int" if schema.get("maximum") == _MOMENT_MOST else "int"
            case "number":
                return "float"
            case "boolean":
                return "bool"
            case "array":
                return f"Sequence[{self.sent(schema['items']) if 'items' in schema else 'Any'}]"
            case "object":
                values = schema.get("additionalProperties")
                return f"Mapping[str, {self.sent(values)}]" if values else "Mapping[str, Any]"
        raise AssertionError(schema)

    def _referred(self, name: str) -> str:
        schema = self._schemas[name]
        if schema.get("type") == "array":
            return self.annotation(schema, name)
        self._answer_class(name, schema)
        return name

    def _answer_class(self, name: str, schema: Schema) -> None:
        if name in self._answers:
            return
        lines = []
        optional = []
        for field, value in schema["properties"].items():
            kind = self.annotation(value, name + field.title().replace("_", ""))
            if field in schema["required"]:
                lines.append(f"    {_field(field)}: {kind}")
            else:
                optional.append(f"    {_field(field)}: {kind} | None = None")
        told = schema.get("description") or _told_of(name)
        head = f'@dataclass(frozen=True, kw_only=True)\nclass {name}:\n    """{told}"""\n\n'
        self._answers[name] = head + "\n".join([*lines, *optional]) + "\n"

    def _body_class(self, name: str, schema: Schema) -> str:
        lines = []
        for field, value in schema["properties"].items():
            lines += [f"    {field}: {self.sent(value)}", f'    """{value["description"]}"""']
        return f'class {name}(TypedDict, total=False):\n    """{schema["description"]}"""\n\n' + "\n".join(lines) + "\n"


def _told_of(name: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    if words.endswith(" list"):
        return f"One page: {words.removesuffix(' list')} entries, and where the next page begins."
    return f"{words.capitalize()}, as the service tells of it."


def _field(name: str) -> str:
    return _RESERVED.get(name, name)


def _words(words: list[str]) -> str:
    is_open = set(words) <= set(services())  # packages bring more of them
    return "str" if is_open or len(words) > _LONGEST_LITERAL else f"Literal[{', '.join(map(repr, words))}]"


def operations(models: Models, spec: Mapping[str, Any]) -> Iterator[Operation]:
    """Yield the client's methods in the document's order: one per route, two where a route also answers in text."""
    schemas = spec["components"]["schemas"]
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            yield from _methods_of(models, schemas, path, method.upper(), operation)


def _methods_of(
    models: Models, schemas: Mapping[str, Schema], path: str, method: str, operation: Mapping[str, Any]
) -> Iterator[Operation]:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation["operationId"]).lower()
    parameters = operation.get("parameters", [])
    content = operation["responses"]["200"]["content"]
    answer = content["application/json"]["schema"]
    body = operation.get("requestBody", {}).get("content", {})
    own = Operation(
        name=name,
        method=method,
        path=path,
        summary=operation["summary"],
        in_path=tuple(_in_path(models, p, path) for p in parameters if p["in"] == "path"),
        in_query=tuple(_parameter(models, p) for p in parameters if p["in"] == "query"),
        in_body=tuple(_body_parameters(models, schemas, body)),
        answer=models.annotation(answer, name),
        takes_file="multipart/form-data" in body,
        # A repeat of these makes nothing twice: the service knows it by its key.
        takes_key=any(p["in"] == "header" and p["name"] == "Idempotency-Key" for p in parameters),
        pages_of=_paged(schemas, answer),
    )
    texts = [kind for kind in content if kind != "application/json"]
    if not texts:
        yield own
        return
    formats = next(p for p in parameters if p["name"] == "format")["schema"]["enum"]
    without = tuple(p for p in own.in_query if p.name != "format")
    yield Operation(**{**own.__dict__, "in_query": without})
    others = [word for word in formats if word != "json"]
    as_text = Parameter(sent="format", name="format", kind=_words(others), required=True, told="Of the text.")
    yield Operation(
        **{
            **own.__dict__,
            "name": f"{name}_text",
            "summary": f"{own.summary}: as text",
            "in_query": (as_text, *without),
            "answer": "str",
        }
    )


def _paged(schemas: Mapping[str, Schema], answer: Schema) -> str | None:
    """Return what a page holds, None where the answer has no pages."""
    properties = schemas.get(answer.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
    if "next_cursor" not in properties:
        return None
    return str(properties["data"]["items"]["$ref"].rpartition("/")[2])


def _parameter(models: Models, parameter: Mapping[str, Any]) -> Parameter:
    name = parameter["name"].replace("-", "_")
    return Parameter(
        sent=parameter["name"],
        name=_RESERVED.get(name, name),
        kind=models.sent(parameter["schema"]),
        required=parameter.get("required", False),
        told=parameter.get("description", ""),
    )


def _in_path(models: Models, parameter: Mapping[str, Any], path: str) -> Parameter:
    """Return an id in the path, named for what it is the id of."""
    what = path.split("/")[1] if parameter["name"] == "id" else parameter["name"]
    name = what.replace("-", "_") + "_id"
    return Parameter(**{**_parameter(models, parameter).__dict__, "name": name})


def _body_parameters(models: Models, schemas: Mapping[str, Schema], body: Mapping[str, Any]) -> Iterator[Parameter]:
    if not body:
        return
    schema = body["application/json"]["schema"]
    required = schema.get("required", [])
    named = schema["allOf"][0]["$ref"] if "allOf" in schema else schema["$ref"]
    fields = schemas[named.rpartition("/")[2]]["properties"]
    for name in sorted(fields, key=lambda field: field not in required):
        field = fields[name]
        if not field.get("deprecated"):
            kind = models.sent(field)
            yield Parameter(sent=name, name=name, kind=kind, required=name in required, told=field["description"])


def routes(found: list[Operation], *, is_async: bool) -> str:
    """Return the module of the methods, for the client that waits or for the one that does not."""
    before = "Async" if is_async else ""
    names = {word for each in found for kind in _kinds(each) for word in re.findall(r"\b[A-Z]\w+", kind)}
    models = sorted(names - {"Any", "Literal", "Mapping", "Sequence", "None", "Unset"})
    iterator = "AsyncIterator" if is_async else "Iterator"
    head = f'''"""A method for every route of the service{", to be awaited" if is_async else ""}.

{NOTE}
"""

from collections.abc import {iterator}, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, TypeVar

from sederunt_client.models import {", ".join(models)}
from sederunt_client.requests import UNSET, Request, Unset, given, part
from sederunt_client.uploads import Progress, Source, Upload

T = TypeVar("T")


class {before}Routes:
    """What a client can ask for. Every method raises ApiError by the answer's status, and NotReached."""

    {"async " if is_async else ""}def send(self, request: Request[T]) -> T:
        """Make a request and read its answer."""
        raise NotImplementedError
'''
    parts = [head]
    for each in found:
        parts.append(_method(each, is_async=is_async))
        if each.pages_of:
            parts.append(_all_pages(each, is_async=is_async))
    return "\n".join(parts)


def _kinds(operation: Operation) -> list[str]:
    every = (*operation.in_path, *operation.in_query, *operation.in_body)
    return [
        operation.answer,
        *(parameter.kind for parameter in every),
        *([operation.pages_of] if operation.pages_of else []),
    ]


def _method(operation: Operation, *, is_async: bool) -> str:
    asynchronous, wait = ("async ", "await ") if is_async else ("", "")
    lines = [
        f"    {asynchronous}def {operation.name}({_head(operation)}) -> {operation.answer}:",
        _docstring(operation.summary, _arguments(operation)),
        f"        return {wait}self.send({_request(operation)})",
    ]
    return "\n".join(lines) + "\n"


def _all_pages(operation: Operation, *, is_async: bool) -> str:
    asynchronous, wait = ("async ", "await ") if is_async else ("", "")
    kind = "AsyncIterator" if is_async else "Iterator"
    name = "iter_" + operation.name.removeprefix("list_")
    kept = [p for p in (*operation.in_path, *operation.in_query) if p.name not in ("cursor", "limit")]
    passed = ", ".join(f"{p.name}={p.name}" for p in kept)
    each = "            for each in page.data:\n                yield each" if is_async else "            yield from page.data"
    head = ", ".join(["self", *(["*"] if kept else []), *(p.declared for p in kept)])
    return f'''    {asynchronous}def {name}({head}) -> {kind}[{operation.pages_of}]:
        """{operation.summary}: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = {wait}self.{operation.name}({passed}{", " if passed else ""}cursor=cursor)
{each}
            if page.next_cursor is None:
                return
            cursor = page.next_cursor
'''


def _head(operation: Operation) -> str:
    named = [p.declared for p in (*operation.in_query, *operation.in_body)]
    named.sort(key=lambda text: "= UNSET" in text)
    if operation.takes_file:
        named += ["recording_file: Source | None = None", "on_progress: Progress | None = None"]
    if operation.takes_key:
        named.append("idempotency_key: str | None = None")
    parts = ["self", *(p.declared for p in operation.in_path), *(["*"] if named else []), *named]
    return ", ".join(parts)


def _arguments(operation: Operation) -> list[tuple[str, str]]:
    told = [(p.name, p.told) for p in (*operation.in_query, *operation.in_body) if p.told]
    if operation.takes_file:
        told.append(("recording_file", "Path or open binary file; sent piece by piece."))
        told.append(("on_progress", "Called with the bytes sent so far and all of them (None: not known)."))
    if operation.takes_key:
        told.append(("idempotency_key", "By it a repeat is known; absent: a fresh one for each call."))
    return told


def _docstring(summary: str, arguments: list[tuple[str, str]]) -> str:
    indent = " " * 8
    if not arguments:
        return f'{indent}"""{summary}."""'
    lines = [f'{indent}"""{summary}.', "", f"{indent}Args:"]
    for name, told in arguments:
        lines += textwrap.wrap(
            f"{name}: {told}", WIDTH, initial_indent=indent + "    ", subsequent_indent=indent + "        "
        )
    return "\n".join([*lines, f'{indent}"""']).replace("\\", "\\\\")


def _request(operation: Operation) -> str:
    path = repr(operation.path)
    if operation.in_path:
        for parameter in operation.in_path:
            path = path.replace(f"{{{parameter.sent}}}", f"{{part({parameter.name})}}")
        path = "f" + path
    parts = [repr(operation.method), path, operation.answer if operation.answer != "str" else "str"]
    if operation.in_query:
        parts.append(f"query={_given(operation.in_query)}")
    if operation.in_body or operation.takes_file:
        parts.append(f"body={_given(operation.in_body)}")
    if operation.takes_file:
        parts.append("upload=Upload.of('recording_file', recording_file, on_progress)")
    if operation.takes_key:
        parts += ["is_keyed=True", "key=idempotency_key"]
    return f"Request({', '.join(parts)})"


def _given(parameters: tuple[Parameter, ...]) -> str:
    pairs = ", ".join(f"{p.sent!r}: {p.name}" for p in parameters)
    return f"given({{{pairs}}})"


def files() -> dict[str, str]:
    """Return every written file by its name, formatted."""
    spec = json.loads(json.dumps(document()))
    models = Models(spec["components"]["schemas"])
    found = list(operations(models, spec))
    written = {
        "models.py": models.text(),
        "routes.py": routes(found, is_async=False),
        "async_routes.py": routes(found, is_async=True),
    }
    return {name: _formatted(name, text) for name, text in written.items()}


def _formatted(name: str, text: str) -> str:
    file = str(TARGET / name)
    for act in (("check", "--select", "I,F401", "--fix", "--exit-zero", "--quiet"), ("format", "--quiet")):
        done = subprocess.run(
            [RUFF, *act, "--stdin-filename", file, "-"], input=text, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr or done.stdout}\n{text}")
        text = done.stdout
    return text


def main() -> int:
    """Write the files, or say which are out of date."""
    stale = {name: text for name, text in files().items() if not _is_current(TARGET / name, text)}
    for name, text in stale.items():
        if "--check" in sys.argv:
            print(f"clients/python: {name} is out of date: run 'make docs'", file=sys.stderr)
        else:
            (TARGET / name).write_text(text, encoding="utf-8")
    return 1 if stale and "--check" in sys.argv else 0


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
