"""The server's half of the Meet-shaped site: pages, RPCs, sign-in, and when which signal is sent."""

import base64
import itertools
import random
import re
import string
from collections.abc import Sequence
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from sederunt.practice import pages, sign_in
from sederunt.practice.gmeet import signals
from sederunt.practice.meeting import Meeting
from sederunt.practice.people import ChatMessage, Occupant, Visitor
from sederunt.practice.script import Script, Variant
from sederunt.practice.sfu import PeerPlan

HOST = "meet.google.com"
ACCOUNTS = "accounts.google.com"
_CODE = re.compile(r"[a-z]{3}-[a-z]{4}-[a-z]{3}")
# On part of the sessions audio reaches no receiver; the page plays what it decoded itself.
AUDIO_CHANNEL = "media-audio"
OVER_CHANNEL = ("webaudio", "beside_receivers")
SPEAKERS_CHANNEL = "dcrpc"
_ACCOUNT_COOKIE = "SID"
_SIGN_IN = sign_in.SignInShape(
    title="Sign in - Google Accounts",
    heading="Sign in</h1><p>Use your Google Account to continue to Google Meet</p><h1>",
    first=sign_in.SignInStep(
        name="identifier",
        field='type="email" id="identifierId" name="identifier" aria-label="Email or phone"',
        button='id="identifierNext"><span>Next</span>',
        fault="<div>Couldn’t find your Google Account</div>",
    ),
    second=sign_in.SignInStep(
        name="Passwd",
        field='type="password" name="Passwd" aria-label="Enter your password"',
        button='id="passwordNext"><span>Next</span>',
        fault="<div>Wrong password. Try again or click Forgot password to reset it.</div>",
    ),
    verify="<h1>Verify it’s you</h1><p>To help keep your account safe, Google wants to make sure it’s really you</p>"
    '<form method=post><input type="tel" id="totpPin" name="totpPin"><button>Next</button></form>',
    robot='<h1>Sign in</h1><img id="captchaimg" width=200 height=70 alt=""><p>Type the text you hear or see</p>'
    '<form method=post><input name="ca" id="ca"><button>Next</button></form>',
    cookies=("SID", "HSID", "SSID", "APISID", "SAPISID", "__Secure-1PSID"),
    cookie_domain="google.com",
    return_parameter="continue",
    home=f"https://{HOST}/",
)


class MeetSite:
    """Google Meet's shape. Signals: the SyncMeetingSpaceCollections answer and the `collections` data channel."""

    service = "gmeet"
    hosts: tuple[str, ...] = (HOST, ACCOUNTS, "workspace.google.com", "www.google.com")
    slots = 3

    def __init__(self) -> None:
        self._numbers = itertools.count(1)  # of roster messages

    def new_code(self) -> str:
        letters = "".join(random.choices(string.ascii_lowercase, k=10))
        return f"{letters[:3]}-{letters[3:7]}-{letters[7:]}"

    def address(self, code: str, script: Script) -> str:
        return f"https://{HOST}/{code}"

    def key(self, code: str, number: int, *, is_bot: bool = False) -> str:
        return f"spaces/{space(code)}/devices/{100 + number}"

    def source(self, number: int) -> int:
        return 1000 + number

    def plan(self, variant: Variant) -> PeerPlan:
        if variant.audio in OVER_CHANNEL:
            slots = 0 if variant.audio == "webaudio" else self.slots
            return PeerPlan(audio_slots=slots, channel="collections", audio_channel=AUDIO_CHANNEL, loss=variant.loss)
        return replace(
            PeerPlan.of(variant),
            audio_slots=self.slots,
            video_stream_ids=tuple(signals.video_stream(number + 1) for number in range(variant.video)),
            channel="collections",
        )

    async def answer(self, request: Request, meetings: dict[str, Meeting]) -> Response | None:
        host, path = request.url.hostname, request.url.path.strip("/")
        if host == ACCOUNTS:
            return await sign_in.serve(request, _SIGN_IN)
        if host != HOST:
            return HTMLResponse("<!doctype html><title>Google Workspace</title><h1>Online video calls</h1>")
        if path.startswith("$rpc/"):
            return self._rpc(path.rsplit("/", 1)[-1], meetings.get(request.headers.get("x-meeting", "")))
        if not _CODE.fullmatch(path):
            return None
        meeting = meetings.get(path)
        if meeting and meeting.variant.entry == "sign_in" and not request.cookies.get(_ACCOUNT_COOKIE):
            return RedirectResponse(
                f"https://{ACCOUNTS}/v3/signin/identifier?continue=https%3A%2F%2F{HOST}%2F{path}", 302
            )
        return pages.html("gmeet", "index.html", meeting.variant if meeting else Variant())

    def greeting(self, meeting: Meeting, cookies: dict[str, str]) -> dict[str, object]:
        """Return what the page is told on arrival, besides the variant."""
        account = cookies.get(_ACCOUNT_COOKIE)
        stale = meeting.variant.entry == "sign_in" and account == "stale"
        first = {"invalid": "invalid", "ended": "already_over"}.get(meeting.variant.entry, "prejoin")
        return {
            "space": space(meeting.code),
            "account": sign_in.shown_name(account) if account and not stale else None,
            "show": "stale" if stale else "already_over" if meeting.is_over else first,
        }

    def page_sent(self, meeting: Meeting, visitor: Visitor, label: str, data: bytes | str) -> None:
        """Take nothing: what the page sends on its channels does not matter here."""

    def roster_changed(self, meeting: Meeting, visitor: Visitor, changed: Sequence[Occupant]) -> None:
        _send(visitor, self._roster([*changed], visitor, sources=meeting.roster.maps_sources))

    def _roster(self, people: Sequence[Occupant], visitor: Visitor, *, sources: bool = True) -> bytes:
        return signals.roster_event(next(self._numbers), people, visitor.person, sources=sources)

    def chat_sent(self, meeting: Meeting, visitor: Visitor, message: ChatMessage) -> None:
        _send(visitor, signals.chat_event(message))

    def speaking_changed(self, meeting: Meeting, visitor: Visitor, csrcs: Sequence[int]) -> None:
        """Say nothing but to sessions whose audio reaches no receiver: Meet tells by CSRC who speaks."""
        if meeting.variant.audio in OVER_CHANNEL and visitor.peer is not None:
            visitor.peer.send_channel(SPEAKERS_CHANNEL, signals.speakers_event(meeting.cast.present(), csrcs))

    def removed(self, meeting: Meeting, visitor: Visitor) -> None:
        if visitor.person is not None:
            _send(visitor, self._roster([visitor.person], visitor))

    def denied(self, meeting: Meeting, visitor: Visitor) -> None:
        """Say nothing on a channel: the page's text tells."""

    def ended(self, meeting: Meeting, visitor: Visitor) -> None:
        """Say nothing on a channel: the page's text tells."""

    def _rpc(self, method: str, meeting: Meeting | None) -> Response:
        if meeting is None or meeting.variant.signals == "page":
            return Response(status_code=404)
        if method == "SyncMeetingSpaceCollections":
            latest = next(iter(reversed(meeting.in_call())), None)
            body = signals.sync_response(next(self._numbers), meeting.cast.present(), latest.person if latest else None)
        elif method == "CreateMeetingDevice":
            body = signals.device_created(f"spaces/{space(meeting.code)}", suspected=meeting.variant.suspected)
        else:
            return Response(status_code=404)
        return PlainTextResponse(base64.b64encode(body).decode())


def space(code: str) -> str:
    """Return the space that a code belongs to; any stable name will do."""
    return base64.urlsafe_b64encode(code.encode()).decode().rstrip("=")[:12]


def _send(visitor: Visitor, data: bytes) -> None:
    if visitor.peer is not None:
        visitor.peer.send_channel("collections", data)
