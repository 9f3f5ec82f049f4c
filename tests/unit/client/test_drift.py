"""The client has every route and every field of the service, by a look of its own at the OpenAPI document."""

import asyncio
import dataclasses
import importlib.util
import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sederunt.api.openapi import document
from sederunt_client import models
from sederunt_client.async_routes import AsyncRoutes
from sederunt_client.reading import read
from sederunt_client.requests import Outcome, Request
from sederunt_client.routes import Routes

ROOT = Path(__file__).parents[3]
SPEC: dict[str, Any] = json.loads(json.dumps(document()))
OPERATIONS = [
    (method.upper(), path, operation) for path, table in SPEC["paths"].items() for method, operation in table.items()
]
NAMES = [operation["operationId"] for _, _, operation in OPERATIONS]
SHAPES = [
    name
    for name, schema in SPEC["components"]["schemas"].items()
    if schema.get("type") == "object" and not name.endswith(("Fields", "Changes")) and hasattr(models, name)
]


def method_name(operation: Mapping[str, Any]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation["operationId"]).lower()


class Spy(Routes):
    def send(self, request: Request[Any]) -> Any:
        return request


class AsyncSpy(AsyncRoutes):
    async def send(self, request: Request[Any]) -> Any:
        return request


def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("client_writer", ROOT / "scripts" / "client.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_written_files_are_what_the_document_gives() -> None:
    module = writer()
    for name, text in module.files().items():
        assert (module.TARGET / name).read_text(encoding="utf-8") == text, f"{name}: run 'make docs'"


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=NAMES)
def test_every_route_is_a_method_that_sends_every_field(method: str, path: str, operation: Mapping[str, Any]) -> None:
    call = getattr(Spy(), method_name(operation))
    in_path = {"".join(p) for p in re.findall(r"{(\w+)}", path)}
    arguments = {
        name: ["<", name]
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in _OF_THE_CLIENT
    }
    ids = [f"id-{number}" for number in range(len(in_path))]
    request = call(*ids, **arguments)
    filled = re.sub(r"{\w+}", lambda _: ids.pop(0), path)
    assert (request.method, request.path) == (method, filled)

    query = {p["name"] for p in operation.get("parameters", []) if p["in"] == "query"}
    assert set(request.query) | ({"format"} if "text" in str(operation["responses"]["200"]) else set()) >= query
    assert set(request.query) <= query
    assert set(request.body or {}) == _fields_of(operation)
    assert request.is_keyed == any(p["name"] == "Idempotency-Key" for p in operation.get("parameters", []))


@pytest.mark.parametrize("operation", [operation for _, _, operation in OPERATIONS], ids=NAMES)
def test_both_clients_take_the_same(operation: Mapping[str, Any]) -> None:
    name = method_name(operation)
    one, other = getattr(Routes, name), getattr(AsyncRoutes, name)
    assert str(inspect.signature(one)) == str(inspect.signature(other))
    assert asyncio.iscoroutinefunction(other)
    required = [n for n, p in inspect.signature(one).parameters.items() if p.default is inspect.Parameter.empty]
    ids = [n for n in required if n.endswith("_id")]
    made = [getattr(Spy(), name), getattr(AsyncSpy(), name)]
    given = {n: "x" for n in required if n not in ("self", *ids)}
    first, second = made[0](*ids, **given), asyncio.run(made[1](*ids, **given))
    assert first == second


@pytest.mark.parametrize("name", SHAPES)
def test_every_answer_is_read_into_a_record_with_all_its_fields(name: str) -> None:
    schema = SPEC["components"]["schemas"][name]
    kind = getattr(models, name)
    sample = _sample(schema)
    found = read(kind, {**sample, "something_new": 1})
    names = {field.name.rstrip("_") for field in dataclasses.fields(kind)}
    assert names == set(schema["properties"])
    assert type(found) is kind
    assert {f.name for f in dataclasses.fields(kind) if getattr(found, f.name) is None} == set()


def test_what_an_older_service_does_not_tell_is_none_or_empty() -> None:
    schema = SPEC["components"]["schemas"]["Bot"]
    told = {k: v for k, v in _sample(schema).items() if k in ("id", "status", "service", "stop_options")}
    first = {"bot_name": "", "meeting_url": "", "transcription_model": "", "created_at": "2026-03-02T09:00:00.000000Z"}
    # A "Bot lacks …" here: what is added to an answer later must be a flag, a list, an object or may be null.
    bot = read(models.Bot, {**told, **first})
    assert (bot.verdict, bot.transcript, bot.evidence, bot.video) == (None, (), {}, False)
    with pytest.raises(ValueError, match="Bot lacks 'id'"):
        read(models.Bot, {})


def test_an_answer_of_something_else_is_told_as_such() -> None:
    from sederunt_client import UnexpectedAnswer

    request = Request("GET", "/bot/x", models.Bot)
    for body in (b"<html>", b"[]", b'{"id": "x"}'):
        with pytest.raises(UnexpectedAnswer, match="GET /bot/x"):
            request.read(Outcome(status=200, body=body))


_OF_THE_CLIENT = frozenset({"recording_file", "on_progress", "idempotency_key"})


def _fields_of(operation: Mapping[str, Any]) -> set[str]:
    if "requestBody" not in operation:
        return set()
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    named = schema["allOf"][0]["$ref"] if "allOf" in schema else schema["$ref"]
    fields = SPEC["components"]["schemas"][named.rpartition("/")[2]]["properties"]
    return {name for name, field in fields.items() if not field.get("deprecated")}


def _sample(schema: Mapping[str, Any]) -> Any:
    """Some value of a schema, with everything in it."""
    if "$ref" in schema:
        return _sample(SPEC["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return _sample(next(each for each in schema["anyOf"] if each.get("type") != "null"))
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            return {name: _sample(value) for name, value in schema.get("properties", {}).items()}
        case "array":
            return [_sample(schema["items"])]
        case "string":
            return "2026-03-02T09:00:00.000000Z" if schema.get("format") == "date-time" else "text"
        case kind:
            return {"integer": 1, "number": 1.5, "boolean": True}[kind]
