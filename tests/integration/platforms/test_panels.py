"""Chat, notices, panels and the way out, on pages of our own with something in the way."""

from dataclasses import replace

import pytest

from harness.platforms_room import ShowPage
from sederunt.errors import PageChanged
from sederunt.model.bot import Service
from sederunt.model.trouble import PageTrouble
from sederunt.platforms.notice_answers import MOST_PRESSES, NOTICE_STAYS, NoticeAnswers
from sederunt.platforms.registry import platform_of
from sederunt.platforms.site import Site

MEET, TEAMS, ZOOM = (platform_of(service) for service in (Service("gmeet"), Service("teams"), Service("zoom")))
VEIL = '<div id=veil style="position:fixed;inset:0;z-index:9"></div>'
SENT = "() => window.sent"

COMPOSERS = [
    (
        MEET,
        '<textarea aria-label="Send a message to everyone"></textarea>',
        "value",
        '<div data-message-id="1">{}</div>',
    ),
    (
        MEET,
        '<div contenteditable=true role=textbox aria-label="Send a message" style="height:20px"></div>',
        "innerText",
        '<div data-message-id="1"><div class=jO4O1>{}</div></div>',
    ),
    (
        TEAMS,
        '<div data-tid=ckeditor><div contenteditable=true aria-label="Type a message" style="height:20px"></div></div>',
        "innerText",
        '<div data-tid="chat-pane-message">{}</div>',
    ),
    (
        ZOOM,
        '<div class="tiptap ProseMirror" contenteditable=true style="height:20px"></div>',
        "innerText",
        '<div id="chat-message-1"><div class="chat-rtf-box__display">{}</div></div>',
    ),
]
_CHAT = """<body><button id=open {opener}>Chat</button><div id=panel hidden>{composer}</div><div id=list></div><script>
window.sent = [];
const field = document.querySelector("#panel :is(textarea, [contenteditable=true])");
const toggle = () => document.querySelector("#panel").toggleAttribute("hidden");
document.querySelector("#open").onclick = () => setTimeout(toggle, 1500);
field.addEventListener("keydown", (event) => {{
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  window.sent.push(field.{value}.trim());
  const box = document.createElement("div");
  box.innerHTML = `{shown}`.replace("{{}}", field.{value});
  document.querySelector("#list").append(box);
  if ("value" in field) field.value = ""; else field.textContent = "";
}});
</script>"""
_OPENERS = {
    Service("gmeet"): 'aria-label="Chat with everyone"',
    Service("teams"): 'data-tid="chat-button"',
    Service("zoom"): 'aria-label="open the chat panel"',
}


@pytest.mark.parametrize(("platform", "composer", "value", "shown"), COMPOSERS)
async def test_a_panel_that_opens_late_takes_messages_by_enter(
    show: ShowPage, platform: object, composer: str, value: str, shown: str
) -> None:
    site = platform_of(platform.service)  # type: ignore[attr-defined]
    html = _CHAT.format(opener=_OPENERS[site.service], composer=composer, value=value, shown=shown.format("{}"))
    page = await show(html)
    await site.send_chat(page, "Hello all")
    await site.send_chat(page, "and again")
    assert await page.evaluate(SENT) == ["Hello all", "and again"]


async def test_a_composer_that_keeps_the_message_is_told(show: ShowPage) -> None:
    page = await show('<textarea aria-label="Send a message"></textarea><button aria-label="Send a message">s</button>')
    with pytest.raises(PageChanged, match="stayed"):
        await MEET.send_chat(page, "Hello?")


@pytest.mark.parametrize(
    ("platform", "button", "confirm"),
    [
        (
            MEET,
            '<button aria-label="Leave call">x</button>',
            "<div role=dialog><button>Just leave the meeting</button></div>",
        ),
        (TEAMS, '<button data-tid="hangup-main-btn">x</button>', "<div role=dialog><button>Leave</button></div>"),
        (
            ZOOM,
            '<button aria-label="Leave">Leave</button>',
            '<button class="leave-meeting-options__btn leave-meeting-options__btn--danger">Leave Meeting</button>',
        ),
    ],
)
async def test_the_way_out_is_taken_under_a_veil_and_confirmed(
    show: ShowPage, platform: object, button: str, confirm: str
) -> None:
    site = platform_of(platform.service)  # type: ignore[attr-defined]
    page = await show(
        f"<body>{button}<template>{confirm}</template>{VEIL}<script>window.sent = [];"
        "document.querySelector('button').onclick = () => { window.sent.push('asked');"
        "document.body.append(document.querySelector('template').content.cloneNode(true));"
        "[...document.querySelectorAll('button')].at(-1).onclick = () => { window.sent.push('left');"
        "document.body.replaceChildren(); } }</script>"
    )
    await site.leave(page)
    assert await page.evaluate(SENT) == ["asked", "left"]


async def test_leaving_where_there_is_no_button_is_harmless(show: ShowPage) -> None:
    await MEET.leave(await show("<p>Nothing here</p>"))


async def test_settling_answers_notices_joins_the_sound_and_opens_the_panels(show: ShowPage) -> None:
    page = await show(
        "<body><div class=zm-modal id=m style='position:fixed;inset:0;background:#fff'>This meeting is being recorded"
        "<button class=zm-btn--primary onclick='sent.push(1);m.remove()'>Got it</button></div>"
        "<div class=zm-modal style='display:none'>This meeting is being recorded<button class=zm-btn--primary>Got it"
        "</button></div>"
        "<div id=j><button class=join-audio-by-voip__join-btn onclick='sent.push(2);j.remove()'>Join Audio by Computer"
        "</button></div>"
        "<button aria-label='open the participants list pane' onclick='sent.push(3);u.hidden=false'>People</button>"
        "<button aria-label='open the chat panel' onclick='sent.push(4);c.hidden=false'>Chat</button>"
        "<ul id=u hidden><li class=participants-li>Ada</li></ul>"
        "<div id=c hidden role=application aria-label='Chat Message List'>…</div><script>window.sent = []</script>"
    )
    await ZOOM.settle(page)
    await ZOOM.settle(page)
    assert await page.evaluate(SENT) == [1, 2, 4, 3]  # the list of people last: where one panel closes another it stays


_QUESTION = """<body>
<footer id=wc-footer><button id=f aria-label="Join Audio" onclick="ask()">Join Audio</button></footer>
<script>window.sent = [];
function ask() {
  if (document.querySelector(".join-dialog")) return;
  const dialog = document.createElement("div");
  dialog.className = "zm-modal join-dialog";
  dialog.innerHTML = `<button>Join Audio by Computer</button><button aria-label=close>×</button>`;
  const [join, close] = dialog.querySelectorAll("button");
  join.onclick = () => { sent.push("joined"); dialog.remove(); f.remove(); };
  close.onclick = () => { sent.push("closed"); dialog.remove(); };
  document.body.append(dialog);
}
ask();
</script>"""


async def test_a_question_for_sound_that_can_be_closed_is_answered(show: ShowPage) -> None:
    page = await show(_QUESTION)
    await ZOOM.settle(page)
    assert await page.evaluate(SENT) == ["joined"]


async def test_an_answer_that_does_not_help_makes_room_for_the_next_one_and_is_reported_once(show: ShowPage) -> None:
    told: list[PageTrouble] = []
    answers = NoticeAnswers(told.append)
    page = await show(
        "<body><div class=zm-modal>This meeting is being recorded<button onclick='sent.push(1)'>Continue</button>"
        "<button onclick='sent.push(2);this.parentNode.remove()'>Close</button></div><script>window.sent=[]</script>"
    )
    for _ in range(2):  # looks, of which each takes some seconds at most
        await ZOOM.settle(page, answers=answers)
    assert await page.evaluate(SENT) == [*[1] * MOST_PRESSES, 2]
    (trouble,) = told
    assert trouble.cause == NOTICE_STAYS
    assert "zoom.consent" in trouble.seen


async def test_a_table_in_which_closing_comes_first_joins_the_sound_all_the_same(show: ShowPage) -> None:
    told: list[PageTrouble] = []
    answers = NoticeAnswers(told.append)
    assert isinstance(ZOOM, Site)
    steps = {step.id: step for step in ZOOM.controls.notices}
    notices = tuple(steps[name] for name in ("zoom.dismiss", "zoom.join_audio", "zoom.open_audio"))
    site = replace(ZOOM, controls=replace(ZOOM.controls, notices=notices))
    page = await show(_QUESTION)
    for _ in range(2):  # looks, of which each takes some seconds at most
        await site.settle(page, answers=answers, roster_heard=True)
    assert await page.evaluate(SENT) == [*["closed"] * MOST_PRESSES, "joined"]
    assert [trouble.seen.split()[0] for trouble in told] == ["zoom.dismiss"]


async def test_a_control_on_which_the_pointer_does_nothing_is_pressed_without_it(show: ShowPage) -> None:
    page = await show(
        "<body><div class=zm-modal>This meeting is being recorded<button onclick='sent.push(event.isTrusted);"
        "if (!event.isTrusted) this.parentNode.remove()'>Got it</button></div><script>window.sent=[]</script>"
    )
    await ZOOM.settle(page, answers=NoticeAnswers())
    assert await page.evaluate(SENT) == [True, False]


async def test_what_is_answered_again_after_it_was_gone_counts_from_the_beginning(show: ShowPage) -> None:
    told: list[PageTrouble] = []
    answers = NoticeAnswers(told.append)
    page = await show("<body><div id=over></div><script>window.sent=[]</script>")
    press = "sent.push(1); this.parentNode.remove()"
    notice = f"<div class=zm-modal>This meeting is being recorded<button onclick='{press}'>Got it</button></div>"
    for _ in range(2 * MOST_PRESSES):
        await page.evaluate(f"() => {{ over.innerHTML = {notice!r} }}")
        await ZOOM.settle(page, answers=answers)
    assert await page.evaluate(SENT) == [1] * 2 * MOST_PRESSES
    assert told == []


async def test_the_roster_stays_closed_where_the_network_told_it(show: ShowPage) -> None:
    page = await show(
        "<button aria-label='Show everyone' onclick='sent.push(1)'>p</button><script>window.sent = []</script>"
    )
    await MEET.settle(page, roster_heard=True)
    assert await page.evaluate(SENT) == []


OFFERED = (
    ("Start recording?", "Everybody is told that this meeting is recorded.", "Cancel", "OK"),
    ("Do you want to record this meeting?", "", "Not now", "Accept"),
    ("¿Quieres grabar esta reunión?", "", "Cancelar", "Aceptar"),
    ("Opname starten?", "", "Annuleren", "OK"),
    ("Aufzeichnung starten?", "Alle stimmen der Aufzeichnung zu.", "Abbrechen", "OK"),
    ("Stop recording?", "", "No", "Continue"),
    ("Opname verwijderen", "De opname wordt voor iedereen verwijderd.", "Annuleren", "OK"),
    ("Pause recording", "Recording will be paused for everyone.", "Cancel", "Continue"),
    ("Partager", "L'enregistrement sera partagé par un lien public.", "Annuler", "D'accord"),
    ("Transkription", "Die Transkription wird für alle gelöscht.", "Abbrechen", "Weiter"),
)
TOLD = (
    ("This meeting is being recorded", "The host may start recording at any time.", "Leave", "Got it"),
    ("Se va a grabar esta reunión", "", "Salir", "Aceptar"),
    ("De opname is gestart", "", "Verlaten", "OK"),
    ("This call is being recorded", "Continue to stay.", "Cancel", "Continue"),
)


@pytest.mark.parametrize("platform", [MEET, TEAMS, ZOOM])
async def test_what_asks_to_begin_or_end_a_recording_is_declined_and_a_notice_of_one_is_taken(
    show: ShowPage, platform: Site
) -> None:
    """Words such as "grabar" and "recording" are those of consents, and of dialogs in which OK begins a recording."""
    page = await show("<div id=over></div><script>window.sent = [];</script>")
    for title, below, no, yes in (*OFFERED, *TOLD):
        buttons = "".join(
            f"<button onclick='sent.push(this.textContent); over.innerHTML=``'>{b}</button>" for b in (no, yes)
        )
        shown = f"<div role=dialog class=zm-modal><h2>{title}</h2><p>{below}</p>{buttons}</div>"
        await page.evaluate(f"() => {{ document.querySelector('#over').innerHTML = {shown!r}; }}")
        await platform.settle(page, roster_heard=True)
    assert await page.evaluate(SENT) == [*(offered[2] for offered in OFFERED), *(told[3] for told in TOLD)]
