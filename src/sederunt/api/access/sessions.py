"""Authenticate people by their session cookie, with protection against cross-site request forgery.

A browser sends the cookie by itself, even if another site caused the request. A request that changes something must
therefore carry the session's CSRF token, which only our own pages know.
"""

import re

from starlette.requests import HTTPConnection, Request, cookie_parser

from sederunt.accounts.keys import Caller
from sederunt.accounts.sign_in import SignIns, is_csrf
from sederunt.api.context import ApiContext
from sederunt.errors import Forbidden, Unauthorized

COOKIE = "sederunt_session"
CSRF_HEADER = "x-csrf-token"
_SESSIONS = re.compile(rf"(?:^|;)(\s*{COOKIE}\s*=[^;]*)")
_SAFE = frozenset({"GET", "HEAD"})


async def caller_of(context: ApiContext, request: Request) -> Caller:
    """Find the caller by key or by session. Raises Unauthorized, Forbidden, TooManyRequests."""
    header = request.headers.get("authorization")
    token = session_token(request) if header is None else None
    if token is None:
        return await context.auth.caller(header)
    visitor = await context.stores.sign_ins.visitor(token)
    if visitor is None:
        raise Unauthorized
    refuse_forged(request, token)
    context.auth.count(visitor.caller)
    return visitor.caller


def session_token(request: HTTPConnection) -> str | None:
    """Return the session cookie's value. Other cookies are not parsed: 64 kB of them take longer than an answer."""
    cookies = [cookie for header in request.headers.getlist("cookie") for cookie in _SESSIONS.findall(header)]
    return cookie_parser(cookies[-1])[COOKIE] if cookies else None


def refuse_forged(request: Request, token: str, csrf_token: str | None = None) -> None:
    """Raise Forbidden if a request changes something but did not come from our own page."""
    csrf_token = request.headers.get(CSRF_HEADER, "") if csrf_token is None else csrf_token
    if request.method not in _SAFE and not is_csrf(token, csrf_token):
        raise Forbidden("This page is too old, or the request came from elsewhere: load the page again.")


async def note_deed(sign_ins: SignIns, caller: Caller, action: str, target: str | None) -> None:
    """Write to the audit list who changed what."""
    by_person = caller.person_id is not None
    await sign_ins.people.note(caller.account_id, caller.name, action, target, by_person=by_person)
