"""JSON bodies, and what is told of those that are none."""

import pytest
from starlette.requests import Request

from sederunt.api.transport.bodies import json_body
from sederunt.errors import InvalidConfig

FORM = "application/x-www-form-urlencoded"


def sent(body: bytes, kind: str) -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request({"type": "http", "headers": [(b"content-type", kind.encode())]}, receive)


async def test_json_is_read_whatever_its_type_says() -> None:
    assert await json_body(sent(b'{"a": 1}', FORM), 1000) == {"a": 1}


@pytest.mark.parametrize(("kind", "names_the_form"), [(FORM, True), ("application/json", False)])
async def test_a_form_is_told_to_be_one(kind: str, names_the_form: bool) -> None:
    with pytest.raises(InvalidConfig, match=r"^The body is not valid JSON") as refused:
        await json_body(sent(b"service=gmeet", kind), 1000)
    assert (FORM in str(refused.value)) is names_the_form
