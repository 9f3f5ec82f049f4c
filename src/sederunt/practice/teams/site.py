"""The server's half of the Teams-shaped site: launcher, client, roster over HTTP, and when which signal is sent."""

import itertools
import random
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from sederunt.practice import pages, sign_in
from sederunt.practice.meeting import Meeting
from sederunt.practice.people import ChatMessage, Occupant, Visitor
from sederunt.practice.script import Script, Variant
from sederunt.practice.sfu import PeerPlan
from sederunt.practice.teams import signals

HOST = "teams.microsoft.com"
LOGIN = "login.microsoftonline.com"
OFFICE = "www.office.com"
_LINK = re.compile(r"(?:meet/|l/meetup-join/19(?::|%3a)meeting_)(\d{9,16})", re.IGNORECASE)
_ACCOUNT_COOKIE = "practice_account"
_SIGN_IN = sign_in.SignInShape(
    title="Sign in to your account",
    heading="Sign in",
    first=sign_in.SignInStep(
        name="loginfmt",
        field='type="email" name="loginfmt" id="i0116" aria-label="Enter your email, phone, or Skype."',
        button='type="submit" id="idSIButton9">Next',
        fault='<div id="usernameError">This username may be incorrect.</div>',
    ),
    second=sign_in.SignInStep(
        name="passwd",
        field='type="password" name="passwd" id="i0118" aria-label="Password"',
        button='type="submit" id="idSIButton9">Sign in',
        fault='<div id="passwordError">Your account or password is incorrect.</div>',
    ),
    verify='<div id="idDiv_SAOTCC_Title" role="heading">Enter code</div><p>Verify your identity</p>'
    '<form method=post><input type="tel" name="otc"><input type="submit" value="Verify"></form>',
    robot='<h1>Help us beat the robots</h1><img width=200 height=70 alt="" src="/GetHIPData">'
    '<form method=post><input name="solution"><input type="submit" value="Next"></form>',
    stay_button='type="submit" id="idSIButton9">Yes',
    cookies=(_ACCOUNT_COOKIE,),
    cookie_domain=HOST,
    return_parameter="redirect_uri",
    home=f"https://{OFFICE}/?auth=2",
    own_cookie="ESTSAUTHPERSISTENT",
)
_OFFICE_HOME = "<!doctype html><html lang=en><title>Home | Microsoft 365</title><h1>Welcome to Microsoft 365</h1>"
MAIN_CHANNEL = "main-channel"  # the page opens it
# Teams enforces Trusted Types whatever the meeting.
_PAGE = Variant(csp="trusted_types")


class TeamsSite:
    """Microsoft Teams' shape. Signals: trouter frames, an HTTP roster, and `dsh` on the page's `main-channel`."""

    service = "teams"
    hosts: tuple[str, ...] = (
        HOST,
        "*.teams.microsoft.com",
        "teams.live.com",
        "teams.cloud.microsoft",
        LOGIN,
        "login.live.com",
        OFFICE,
    )
    slots = 1

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._first: dict[str, int] = {}  # code → source that spoke first, where the dominant speaker is stuck

    def new_code(self) -> str:
        return f"9{random.randrange(10**12):012d}"

    def address(self, code: str, script: Script) -> str:
        return f"https://{HOST}/meet/{code}?p=practice{code[-4:]}"

    def key(self, code: str, number: int, *, is_bot: bool = False) -> str:
        return f"8:{'teamsvisitor' if is_bot else 'orgid'}:{uuid.uuid5(uuid.NAMESPACE_URL, f'{code}/{number}')}"

    def source(self, number: int) -> int:
        return 2000 + 10 * number

    def plan(self, variant: Variant) -> PeerPlan:
        channel = MAIN_CHANNEL if variant.offers == "page" else ""  # our own offers have no section for channels
        return replace(PeerPlan.of(variant), audio_slots=1, stream_ids=("mainAudio-2",), page_channel=channel)

    async def answer(self, request: Request, meetings: dict[str, Meeting]) -> Response | None:
        host, path = request.url.hostname, request.url.path.strip("/")
        if host == OFFICE:
            return (
                RedirectResponse(_login_address(_SIGN_IN.home), 302) if path == "login" else HTMLResponse(_OFFICE_HOME)
            )
        if host in (LOGIN, "login.live.com"):
            return await sign_in.serve(request, _SIGN_IN)
        if path.startswith(("api/callagent/", "api/flightproxy/")):
            asked = path.rsplit("/", 1)[-1]
            meeting = next((each for code, each in meetings.items() if asked in (code, _call_of(code))), None)
            told = meeting is not None and meeting.variant.signals == "network"
            return JSONResponse({"roster": signals.roster(meeting.cast.present())} if meeting and told else {})
        if path in ("v2", "light-meetings/launch"):
            return pages.html("teams", "index.html", _PAGE)
        if path == "dl/launcher/launcher.html":
            return pages.html("teams", "launcher.html", _PAGE)
        found = _LINK.match(path)
        return self._open_link(request, meetings.get(found[1])) if found else None

    def greeting(self, meeting: Meeting, cookies: dict[str, str]) -> dict[str, object]:
        """Return what the page is told on arrival, besides the variant."""
        account = _signed_in(cookies)
        guests = "prejoin" if account else "sign_in"
        first = {"invalid": "invalid", "ended": "already_over", "sign_in": guests}.get(meeting.variant.entry, "prejoin")
        return {
            "call": _call_of(meeting.code),
            "show": "already_over" if meeting.is_over else first,
            "account": sign_in.shown_name(account) if account else None,
        }

    def page_sent(self, meeting: Meeting, visitor: Visitor, label: str, data: bytes | str) -> None:
        """Take subscriptions of video, which change nothing: all bots get all video anyway."""

    def roster_changed(self, meeting: Meeting, visitor: Visitor, changed: Sequence[Occupant]) -> None:
        if meeting.variant.quirks.deltas and visitor.person in changed:
            # All who are here are told of only by the answer to a request.
            changed = [person for person in changed if person is visitor.person]
        self._tell_of_another_call(meeting, visitor)
        self._frame(visitor, signals.roster_frame(next(self._numbers), _call_of(meeting.code), changed))

    def chat_sent(self, meeting: Meeting, visitor: Visitor, message: ChatMessage) -> None:
        """Say nothing on a channel: the chat pane shows it."""

    def speaking_changed(self, meeting: Meeting, visitor: Visitor, csrcs: Sequence[int]) -> None:
        self._tell_of_another_call(meeting, visitor)
        if visitor.peer is None or (meeting.variant.quirks.stuck and not csrcs):
            return
        history = list(reversed(csrcs))
        if meeting.variant.quirks.stuck:
            history = [self._first.setdefault(meeting.code, history[0])]
        visitor.peer.send_channel(MAIN_CHANNEL, signals.dominant_speakers(history))

    def removed(self, meeting: Meeting, visitor: Visitor) -> None:
        host = next((person.key for person in meeting.cast.people if person.host), None)
        self._frame(
            visitor, signals.end_frame(next(self._numbers), _call_of(meeting.code), signals.REMOVED, sender=host)
        )

    def denied(self, meeting: Meeting, visitor: Visitor) -> None:
        self._frame(visitor, signals.end_frame(next(self._numbers), _call_of(meeting.code), signals.DENIED))

    def ended(self, meeting: Meeting, visitor: Visitor) -> None:
        self._frame(visitor, signals.end_frame(next(self._numbers), _call_of(meeting.code), signals.ENDED))

    def _tell_of_another_call(self, meeting: Meeting, visitor: Visitor) -> None:
        if not meeting.variant.quirks.other_call:
            return
        code = f"{meeting.code}/another"
        strangers = [
            replace(person, name=f"Stranger {person.number}", key=self.key(code, person.number), present=True)
            for person in meeting.cast.people
            if not person.bot
        ]
        self._frame(visitor, signals.roster_frame(next(self._numbers), _call_of(code), strangers))

    def _frame(self, visitor: Visitor, frame: str) -> None:
        if visitor.line is not None:
            visitor.line(frame)

    def _open_link(self, request: Request, meeting: Meeting | None) -> Response:
        """Return a plain link: launcher, or straight to the client, or to the login host."""
        guests_refused = meeting is not None and meeting.variant.entry == "sign_in" and meeting.variant.launcher
        if guests_refused and not _signed_in(request.cookies):
            return RedirectResponse(_login_address(str(request.url)), 302)
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        if meeting is None or meeting.variant.launcher:
            return pages.html("teams", "launcher.html", _PAGE)
        return RedirectResponse(f"/v2/?meetingjoin=true#{path}{'&' if '?' in path else '?'}anon=true", 302)


def _call_of(code: str) -> str:
    """Return the id of a meeting's call, which no link tells."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, code))


def _login_address(back: str) -> str:
    query = urlencode({"client_id": "practice", "redirect_uri": back})
    return f"https://{LOGIN}/common/oauth2/v2.0/authorize?{query}"


def _signed_in(cookies: Mapping[str, str]) -> str | None:
    """Return the account of a session that is still good; one called "stale" is void."""
    account = cookies.get(_ACCOUNT_COOKIE)
    return account if account != "stale" else None
