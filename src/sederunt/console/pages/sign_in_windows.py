"""The page around a browser on a host in which a meeting account is signed in; what it does goes through the API."""

from starlette.responses import Response

from sederunt.api.resources.sign_in_windows import ACT_S, asked
from sederunt.console.page import Page


async def show_window(page: Page) -> Response:
    """GET /sign-in-windows/{id}"""
    answer = await asked(page, "act", {"inputs": []}, ACT_S)
    return page.render("sign_in_window.html", window_id=page.id("sign-in window"), email=answer.get("email", ""))
