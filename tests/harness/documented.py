"""Holds every answer that tests get from a service against the service's own OpenAPI document."""

import json
import re
from functools import cache
from typing import Any

import httpx2
from jsonschema_rs import Draft202012Validator

PREFIX = "/api/v1"


async def check_answer(response: httpx2.Response) -> None:
    """Raise AssertionError where an answer is not as the document of the service that gave it says.

    Bodies that are not JSON, and paths that the document does not have, are left alone.
    """
    base, _, path = str(response.request.url.copy_with(query=None)).partition(PREFIX)
    if not response.headers.get("content-type", "").startswith("application/json") or not path:
        return
    faults = _Document.of(base).faults(response.request.method, path, response.status_code, await response.aread())
    assert not faults, f"{response.request.method} {path} answered {response.status_code}: {faults}"


def validator_of(schema: dict[str, Any], document: dict[str, Any]) -> Draft202012Validator:
    """Return what holds a value against a schema of a document; fields that the document does not name are faults."""
    components = json.loads(json.dumps(document["components"]))
    for named in components["schemas"].values():
        if "properties" in named:
            named["additionalProperties"] = False
    return Draft202012Validator({**schema, "components": components}, validate_formats=True)


class _Document:
    """One service's document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._operations = [
            (re.compile(re.sub(r"{\w+}", "[^/]+", path)), operations) for path, operations in document["paths"].items()
        ]
        self._validators: dict[str, Draft202012Validator] = {}

    @staticmethod
    @cache
    def of(base: str) -> "_Document":
        return _Document(httpx2.get(f"{base}{PREFIX}/openapi.json", timeout=60).json())

    def faults(self, method: str, path: str, status: int, body: bytes) -> list[str]:
        found = [operations for pattern, operations in self._operations if pattern.fullmatch(path)]
        operation = next((each[method.lower()] for each in found if method.lower() in each), None)
        if operation is None or status == 405:
            return []
        answer = operation["responses"].get(str(status))
        if answer is None:
            return ["this status is not in the document"]
        validator = self._validator(answer["content"]["application/json"]["schema"])
        return [f"{error.message[:300]} at {error.instance_path}" for error in validator.iter_errors(json.loads(body))]

    def _validator(self, schema: dict[str, Any]) -> Draft202012Validator:
        name = json.dumps(schema)
        if name not in self._validators:
            self._validators[name] = validator_of(schema, self._document)
        return self._validators[name]
