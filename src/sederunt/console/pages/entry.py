"""Sign-in by password or link, and sign-out."""

from collections.abc import Awaitable, Callable
from urllib.parse import SplitResult, parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sederunt.accounting import Rate
from sederunt.accounts.sign_in import SESSION_FOR
from sederunt.api.access.refusal_delay import network_of
from sederunt.api.access.sessions import COOKIE, refuse_forged, session_token
from sederunt.api.context import ApiContext
from sederunt.api.failures import answer_to
from sederunt.api.transport.bodies import whole_body
from sederunt.api.transport.middleware import request_info_of
from sederunt.console.render import page_response
from sederunt.errors import Forbidden, InvalidConfig, NotFound, RequestError, TooManyRequests
from sederunt.model.budgets import count_of

_BUDGET = "sign_in_tries"  # per network of callers, and per address of a person
_FORM_BYTES, _MOST_FIELDS = 20_000, 20
_ELSEWHERE = frozenset({"cross-site", "same-site"})

Open = Callable[[ApiContext, Request], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def open_endpoint(handler: Open, path: str) -> Endpoint:
    """Return the endpoint of a page that needs no session."""

    async def answer(request: Request) -> Response:
        request_info_of(request).route = path
        context: ApiContext = request.app.state.context
        try:
            return await handler(context, request)
        except RequestError as error:
            page = page_response("sign_in.html", _values(context, request, str(error)), error.status)
            if isinstance(error, TooManyRequests):
                page.headers["Retry-After"] = str(error.retry_after_s)
            return page
        except Exception as error:
            return answer_to(error)

    return answer


class EntryPages:
    """Pages for signing in and out."""

    def __init__(self) -> None:
        self._limit: Rate | None = None

    async def show(self, context: ApiContext, request: Request) -> Response:
        """GET /sign-in"""
        token = session_token(request)
        if token and await context.stores.sign_ins.visitor(token):
            return RedirectResponse(path_of_ours(request.query_params.get("next")), 303)
        return page_response("sign_in.html", _values(context, request))

    async def sign_in(self, context: ApiContext, request: Request) -> Response:
        """POST /sign-in"""
        refuse_elsewhere(context, request)
        form = await _form(request)
        email = form.get("email", "")
        self._count(context, request, email)
        if context.settings.oidc.issuer and not context.settings.oidc.passwords:
            raise Forbidden(f"People sign in by {context.settings.oidc.name} here, not by password.")
        try:
            token = await context.stores.sign_ins.sign_in(
                email, form.get("password", ""), issuer=context.settings.oidc.issuer
            )
        except InvalidConfig as error:
            return page_response("sign_in.html", _values(context, request, str(error), email=email[:320]), 400)
        return signed_in(request, context, token, path_of_ours(form.get("next")))

    async def welcome(self, context: ApiContext, request: Request) -> Response:
        """GET /welcome: a button, so that no program that looks at links uses this one up.

        It says whom the link is for: who is led to another's would work in their name.
        """
        token = request.query_params.get("token", "")[:200]
        name = await context.stores.sign_ins.name_on_link(token)
        return page_response("welcome.html", {"token": token, "name": name})

    async def accept(self, context: ApiContext, request: Request) -> Response:
        """POST /welcome"""
        refuse_elsewhere(context, request)
        form = await _form(request)
        self._count(context, request, "")
        try:
            token = await context.stores.sign_ins.accept(form.get("token", ""))
        except NotFound as error:
            return page_response("sign_in.html", _values(context, request, str(error)), 404)
        return signed_in(request, context, token, "/")

    async def sign_out(self, context: ApiContext, request: Request) -> Response:
        """POST /sign-out: here, or everywhere."""
        form = await _form(request)
        token = session_token(request)
        if token:
            refuse_forged(request, token, form.get("csrf", ""))
            visitor = await context.stores.sign_ins.visitor(token)
            if visitor and form.get("everywhere"):
                await context.stores.sign_ins.people.end_sessions(visitor.person.id)
            await context.stores.sign_ins.sign_out(token)
        answer = RedirectResponse("/sign-in", 303)
        answer.delete_cookie(COOKIE, path="/")
        return answer

    def _count(self, context: ApiContext, request: Request, email: str) -> None:
        if self._limit is None:
            self._limit = Rate.per_minute(count_of(_BUDGET), context.clock.monotonic)
        caller = network_of(request.client.host) if request.client else ""
        wait_s = self._limit.wait_s(("from", caller))
        if not wait_s and email:
            wait_s = self._limit.wait_s(("to", email.casefold()[:320]))
        if wait_s:
            context.ledger.refuse(_BUDGET)
            raise TooManyRequests("Too many tries: wait a minute.", wait_s, _BUDGET)


def refuse_elsewhere(context: ApiContext, request: Request) -> None:
    """Raise Forbidden if another site's page sends the form: the person would work under a stranger's name.

    Browsers send the needed header themselves; for addresses without TLS only the page's origin, which is `null` for a
    page without one, such as a frame in a sandbox.
    """
    fetch_site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own_hosts = {request.headers.get("host", ""), urlsplit(context.settings.api.public_url or "").netloc} - {""}
    if fetch_site in _ELSEWHERE if fetch_site else origin is not None and _parts_of(origin).netloc not in own_hosts:
        raise Forbidden(
            "This form was sent from another site: load the page again. Behind a proxy SEDERUNT_API__PUBLIC_URL has to "
            "be set."
        )


def signed_in(request: Request, context: ApiContext, token: str, to: str) -> Response:
    """Return a redirect with the cookie of a new session."""
    answer = RedirectResponse(to, 303)
    base = context.base_url(request.scope["scheme"], request.headers.get("host", ""))
    set_private_cookie(answer, COOKIE, token, base, for_s=SESSION_FOR.total_seconds())
    return answer


def set_private_cookie(
    answer: Response, name: str, value: str, base_url: str, *, for_s: float, path: str = "/"
) -> None:
    """Set a cookie that scripts cannot read, and that other sites' requests do not carry."""
    secure = base_url.startswith("https:")
    answer.set_cookie(name, value, max_age=int(for_s), path=path, httponly=True, samesite="lax", secure=secure)


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a small form, the last value of each name."""
    body = await whole_body(request, _FORM_BYTES)
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise InvalidConfig({"body": [f"The form has more than {_MOST_FIELDS} fields."]}) from None
    return {name: values[-1] for name, values in fields.items()}


def path_of_ours(target: str | None) -> str:
    """Return the target if it is a path of this site, else the first page's path."""
    text = target or "/"
    parts = _parts_of(text)
    is_ours = text.startswith("/") and not text.startswith(("//", "/\\")) and not parts.netloc and not parts.scheme
    return text if is_ours and "\n" not in text and "\r" not in text else "/"


def _parts_of(address: str) -> SplitResult:
    """Return the parts of an address; for an invalid one those of another site."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "no.address", "", "", "")


def _values(context: ApiContext, request: Request, fault: str = "", email: str = "") -> dict[str, object]:
    oidc = context.settings.oidc
    return {
        "fault": fault,
        "email": email,
        "next": path_of_ours(request.query_params.get("next")),
        "provider": oidc.name if oidc.issuer else None,
        "passwords": oidc.passwords or oidc.issuer is None,
    }
