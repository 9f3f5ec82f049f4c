"""The server's half of the Zoom-shaped site: launch page, web client, and when which event is sent."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sederunt.practice import pages, sign_in
from sederunt.practice.meeting import Meeting
from sederunt.practice.people import ChatMessage, Occupant, Visitor
from sederunt.practice.script import Script, Variant
from sederunt.practice.sfu import PeerPlan
from sederunt.practice.zoom import signals

CLIENT = "app.zoom.us"
AUDIO_CHANNEL = "ZoomWebclientAudioDataChannel"
MOST_OWN_TRACKS = 10  # of a larger cast the later ones are not heard
_ACCOUNT_COOKIE = "practice_account"
_SIGN_IN = sign_in.SignInShape(
    title="Sign In | Zoom",
    heading="Sign In",
    first=sign_in.SignInStep(
        name="email",
        field='type="email" id="email" name="email" aria-label="Email Address"',
        button='id="js_btn_login">Next',
        fault='<div class="error">Incorrect email or password</div>',
    ),
    second=sign_in.SignInStep(
        name="password",
        field='type="password" id="password" name="password" aria-label="Password"',
        button='id="js_btn_login">Sign In',
        fault='<div class="error">Incorrect email or password</div>',
    ),
    cookies=(_ACCOUNT_COOKIE,),
    cookie_domain="zoom.us",
    return_parameter="backto",
    home="https://zoom.us/wc",
)
_CLIENT_PATH = re.compile(r"wc/(?:join/(\d{8,11})|(\d{8,11})/(?:join|start|client))")
_LINK = re.compile(r"[jsw]/(\d{8,11})")


class ZoomSite:
    """Zoom's shape. Signals: JSON events on a socket that a Worker of the page holds."""

    service = "zoom"
    hosts: tuple[str, ...] = ("zoom.us", "*.zoom.us", "zoom.com", "*.zoom.com")
    slots = 1

    def new_code(self) -> str:
        return str(random.randrange(80_000_000_000, 90_000_000_000))

    def address(self, code: str, script: Script) -> str:
        return f"https://us05web.zoom.us/j/{code}?pwd=practice.1"

    def key(self, code: str, number: int, *, is_bot: bool = False) -> str:
        return str(signals.node_id(number))

    def source(self, number: int) -> int:
        return signals.node_id(number)

    def plan(self, variant: Variant) -> PeerPlan:
        if variant.audio == "webaudio":
            return PeerPlan(audio_slots=0, audio_channel=AUDIO_CHANNEL, loss=variant.loss)
        streams = tuple(signals.audio_stream(number + 1) for number in range(_tracks(variant)))
        return replace(
            PeerPlan.of(variant),
            audio_slots=len(streams),
            stream_ids=streams,
            csrcs=False,  # not available on Zoom's web client
        )

    async def answer(self, request: Request, meetings: dict[str, Meeting]) -> Response | None:
        path = request.url.path.strip("/")
        client = _CLIENT_PATH.fullmatch(path)
        if client:
            meeting = meetings.get(client[1] or client[2])
            page = pages.html("zoom", "index.html", meeting.variant if meeting else Variant())
            if ticket := request.query_params.get("zak"):  # a token signs in without any page; "stale" is void
                page.set_cookie(_ACCOUNT_COOKIE, "" if ticket == "stale" else ticket, secure=True)
            return page
        link = _LINK.fullmatch(path)
        if link:
            return self._open_link(request, link[1], meetings.get(link[1]))
        if path == "signin":
            return await sign_in.serve(request, _SIGN_IN)
        if path.startswith("wc"):
            return HTMLResponse("<!doctype html><title>Join a Meeting - Zoom</title><h1>Join a Meeting</h1>")
        return None

    def greeting(self, meeting: Meeting, cookies: dict[str, str]) -> dict[str, object]:
        """Return what the page is told on arrival, besides the variant."""
        account = cookies.get(_ACCOUNT_COOKIE)
        guests = "prejoin" if account else "sign_in"
        first = {"invalid": "invalid", "ended": "already_over", "sign_in": guests}.get(meeting.variant.entry, "prejoin")
        return {
            "show": "already_over" if meeting.is_over else first,
            "account": sign_in.shown_name(account) if account else None,
            "audio_channel": AUDIO_CHANNEL,
            "audio_tracks": _tracks(meeting.variant),
        }

    def page_sent(self, meeting: Meeting, visitor: Visitor, label: str, data: bytes | str) -> None:
        """Take nothing: what the page sends on its channels does not matter here."""

    def roster_changed(self, meeting: Meeting, visitor: Visitor, changed: Sequence[Occupant]) -> None:
        if visitor.line is None:
            return  # told when the socket opens
        known = visitor.seen
        added = [person for person in changed if person.present and person.csrc not in known]
        updated = [person for person in changed if person.present and person.csrc in known]
        gone = [person for person in changed if not person.present and person.csrc in known]
        known |= {person.csrc for person in added}
        known -= {person.csrc for person in gone}
        self._event(visitor, signals.roster_event(added, updated, gone))

    def chat_sent(self, meeting: Meeting, visitor: Visitor, message: ChatMessage) -> None:
        """Say nothing on a channel: the chat panel shows it."""

    def speaking_changed(self, meeting: Meeting, visitor: Visitor, csrcs: Sequence[int]) -> None:
        if meeting.variant.marks:
            self._event(visitor, signals.speakers_event(list(reversed(csrcs))))

    def removed(self, meeting: Meeting, visitor: Visitor) -> None:
        """Say nothing on a channel: the modal tells."""

    def denied(self, meeting: Meeting, visitor: Visitor) -> None:
        """Say nothing on a channel: the modal tells."""

    def ended(self, meeting: Meeting, visitor: Visitor) -> None:
        """Say nothing on a channel: the modal tells."""

    def _event(self, visitor: Visitor, event: str) -> None:
        if visitor.line is not None:
            visitor.line(event)

    def _open_link(self, request: Request, code: str, meeting: Meeting | None) -> Response:
        """Return a plain link: the launch page, or straight to the client."""
        if meeting is None or meeting.variant.launcher:
            return pages.html("zoom", "launcher.html", Variant())
        return RedirectResponse(f"https://{CLIENT}/wc/{code}/join?{request.url.query}", 302)


def _tracks(variant: Variant) -> int:
    """Tracks of sound: the mix, or one for each person that may be in the cast, in its order."""
    return MOST_OWN_TRACKS if variant.audio == "own_tracks" else 1
