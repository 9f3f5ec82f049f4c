"""Sign-in by an OpenID provider: the way there and back, and identities that people link to themselves."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sederunt.accounting import Rate
from sederunt.accounts.openid import ATTEMPT_S, OpenIdProvider, SignInAttempt
from sederunt.accounts.openid_people import OpenIdPeople
from sederunt.api.access.refusal_delay import network_of
from sederunt.api.access.sessions import session_token
from sederunt.api.context import ApiContext
from sederunt.api.failures import json_response
from sederunt.console.page import Page
from sederunt.console.pages.entry import path_of_ours, set_private_cookie, signed_in
from sederunt.errors import Forbidden, NotFound, TooManyRequests
from sederunt.model.budgets import count_of

OUT, BACK = "/sign-in/openid", "/sign-in/openid/return"
_COOKIE = "sederunt_openid"
_ANSWERS_PER_MINUTE = count_of("openid_answers")  # per network of callers: an office comes through one


class OpenIdEntry:
    """GET /sign-in/openid, and the address to which the provider sends people back."""

    def __init__(self) -> None:
        self._limit: Rate | None = None

    async def out(self, context: ApiContext, request: Request) -> Response:
        """Send the browser to the provider."""
        attempt = SignInAttempt.begin(context.clock, path_of_ours(request.query_params.get("next")))
        address = await _provider(context, request).address(attempt, _redirect_uri(context, request))
        return _with_attempt(RedirectResponse(address, 303), context, request, attempt)

    async def back(self, context: ApiContext, request: Request) -> Response:
        """Let in the person whom the provider names, or link the identity to the person who is signed in."""
        self._refuse_hammering(context, request)
        answer = dict(request.query_params)
        provider, sealer = _provider(context, request), context.stores.sealer
        cookie = request.cookies.get(_COOKIE, "")
        attempt = SignInAttempt.opened(cookie, answer.get("state", ""), sealer, context.clock)
        claims = await provider.claims(attempt, answer, _redirect_uri(context, request))
        people = OpenIdPeople(provider.settings, context.database, context.stores.sign_ins)
        if attempt.person_id:
            token = session_token(request)
            visitor = await context.stores.sign_ins.visitor(token) if token else None
            if visitor is None or str(visitor.person.id) != attempt.person_id:
                raise Forbidden("Sign in first, then connect your sign-in under People.")
            await people.link(provider.issuer, claims, visitor.person)
            response: Response = RedirectResponse("/people#profile", 303)
        else:
            response = signed_in(request, context, await people.enter(provider.issuer, claims), attempt.next)
        response.delete_cookie(_COOKIE, path=OUT)
        return response

    def _refuse_hammering(self, context: ApiContext, request: Request) -> None:
        """Raise TooManyRequests for callers that would make us ask the provider too often."""
        if self._limit is None:
            self._limit = Rate.per_minute(_ANSWERS_PER_MINUTE, context.clock.monotonic)
        wait_s = self._limit.wait_s(network_of(request.client.host) if request.client else "")
        if wait_s:
            raise TooManyRequests("Too many tries: wait a minute.", wait_s, "openid_answers")


async def link_identity(page: Page) -> Response:
    """POST /profile/identity: where one's own sign-in at the provider is connected."""
    attempt = SignInAttempt.begin(page.context.clock, "/people", str(page.visitor.person.id))
    provider = _provider(page.context, page.request)
    address = await provider.address(attempt, _redirect_uri(page.context, page.request))
    return _with_attempt(json_response({"address": address}), page.context, page.request, attempt)


async def unlink_identity(page: Page) -> Response:
    """DELETE /profile/identity"""
    provider = _provider(page.context, page.request)
    people = OpenIdPeople(provider.settings, page.context.database, page.context.stores.sign_ins)
    if not await people.identities.unlink(provider.issuer, page.visitor.person.id):
        raise NotFound("There is no connected sign-in that could be taken away.")
    return json_response({"message": "Your sign-in is connected no more."})


def _provider(context: ApiContext, request: Request) -> OpenIdProvider:
    """Return this process's provider. Raises NotFound if the operator set none."""
    if context.settings.oidc.issuer is None:
        raise NotFound("This installation has no OpenID provider: SEDERUNT_OIDC__ISSUER is not set.")
    state = request.app.state
    if not hasattr(state, "openid"):
        state.openid = OpenIdProvider(context.settings.oidc, context.clock)
    provider: OpenIdProvider = state.openid
    return provider


def _base(context: ApiContext, request: Request) -> str:
    return context.base_url(request.scope["scheme"], request.headers.get("host", ""))


def _redirect_uri(context: ApiContext, request: Request) -> str:
    return _base(context, request) + BACK


def _with_attempt(answer: Response, context: ApiContext, request: Request, attempt: SignInAttempt) -> Response:
    sealed = attempt.sealed(context.stores.sealer)
    set_private_cookie(answer, _COOKIE, sealed, _base(context, request), for_s=ATTEMPT_S, path=OUT)
    return answer
