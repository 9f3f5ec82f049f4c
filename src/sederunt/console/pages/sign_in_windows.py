"""The page around a host's browser in which a person signs in a meeting account; its actions go through the API."""

from starlette.responses import Response

from sederunt.api.resources.sign_in_windows import ACT_S, asked
from sederunt.console.page import Page


async def show_window(page: Page) -> Response:
    """GET /sign-in-windows/{id}"""
    answer = await asked(page, "act", {"inputs": []}, ACT_S)
    return page.render("sign_in_window.html", window_id=page.id("sign-in window"), email=answer.get("email", ""))
