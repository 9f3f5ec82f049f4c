"""The index answers as the list of its routes does."""

from collections.abc import Sequence
from itertools import product

import pytest
from starlette.routing import BaseRoute, Match, Route

from sederunt.api.app import _routes_with_keys
from sederunt.api.openapi import PREFIX
from sederunt.api.route_index import RouteIndex

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ODD = ("", "/", "/bot", f"{PREFIX}", f"{PREFIX}/", f"{PREFIX}bot", f"{PREFIX}/nothing", f"{PREFIX}/bot/a/b/c/d")


def _first(routes: Sequence[BaseRoute], scope: dict[str, object]) -> tuple[Match, object, object]:
    """Return what Starlette's router would choose: the first full match, else the first partial one."""
    found: tuple[Match, object, object] = (Match.NONE, None, None)
    for route in routes:
        match, child = route.matches(scope)
        seen = (match, child.get("endpoint"), child.get("path_params"))
        if match is Match.FULL:
            return seen
        if match is Match.PARTIAL and found[0] is Match.NONE:
            found = seen
    return found


@pytest.fixture(scope="module")
def routes() -> list[Route]:
    return _routes_with_keys()


@pytest.mark.parametrize("root", ["", "/behind/a/proxy"])
def test_every_path_and_method_finds_what_the_list_finds(routes: list[Route], root: str) -> None:
    index = RouteIndex(PREFIX, routes)
    paths = {route.path for route in routes}
    asked = {path.replace("{id}", "0198").replace("{name}", "a.b").replace("{", "").replace("}", "") for path in paths}
    assert len(asked) > 20
    found = 0
    for path, method in product([*asked, *ODD], METHODS):
        scope = {"type": "http", "path": root + path, "root_path": root, "method": method}
        expected = _first(routes, dict(scope))
        assert _first([index], dict(scope)) == expected, (method, path)
        found += expected[0] is Match.FULL
    assert found > 40


def test_a_socket_is_none_of_its_business(routes: list[Route]) -> None:
    assert RouteIndex(PREFIX, routes).matches({"type": "websocket", "path": f"{PREFIX}/bot"}) == (Match.NONE, {})
