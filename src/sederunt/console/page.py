"""One page for a person who is signed in: their identity, and the call that the API's functions take."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sederunt import log
from sederunt.accounts.sign_in import SignedIn
from sederunt.api.access.permissions import Permission, refuse_unpermitted
from sederunt.api.access.sessions import CSRF_HEADER, refuse_forged, session_token
from sederunt.api.call import Call, W
from sederunt.api.context import ApiContext
from sederunt.api.failures import answer_to, message_response
from sederunt.api.resources.lists import LOOK_BYTES
from sederunt.api.schemas.views import Addresses
from sederunt.api.transport.middleware import request_info_of
from sederunt.console.render import page_response
from sederunt.database.paging import ListPageRequest
from sederunt.errors import RequestError

logger = log.get(component="console")

ROWS = 50  # per list of a page
WEIGHT = 10  # of a page's byte: templates take that many times as long as JSON

_SENTENCES = {403: "You may not look at this", 404: "There is nothing here", 400: "This request is not valid"}


@dataclass(frozen=True)
class Page(Call):
    """A call by a person."""

    visitor: SignedIn

    @property
    def addresses(self) -> Addresses:
        """Return addresses below this page's own origin, whatever the public address is."""
        return replace(super().addresses, base_url="", links=self.context.links(""))

    def word(self, name: str, words: type[W]) -> W | None:
        """Return a choice of a form, which sends an empty text for no choice."""
        return super().word(name, words) if self.request.query_params.get(name) else None

    def part(self, name: str, *, newest_first: bool = False) -> ListPageRequest:
        """Return which part of a list of the page is requested, by a cursor of this name."""
        cursor = self.request.query_params.get(name) or None
        return ListPageRequest(limit=ROWS, cursor=cursor, newest_first=newest_first)

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a template with the values that every page shows."""
        common_values: Mapping[str, Any] = {
            "visitor": self.visitor,
            "path": self.request.url.path,
            "query": self.request.query_params,
            "may_write": "write" in self.caller.scopes,
            "may_manage": self.caller.manages,
        }
        media = "'self' https:" if self.context.settings.storage.url else "'self'"
        response = page_response(template, {**common_values, **values}, status, media=media)
        self.context.bulk.count(self.account_id, WEIGHT * len(response.body))
        return response


Handler = Callable[[Page], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def endpoint(handler: Handler, path: str, permission: Permission) -> Endpoint:
    """Return a Starlette endpoint for people who are signed in; refusals become pages."""

    async def answer(request: Request) -> Response:
        request_info_of(request).route = path
        context: ApiContext = request.app.state.context
        token = session_token(request)
        visitor = await context.stores.sign_ins.visitor(token) if token else None
        if token is None or visitor is None:
            return _to_sign_in(request)
        request_info_of(request).comes_from(visitor.caller)
        page = Page(context, request, visitor.caller, visitor)
        try:
            context.auth.count(page.caller)
            refuse_unpermitted(page.caller, permission)
            refuse_forged(request, token)
            await context.bulk.begin(page.account_id, LOOK_BYTES)
            return await handler(page)
        except Exception as error:
            return _refusal(page, error)

    return answer


def _to_sign_in(request: Request) -> Response:
    """Redirect a page to the sign-in, and back afterwards; tell a page's script to reload the whole page."""
    if "hx-request" in request.headers:
        return Response(status_code=401, headers={"HX-Redirect": "/sign-in"})
    if request.method not in ("GET", "HEAD") or CSRF_HEADER in request.headers:
        # A script follows a redirect by itself, and would take the sign-in's 200 for success.
        return message_response("Your session has ended: sign in again.", 401)
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(request.url.replace(path="/sign-in", query="").include_query_params(next=target), 303)


def _refusal(page: Page, error: Exception) -> Response:
    """Return the API's answer as a page; unchanged for a script, which shows it at its fields."""
    answer = answer_to(error)
    if page.request.method != "GET":
        return answer
    message = str(error) if isinstance(error, RequestError) else "Something went wrong on our side."
    return page.render(
        "refusal.html",
        answer.status_code,
        title=_SENTENCES.get(answer.status_code, "Something went wrong"),
        message=message,
        request_id=request_info_of(page.request).request_id,
    )
