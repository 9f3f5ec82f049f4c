"""Google Meet: the signs on its pages, and their meanings. Source tags and dates: docs/platforms.md."""

from sederunt.model.status import MEETING_FULL, StopReason
from sederunt.platforms.evidence import DIALOGS, EvidenceRow, Phase, Showing
from sederunt.platforms.gmeet import labels
from sederunt.platforms.notices import CONSENT_GIVEN
from sederunt.platforms.page_state import PageState
from sederunt.platforms.refusals import endings_by_meaning, refusals_by_meaning
from sederunt.platforms.rows import Rows, phrases
from sederunt.platforms.shared import EndTexts, call_endings, call_notices, failed_pages, lobby_endings, named_controls

_SITE = "gmeet"
_ELSEWHERE = r"^https?://(?!(?:[a-z0-9-]+\.)*meet\.google\.com(?:[:/?#]|$))"
_CONTROLS = ("gmeet.controls", "gmeet.controls_named")

# Subtrees that people fill. A chat message, a caption or a name may say anything, even that the meeting has ended.
NEVER = (
    'aside[aria-label="Side panel"]',
    '[aria-label*="chat messages" i]',
    '[aria-label="In-call messages"]',
    "[data-message-id]",
    '[role="log"]',
    '[role="region"][aria-label*="Captions" i]',
    '[role="list"][aria-label="Participants"]',
    '[role="listitem"][data-participant-id]',
    "[data-participant-id]",
    "[data-requested-participant-id]",
    "[data-self-name]",
    "[data-cohort-id]",
    "span.notranslate",
    "[contenteditable]",
)
CTA_NAMES = (
    phrases(
        "Ask to join | Join now | Ask to join anyway | Ask to join without camera | Ask to join* | Join the call now | "
        "Join anyway | Join here too | Switch here | Join | Join meeting | Enter meeting"
    )
    + labels.JOIN
)
SHARING = (
    r"\b(?:audio|video|media|captions?|transcripts?)\b.{0,40}\b(?:will be|is being|are being|is|are) shared with\b"
)
_SHARING_GATES = (*DIALOGS, "main", "form")
NAME_FIELDS = (
    'input[type="text"][aria-label="Your name" i]',
    'input[aria-label*="name" i]:not([type="hidden"])',
    labels.beginning(labels.NAME, "input"),
    'input[jsname][type="text"]',
    'input[placeholder*="name" i]',
    'input[type="text"]:not([aria-hidden="true"])',
)
_SURE_NAME_FIELD = ",".join(NAME_FIELDS[:3])

_STRONG_CONTROLS = (
    '[aria-label="Turn on captions" i],[aria-label="Turn off captions" i],' + labels.beginning(labels.CAPTIONS),
    '[aria-label^="Chat with everyone" i],button[aria-label="In-call messages"],' + labels.beginning(labels.CHAT),
    '[aria-label="Show everyone" i],button[aria-label^="People" i],nav button[data-panel-id="1"],'
    + labels.beginning(labels.PEOPLE, "button"),
)
_OTHER_CONTROLS = (
    '[role="region"][aria-label="Call controls"]',
    'button[aria-label*="Raise hand" i],button[aria-label*="Lower hand" i]',
    'button[aria-label*="Send a reaction" i]',
    'button[aria-label*="Share screen" i],button[aria-label*="Present now" i]',
    'button[aria-label*="Meeting details" i]',
    'button[aria-label*="Meeting tools" i]',
    "[data-self-name]",
)
# The lobby has none of these.
_CONTROL_NAMES = phrases(
    "Turn on captions | Turn off captions | Chat with everyone* | Show everyone | People | People -* | Raise hand | "
    "Lower hand | Send a reaction | Meeting details | Meeting tools"
)

_WAITING = phrases(
    "Asking to be let in | Asking to join | You'll join the call when someone lets you in | "
    "join the call when someone lets you in | brings you into the call | Please wait until a meeting host | "
    "admits you to the call | Waiting for the host | You're in the waiting room | waiting to be let in | "
    "Your request to join"
)
_BLOCKED = phrases(
    "You can't join this video call | You can't join this meeting | You can't join this call | "
    "There is a problem connecting to this video call | There's a problem connecting to this video call"
)
_BLOCKED_STEMS = (
    r"nicht an diese[mr] (?:video)?(?:anruf|besprechung|konferenz|meeting)\w* teilnehmen",
    r"(?:pouvez|peux|peut) pas participer à (?:cet appel|cette réunion)",
    r"no puedes? unirte a est[ae] (?:video)?(?:llamada|reunión)",
    r"n[aã]o (?:é possível|pode) participar (?:d|n)?est[ae] (?:video)?(?:chamada|reunião)",
    r"non puoi partecipare a quest[ao] (?:video)?(?:chiamata|riunione)",
    r"(?:通話|会議)(?:に|には)参加できません",
)
_ENDS = EndTexts(
    removed=(
        phrases(
            "You've been removed from the meeting | You've been removed from this meeting | "
            "You have been removed from the meeting | removed from the meeting | You were removed from the meeting | "
            "Removed from meeting | You can't rejoin this meeting"
        ),
        "A B2 V",
    ),
    ended=(
        phrases(
            "Your host ended the meeting for everyone | ended the meeting for everyone | The call ended | Call ended | "
            "Meeting ended | The meeting has ended | This meeting has ended | Meeting has ended"
        ),
        "A V B2",
    ),
    left=phrases("You left the meeting | You've left the call | You've left the meeting"),
    loud=("h1", "h2", '[role="heading"]', ".roSPhc", *DIALOGS),
    controls=_CONTROLS,
)

_seen = Rows(_SITE)
_entry = Rows(_SITE, phase=Phase.BEFORE)
_refused = Rows(_SITE, phase=Phase.BEFORE, state=PageState.REFUSED)
_challenged = Rows(_SITE, phase=Phase.BEFORE, state=PageState.CHALLENGED)
_over = Rows(_SITE, phase=Phase.AFTER, state=PageState.OVER, reason=StopReason.MEETING_ENDED)
_lobby = Rows(_SITE, state=PageState.LOBBY)
_in_call = Rows(_SITE, state=PageState.IN_CALL, showing=Showing.LAID_OUT)
_entering = Rows(_SITE, phase=Phase.BEFORE, state=PageState.IN_CALL, showing=Showing.LAID_OUT)
_notice = Rows(_SITE, state=PageState.DIALOG, within=DIALOGS)

# Signals and addresses: people can fake these least.
_ADDRESSES = (
    _seen.signal(
        "signal.removed",
        "self_status:7",
        "A B2",
        phase=Phase.AFTER,
        state=PageState.REMOVED,
        reason=StopReason.KICKED,
        unless=_CONTROLS,  # it may be of a connection that the page has replaced: `told_end` judges it beside a call
    ),
    # A silent session check visits this address and returns.
    _entry.address(
        "address.sign_in",
        r"^https?://accounts\.google\.com(?:[:/?#]|$)",
        "A O",
        state=PageState.SIGN_IN_NEEDED,
        settle_s=2.0,
    ),
    *failed_pages(
        _SITE, server_s=5.0, elsewhere=_ELSEWHERE, elsewhere_s=1.5, source="A S B2", state=PageState.CHALLENGED
    ),
    _over.address("address.gone_after", (_ELSEWHERE, r"//meet\.google\.com/landing"), "A V", settle_s=2.0),
    # The invisible scoring frame is always present.
    _challenged.selector(
        "captcha",
        'iframe[src*="recaptcha"],iframe[title*="recaptcha" i]',
        "V",
        least_px=(120, 40),
        settle_s=1.0,
    ),
)

_WITNESSES = (
    _seen.signal("signal.suspected", "suspected_bot", "B2"),
    # The countdown of a hard block, and the sentence below its heading.
    _seen.text("sends_away", "Returning to home screen | unless invited or admitted", "V I"),
    _seen.selector("controls", _STRONG_CONTROLS, "A B2 E V", showing=Showing.LAID_OUT),
    named_controls(_SITE, _CONTROL_NAMES, "A B2 E V S", at_least=2),
    _seen.selector("name_field", _SURE_NAME_FIELD, "A V B2 S J MB"),
    _seen.button("cta", CTA_NAMES, "A V B2 S J E"),
)

_REFUSALS = (
    _entry.text(
        "credentials_stale",
        "Your sign-in credentials might have changed",
        "B2",
        state=PageState.SIGN_IN_REJECTED,
    ),
    _refused.text(
        "denied",
        "Someone in the call denied your request to join | denied your request | request to join has been denied | "
        "request to join has been declined | Your request to join was denied | Your request to join was declined | "
        "You weren't allowed to join | not allowed to join | request was denied | Request denied",
        "A V B2",
        reason=StopReason.REQUEST_DENIED,
    ),
    _refused.button(
        "denied_button",
        "Ask to join again",
        "V",
        reason=StopReason.REQUEST_DENIED,
        unless=("gmeet.no_answer", "gmeet.means.unanswered"),
    ),
    _refused.text(
        "no_answer",
        "No one responded to your request to join | No one responded to your request",
        "A B2",
        reason=StopReason.WAITING_ROOM_TIMEOUT,
    ),
    _refused.text(
        "invalid",
        "Check your meeting code | Invalid video call name | The meeting code you entered doesn't work | "
        "Your meeting code has expired | Meeting not found | Invalid meeting | Meeting link expired",
        "A V",
        reason=StopReason.INVALID_MEETING_URL,
    ),
    # No source shows the copy of these two refusals.
    _refused.text(
        "locked",
        "meeting is locked | locked by the host",
        "own",
        reason=StopReason.REQUEST_DENIED,
        unless=("gmeet.name_field", "gmeet.cta"),  # a meeting may be titled like that
        seen="2026-11",
    ),
    _refused.text(
        "full",
        "meeting is full | call is full",
        "own",
        reason=StopReason.REQUEST_DENIED,
        cause=MEETING_FULL,
        unless=("gmeet.name_field", "gmeet.cta"),
        seen="2026-11",
    ),
    *refusals_by_meaning(
        _SITE,
        unless=("gmeet.name_field", "gmeet.cta", "gmeet.notice", *_CONTROLS),
        waiting=("gmeet.lobby", "gmeet.lobby_label"),
        dialogs=DIALOGS,
    ),
    # Locked, full, closed to guests, taken for a robot: one heading for all. Only a second sign makes it a challenge.
    _challenged.text("blocked_suspected", _BLOCKED, "A B2", beside=("gmeet.signal.suspected",)),
    _challenged.text("blocked_for_good", _BLOCKED, "V I", beside=("gmeet.sends_away",), settle_s=4.0),
    _entry.text("blocked", _BLOCKED, "A V B2 S I", state=PageState.BLOCKED, settle_s=4.0),
    _entry.stem(
        "means.blocked",
        _BLOCKED_STEMS,
        "K",
        state=PageState.BLOCKED,
        unless=("gmeet.name_field", "gmeet.cta", "gmeet.notice", *_CONTROLS),
        settle_s=4.0,
        seen="2026-11",
    ),
    _entry.text("trouble", "we encountered a problem joining", "B2", state=PageState.TROUBLE, settle_s=1.0),
    *lobby_endings(_SITE, _ENDS, over_source="V"),
    # A modal that merely offers signing in, or a prejoin still being built, must not be taken for a gate.
    _entry.text(
        "sign_in",
        "your Google Account | Choose an account | sign in to join | sign in to continue | to continue to Google Meet",
        "A O",
        state=PageState.SIGN_IN_NEEDED,
        unless=("gmeet.name_field", "gmeet.cta", "gmeet.notice", "gmeet.lobby", *_CONTROLS),
        settle_s=6.0,
    ),
)

_ENDINGS = (
    *call_endings(_SITE, _ENDS),
    *endings_by_meaning(_SITE, unless=("gmeet.name_field", "gmeet.cta", *_CONTROLS), dialogs=DIALOGS),
    _over.button("rejoin", "Rejoin", "A V O", unless=_CONTROLS, settle_s=1.0),
)

_WAY_IN = (
    *call_notices(_SITE, within=DIALOGS),
    _seen.text(
        "reconnecting",
        "Connection lost | Unable to connect | Reconnecting | Trying to reconnect | You lost your network connection",
        "V",
        whole=True,
        state=PageState.RECONNECTING,
    ),
    _lobby.text(
        "lobby_in_call", _WAITING, "A V B2 O", phase=Phase.AFTER, unless=("gmeet.name_field", "gmeet.cta", *_CONTROLS)
    ),
    _lobby.text("lobby", _WAITING, "A V B2 O", phase=Phase.BEFORE),
    _lobby.selector(
        "lobby_label",
        tuple(
            f'[aria-label*="{stem}" i]' for stem in ("Please wait until", "brings you into", "admits you", "waiting")
        ),
        "B2",
        phase=Phase.BEFORE,
        unless=(*_CONTROLS, "gmeet.name_field", "gmeet.cta"),
    ),
    # A permanent line, or a box without buttons, keeps nobody out of a call: a button that answers it must be present.
    _seen.button(
        "notice_answers",
        phrases("Continue without* | Use microphone* | Use camera* | Join | Ohne Mikrofon und Kamera fortfahren")
        + labels.JOIN,
        "A V B2 S J",
        within=DIALOGS,
    ),
    _seen.selector("notice_button", 'button[data-mdc-dialog-action="ok"]', "A V B2", within=DIALOGS),
    _seen.button(
        "sharing_answers",
        CONSENT_GIVEN + phrases("Join now | Join call | Join | Allow*"),
        "I",
        within=_SHARING_GATES,
        seen="2026-09",
    ),
    _notice.text(
        "notice",
        "Do you want people to see and hear you | Do you want people to hear you | Do you want people to see you | "
        "is being recorded | is being transcribed | is being live streamed | taking notes | take notes for me | "
        "Others may see your video differently | Other people may see your video differently",
        "A V B2",
        beside=("gmeet.notice_accepts", "gmeet.notice_answers", "gmeet.notice_button"),
    ),
    # A notice about other listening products, by any name: no media comes until it is answered, though tiles show.
    _seen.stem(
        "sharing_gate",
        (SHARING,),
        "I",
        state=PageState.DIALOG,
        within=_SHARING_GATES,
        beside=("gmeet.sharing_answers",),
        seen="2026-09",
    ),
    _notice.button("still_there", "Stay in the call | Stay in call", "K", phase=Phase.AFTER),
    _in_call.selector("in_call_still", _STRONG_CONTROLS, "A B2 E V", phase=Phase.AFTER),
    # Held over two looks.
    _entering.selector("in_call", _STRONG_CONTROLS, "B2 E V", at_least=2, unless=("gmeet.name_field",), settle_s=0.15),
    _entering.selector("in_call_one", _STRONG_CONTROLS, "A", unless=("gmeet.name_field", "gmeet.cta")),
    _in_call.selector(
        "in_call_controls", _OTHER_CONTROLS, "B2 V", at_least=2, unless=("gmeet.name_field", "gmeet.cta")
    ),
    _in_call.button(
        "in_call_named", _CONTROL_NAMES, "A B2 E V S", at_least=2, unless=("gmeet.name_field", "gmeet.cta")
    ),
    _seen.button("prejoin", CTA_NAMES, "A V B2 S J E", state=PageState.PREJOIN),
    _seen.selector("prejoin_name", _SURE_NAME_FIELD, "A V B2 S J MB", state=PageState.PREJOIN),
    # The toolbar hides itself; some layouts take it out of sight altogether.
    _in_call.selector("in_call_hidden", _STRONG_CONTROLS, "A B2", showing=Showing.PRESENT, settle_s=1.0),
    _in_call.text(
        "in_call_words",
        "You have joined the call | You've been admitted | You're the only one here | other person in the call | "
        "other people in the call",
        "V S",
        settle_s=1.0,
    ),
)

ROWS: tuple[EvidenceRow, ...] = (*_ADDRESSES, *_WITNESSES, *_REFUSALS, *_ENDINGS, *_WAY_IN)
