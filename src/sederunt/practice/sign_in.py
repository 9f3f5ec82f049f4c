"""Sign-in pages that work: an account, a password, and a cookie at the end.

Who comes with the cookie of a session is led on at once, unless it is called `stale`. Every account but `nobody@…`
exists, every password but `wrong` is right. The name that people see is the part of the address before the @. After
the right password `verify@…` is asked for a code that nobody has, `robot@…` for the letters in a picture, and
`lost@…` is shown a page that says nothing.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

_WRONG = "wrong"


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInStep:
    """One page with one field. Attributes are written into the tags as they are."""

    name: str  # of the form field
    field: str
    button: str  # attributes, >, text
    fault: str  # what is shown when the answer was refused


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInShape:
    """How one site's pages look, and what they leave behind."""

    title: str
    heading: str
    first: SignInStep  # asks for the account
    second: SignInStep  # asks for the password
    stay_button: str = ""  # a last question before it is over; empty for none
    cookies: tuple[str, ...]
    cookie_domain: str
    return_parameter: str
    home: str  # where one lands without a return address
    own_cookie: str = ""  # of the sign-in host, where its session is another than the site's
    verify: str = "<h1>Enter the code</h1>"  # HTML that two accounts see instead of the way back
    robot: str = "<h1>Verify you are a real person</h1>"


async def serve(request: Request, shape: SignInShape) -> Response:
    """Answer any request to a sign-in host: the next page, or the way back with the cookies set."""
    target = request.query_params.get(shape.return_parameter) or shape.home
    if request.method == "GET" and _has_session(request, shape):
        return RedirectResponse(target, 303)
    form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
    account, proof = form.get(shape.first.name, ""), form.get(shape.second.name, "")
    known = {shape.first.name: account}
    if not account or account.startswith("nobody"):
        return _page(shape, shape.first, {}, refused=bool(account))
    if not proof or proof == _WRONG:
        return _page(shape, shape.second, known, refused=bool(proof))
    hurdle = {"verify": shape.verify, "robot": shape.robot, "lost": "<p>One moment</p>"}.get(shown_name(account))
    if hurdle is not None:
        return HTMLResponse(f"<!doctype html><html lang=en><title>{shape.title}</title>{hurdle}")
    if shape.stay_button and not form.get("stay"):
        last = SignInStep(name="stay", field='type="hidden" name="stay" value="1"', button=shape.stay_button, fault="")
        return _page(shape, last, known | {shape.second.name: proof}, question="<p>Stay signed in?</p>")
    host = shape.cookie_domain.removeprefix(".")
    query = {"to": target, "account": account, "cookie": list(shape.cookies), "domain": shape.cookie_domain}
    door = {"google.com": "accounts.google.com"}.get(host, host)
    answer = RedirectResponse(f"https://{door}/practice/session?{urlencode(query, doseq=True)}", 303)
    if shape.own_cookie:
        answer.set_cookie(shape.own_cookie, account, secure=True, path="/")
    return answer


def _has_session(request: Request, shape: SignInShape) -> bool:
    return request.cookies.get(shape.own_cookie or shape.cookies[0], "") not in ("", "stale")


def session(request: Request) -> Response:
    """Set the account's cookie on this host: for sites whose sign-in pages are on another one."""
    answer = RedirectResponse(request.query_params["to"], 303)
    for name in request.query_params.getlist("cookie"):
        answer.set_cookie(
            name, request.query_params["account"], secure=True, path="/", domain=request.query_params["domain"]
        )
    return answer


def shown_name(account: str) -> str:
    """Return what people see of an account."""
    return account.partition("@")[0]


def _page(
    shape: SignInShape, step: SignInStep, carried: Mapping[str, str], *, refused: bool = False, question: str = ""
) -> Response:
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in carried.items()
    )
    return HTMLResponse(
        f"<!doctype html><html lang=en><title>{shape.title}</title><h1>{shape.heading}</h1>{question}"
        f"{step.fault if refused else ''}"
        f"<form method=post>{hidden}<input {step.field}><button {step.button}</button></form>"
    )
