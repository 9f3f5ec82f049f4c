"""Which session a request shows."""

import pytest
from starlette.requests import HTTPConnection

from sederunt.api.access.sessions import COOKIE, session_token


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["a=1; b=2"],
        [f"{COOKIE}=token"],
        [f"a=1;{COOKIE}=token;b=2"],
        [f" {COOKIE} = token ; b"],
        [f'{COOKIE}="to\\073ken"'],
        [f"{COOKIE}=first; {COOKIE}=last", "a=1"],
        [f"{COOKIE}=first", f"{COOKIE}=last"],
        [f"{COOKIE}=to=ken"],
        [f"{COOKIE}="],
        [f"{COOKIE}; {COOKIE}x=1; x{COOKIE}=2; a={COOKIE}=3"],
        [f"\x85{COOKIE}\xa0=\x1ctoken"],
    ],
)
def test_the_session_is_the_one_that_other_readers_of_cookies_find(headers: list[str]) -> None:
    scope = {"type": "http", "headers": [(b"cookie", header.encode("latin-1")) for header in headers]}
    assert session_token(HTTPConnection(scope)) == HTTPConnection(scope).cookies.get(COOKIE)
