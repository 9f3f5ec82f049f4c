"""Every page and main flow in a real Chromium: one application for all, looked at by people with keyboards."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from uuid import UUID

import pytest
from playwright.async_api import Browser, Route, expect

from harness.api_room import ApiRoom, on_a_socket, tone_wav
from harness.console_browser import Reader, chromium, signed_in
from harness.console_room import Furnished, link_for, people_of, spoken
from sederunt.bus.streams import events_subject
from sederunt.console.doctor import DoctorRun, Findings
from sederunt.model.history import PAGE_TROUBLE
from sederunt.model.status import Trigger
from sederunt.model.transcript import Transcript
from sederunt.realtime.hub import Channel
from sederunt.realtime.messages import TOO_SLOW, Closing
from sederunt.settings import Settings

pytestmark = pytest.mark.chromium


@pytest.fixture
async def port(room: ApiRoom) -> AsyncIterator[int]:
    async with on_a_socket(room.app) as port:
        yield port


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@pytest.fixture
async def reader(room: ApiRoom, port: int, browser: Browser, furnished: Furnished) -> AsyncIterator[Reader]:
    async with signed_in(browser, f"http://127.0.0.1:{port}{await link_for(room)}") as somebody:
        yield somebody


def addresses(of: Furnished) -> list[str]:
    return [
        "/",
        "/bots",
        "/bots/new",
        "/bots/scheduled?on=2096-10-02",  # where the scheduled one is
        "/bots/scheduled?view=week",
        "/bots/scheduled?view=list&on=2096-10-01",
        f"/bots/{of.finished['id']}",
        f"/bots/{of.live['id']}",
        f"/bots/{of.refused['id']}",
        "/recordings",
        f"/recordings/{of.recording['id']}",
        f"/compare?first={of.finished['id']}&second={of.recording['id']}",
        "/search?q=zanzibar",
        "/calendars",
        "/reference",
        "/webhooks",
        "/keys",
        "/usage",
        "/usage?group=day",
        "/people",
        "/operations",
    ]


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light")], ids=["light", "dark", "narrow"]
)
async def test_every_page_can_be_used_by_everybody(
    room: ApiRoom, port: int, browser: Browser, furnished: Furnished, width: int, scheme: str
) -> None:
    """Nothing serious for axe, nothing on the browser's console, nothing wider than the screen."""
    link = f"http://127.0.0.1:{port}{await link_for(room)}"
    look = {"viewport": {"width": width, "height": 780}, "color_scheme": scheme}
    async with signed_in(browser, link, **look) as reader:
        for address in addresses(furnished):
            assert await reader.go(address) == 200, address
            assert await reader.findings() == [], address
            wide = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
            assert await reader.page.evaluate(wide) <= 0, address
        assert [said for said in reader.complaints if "picture.png" not in said and "404" not in said] == []


async def test_a_bot_is_sent_by_keyboard_and_judged_while_one_types(room: ApiRoom, reader: Reader) -> None:
    page = reader.page
    await reader.go("/bots/new")
    # A browser focuses a field when it first draws the page: keys before that go nowhere.
    await expect(page.locator("#f-meeting_url")).to_be_focused()
    await page.keyboard.type("https://example.org/abc")
    await expect(page.locator("#w-meeting_url")).not_to_be_empty()
    await page.keyboard.press("Control+A")
    await page.keyboard.type("https://zoom.us/j/12345678901?pwd=x")
    await expect(page.locator("[data-verdict]")).to_have_text("Ready to go.")
    assert await page.locator("#f-service").input_value() == "zoom"
    for key in ("Tab", "Tab", "Control+A"):
        await page.keyboard.press(key)
    await page.keyboard.type("Protocol")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/bots/0*")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Protocol")
    made = (await room.client.get("/bot")).json()["data"][0]
    assert (made["service"], made["bot_name"]) == ("zoom", "Protocol")


async def test_a_time_that_is_filled_in_by_half_sends_no_bot(room: ApiRoom, reader: Reader) -> None:
    """A browser has no value for it, as for an empty field: the bot would go at once."""
    page = reader.page
    before = (await room.client.get("/bot")).json()["data"]
    await reader.go("/bots/new")
    await page.locator("#f-meeting_url").fill("https://zoom.us/j/12345678901?pwd=x")
    await expect(page.locator("[data-verdict]")).to_have_text("Ready to go.")
    when = page.locator("#f-scheduled_start_time")
    await when.focus()
    await page.keyboard.type("10022096")  # a day, no hour
    await page.locator("#f-bot_name").focus()
    told = page.locator("#w-scheduled_start_time")
    await expect(told).to_have_text("When is filled in by half, or cannot be read: complete it, or empty it.")
    await expect(page.locator("[data-verdict]")).to_be_empty()
    await page.keyboard.press("Enter")
    await expect(when).to_be_focused()
    await expect(told).not_to_be_empty()
    assert (await room.client.get("/bot")).json()["data"] == before
    await when.fill("2096-10-02T10:00")
    await expect(page.locator("[data-verdict]")).to_have_text("Ready to go.")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/bots/0*")


async def test_a_key_is_made_shown_once_and_does_what_was_ticked(room: ApiRoom, reader: Reader) -> None:
    page = reader.page
    await reader.go("/keys")
    await page.get_by_text("Make a key").click()
    await page.get_by_role("button", name="Make the key").click()
    await expect(page.locator("#w-name")).to_have_text("What it is for is required.")
    await page.get_by_label("What it is for").fill("dashboard")
    for scope in ("write", "live"):
        await page.locator(f"[name=scopes][value={scope}]").uncheck()
    await page.get_by_role("button", name="Make the key").click()
    shown = page.locator("[data-shown-once] code")
    await expect(shown).to_contain_text("sk_")
    async with room.client_of(await shown.inner_text()) as caller:
        assert (await caller.get("/bot")).status_code == 200
        assert (await caller.post("/bot", json={})).status_code == 403
    await page.reload()
    assert "sk_" not in (await page.locator("[data-shown-once]").inner_text())
    assert await page.get_by_role("cell", name="dashboard").count() == 1


async def test_a_transcript_follows_is_searched_and_put_right(reader: Reader, furnished: Furnished) -> None:
    page = reader.page
    await reader.go(f"/bots/{furnished.finished['id']}?at=1000&q=number%20200")
    row = page.locator(".segment[data-number='200']")
    await expect(row).to_contain_text("Sentence number 200")
    assert await page.locator(".segment").count() < 60, "only what is in sight is in the page"
    await expect(page.locator("[data-place]")).to_have_text("1 of 1")
    assert await row.locator(".word.found").all_inner_texts() == ["number", "200"]
    await row.locator(".word", has_text="zanzibar").dblclick()
    await page.locator("[data-of-word] [name=after]").fill("Zurich")
    await page.keyboard.press("Enter")
    await expect(row.locator(".words")).to_contain_text("of the Zurich meeting")
    await expect(row).to_contain_text("corrected")
    await row.get_by_role("button", name="Ada").click()
    await page.locator("[data-everywhere] [name=after]").fill("Ada Lovelace")
    await page.keyboard.press("Enter")
    await expect(row.locator(".by")).to_have_text("Ada Lovelace")
    await page.reload()
    await page.get_by_text("2 corrections").click()
    assert await page.get_by_role("button", name="Take back").count() == 2


async def test_a_hit_opens_at_its_moment_when_the_recording_is_gone(
    room: ApiRoom, reader: Reader, furnished: Furnished
) -> None:
    page = reader.page
    await room.bots.media_removed(UUID(furnished.finished["id"]))
    await reader.go("/search")
    await page.keyboard.type('MEETING "of the" 217')
    hit = page.locator("#results tbody tr", has_text="Zanzibar minutes")
    await expect(hit).to_contain_text("Sentence number 217")
    await hit.get_by_role("link").click()
    row = page.locator(".segment[data-number='217']")
    await expect(row).to_be_in_viewport()
    await expect(page.locator("[data-place]")).to_have_text("1 of 1")
    assert await row.locator(".word.found").all_inner_texts() == ["217", "of", "the", "meeting"]
    await reader.go(f"/bots/{furnished.finished['id']}?at=1000&q=sentence")
    await expect(page.locator(".segment[data-number='200']")).to_be_in_viewport()
    await expect(page.locator("[data-place]")).to_have_text("201 of 400")


async def test_lanes_have_the_names_of_the_transcript_and_follow_the_sound(
    room: ApiRoom, reader: Reader, furnished: Furnished
) -> None:
    page, renamed = reader.page, {"kind": "participant", "before": "Ada", "after": "Ada Lovelace"}
    bot = furnished.finished["id"]
    assert (await room.client.post(f"/bot/{bot}/correction", json=renamed)).status_code == 200
    await reader.go(f"/bots/{bot}")
    await expect(page.locator(".lane .name")).to_have_text(["Ada Lovelace", "Charles"])
    sound = page.locator("audio")
    await sound.evaluate("audio => audio.readyState || new Promise(done => audio.onloadedmetadata = done)")
    for second in (0.5, 0.6, 0.7):  # within one word
        await sound.evaluate("(audio, second) => { audio.currentTime = second }", second)
        await expect(page.locator(".lane line").first).to_have_attribute("x1", str(second))


async def test_lists_answer_as_one_types(reader: Reader, furnished: Furnished) -> None:
    page = reader.page
    await reader.go("/bots")
    rows = page.locator("#list tbody tr")
    await expect(rows).to_have_count(4)
    await page.get_by_label("Name or meeting link").fill("zanz")
    await expect(rows).to_have_count(1)
    await expect(page).to_have_url(f"{reader.base}/bots?search=zanz&status=")
    await page.get_by_label("Name or meeting link").fill("nobody")
    await expect(page.locator("#list")).to_contain_text("Nothing fits")
    await reader.go("/search")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("number 39")
    results = page.locator("#results tbody tr")
    await expect(results.first).to_contain_text("Sentence number 39")
    await results.first.get_by_role("link").click()
    await expect(page.locator("[data-needle]")).to_have_value("number 39")


async def test_what_is_refused_takes_nothing_from_a_page(room: ApiRoom, reader: Reader, furnished: Furnished) -> None:
    page, refusals = reader.page, 2

    async def refuse(route: Route) -> None:
        nonlocal refusals
        if "hx-request" not in route.request.headers or not refusals:
            await route.fallback()
            return
        refusals -= 1
        await route.fulfill(status=503, content_type="text/html", body="<h1>No server is available</h1>")

    await page.route("**/*", refuse)
    recording = UUID((await room.recording(tone_wav(2)))["id"])
    await reader.go(f"/recordings/{recording}")
    async with page.expect_response(lambda answer: answer.status == 503):
        pass
    async with page.expect_response(lambda answer: answer.status == 503):
        pass
    await expect(page.locator("#progress")).to_contain_text("Being transcribed")
    await expect(page.locator(".toast")).to_have_count(0)  # it asks again by itself
    said = Transcript(segments=(spoken(0.0, "Sentence number nil of the zanzibar meeting.", "Ada"),))
    await room.transcripts.save(recording, said)
    await room.recordings.record_transition(recording, Trigger.TRANSCRIBED)
    await expect(page.get_by_label("Recording and transcript")).to_contain_text("Sentence number nil")
    refusals = 1
    await reader.go("/bots")
    await page.get_by_label("Name or meeting link").fill("zanz")
    await expect(page.locator(".toast")).to_have_text("The service answered 503: what is shown is from before.")
    await expect(page.locator("#list tbody tr")).to_have_count(4)
    await page.get_by_label("Name or meeting link").fill("zanzi")
    await expect(page.locator("#list tbody tr")).to_have_count(1)


async def test_a_checkup_is_told_although_a_question_for_it_was_refused(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, refused = reader.page, asyncio.Event()

    async def listen(run: DoctorRun, _: Settings) -> None:
        await refused.wait()
        run._findings = Findings(rows=({"part": "disk", "sound": True, "found": "7 GB are free.", "remedy": ""},))

    async def refuse_one(route: Route) -> None:
        if refused.is_set() or not await page.get_by_text("The doctor listens").count():
            await route.fallback()
            return
        await route.fulfill(status=503, content_type="text/html", body="<h1>No server is available</h1>")
        refused.set()

    monkeypatch.setattr(DoctorRun, "_run", listen)
    await page.route("**/checkup", refuse_one)
    await page.get_by_role("button", name="Check this installation").click()
    await expect(page.locator("#checkup")).to_contain_text("7 GB are free.")
    assert refused.is_set()
    async with page.expect_response("**/checkup?again=1"):
        await page.get_by_role("button", name="Check again").click()
    await expect(page.locator("#checkup")).to_contain_text("7 GB are free.")


async def test_a_file_is_dropped_and_transcribed(room: ApiRoom, reader: Reader, tmp_path: Path) -> None:
    page = reader.page
    await reader.go("/recordings")
    await page.get_by_role("button", name="Transcribe").click()
    await expect(page.locator("[data-upload] [data-fault='']")).to_have_text("Choose a file first.")
    bad, good = tmp_path / "bad.wav", tmp_path / "talk.wav"
    bad.write_bytes(b"no sound at all")
    good.write_bytes(tone_wav())
    await page.set_input_files("#file", bad)
    await page.get_by_role("button", name="Transcribe").click()
    await expect(page.locator("[data-upload] [data-fault='']")).to_contain_text("recording_file cannot be used")
    await page.set_input_files("#file", good)
    await page.get_by_role("button", name="Transcribe").click()
    await page.wait_for_url("**/recordings/0*")
    await expect(page.locator("#progress")).to_contain_text("Being transcribed")
    assert len((await room.client.get("/recording")).json()["data"]) == 2
    made = UUID(page.url.rpartition("/")[2])
    said = Transcript(segments=(spoken(0.0, "Sentence number nil of the zanzibar meeting.", "Ada"),))
    await room.transcripts.save(made, said)
    await room.recordings.record_transition(made, Trigger.TRANSCRIBED)
    await expect(page.get_by_label("Recording and transcript")).to_contain_text("Sentence number nil")


async def test_somebody_is_let_in_as_a_viewer(room: ApiRoom, port: int, browser: Browser, reader: Reader) -> None:
    page = reader.page
    await reader.go("/people")
    await page.get_by_text("Let somebody in").click()
    await page.get_by_label("Name", exact=True).fill("Bo")
    await page.locator("#f-role").select_option("viewer")
    await page.get_by_role("button", name="Make a link").click()
    shown = page.locator("[data-shown-once] code")
    await expect(shown).to_contain_text("/welcome?token=")
    path = (await shown.inner_text()).partition("/welcome")[2]
    async with signed_in(browser, f"http://127.0.0.1:{port}/welcome{path}") as bo:
        await expect(bo.page.locator(".who")).to_contain_text("viewer")
        assert await bo.page.get_by_role("button", name="Open a practice meeting").count() == 0
        assert await bo.go("/keys") == 403
    assert len(await people_of(room)) == 2


async def test_a_live_page_tells_of_missing_sound(room: ApiRoom, reader: Reader, furnished: Furnished) -> None:
    await reader.go(f"/bots/{furnished.live['id']}")
    story = reader.page.locator("[data-part=story]")
    await expect(story).to_contain_text("It sits in the meeting")
    data = {"cause": "no_sound", "seen": "Nothing came.", "recovery": "none"}
    await room.bots.add_event(UUID(furnished.live["id"]), PAGE_TROUBLE, data)
    await expect(story).to_contain_text("no sound of them comes", timeout=30_000)


async def test_a_live_page_turns_into_the_player_when_the_bot_has_ended(
    room: ApiRoom, reader: Reader, furnished: Furnished
) -> None:
    page = reader.page
    await reader.go(f"/bots/{furnished.live['id']}")
    await expect(page.locator("[data-part=story]")).to_contain_text("It sits in the meeting")
    chat, look = page.locator("form[data-chat]"), page.get_by_role("button", name="Look now")
    await expect(chat).to_be_visible()
    await room.bots.record_transition(UUID(furnished.live["id"]), Trigger.ENDED)
    await expect(chat).to_be_hidden(timeout=30_000)  # a message could only be refused now
    await expect(look).to_be_visible()
    for trigger in (Trigger.LEFT, Trigger.CLOSED):
        await room.bots.record_transition(UUID(furnished.live["id"]), trigger)
    await expect(page.get_by_text("Nothing was recorded")).to_be_visible(timeout=30_000)


@pytest.mark.parametrize("trouble", ["too slow", "refused"])
async def test_captions_go_on_after_the_feed_of_a_live_page_is_cut_or_refused(
    room: ApiRoom, reader: Reader, furnished: Furnished, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, asked = reader.page, asyncio.Event()
    heard = Channel.events

    async def cut_once(self: Channel, since: int | None, *, greets: bool) -> AsyncGenerator[str | Closing, None]:
        if not asked.is_set():
            asked.set()
            yield TOO_SLOW
            return
        async with aclosing(heard(self, since, greets=greets)) as events:
            async for message in events:
                yield message

    async def refuse_once(route: Route) -> None:
        if asked.is_set():
            await route.fallback()
        else:
            asked.set()
            await route.fulfill(status=503)

    if trouble == "refused":
        await page.route("**/feed", refuse_once)
    else:
        monkeypatch.setattr(Channel, "events", cut_once)
    await reader.go(f"/bots/{furnished.live['id']}")
    await asyncio.wait_for(asked.wait(), 60)
    line = {"segment_id": "1", "transcript": "Still here.", "start": 1, "end": 2, "speaker": 0, "speaker_name": "Ada"}
    told = json.dumps({"type": "ts", "data": line}).encode()
    await room.bus.publish(events_subject(furnished.live["id"]), told, trouble)
    await expect(page.get_by_role("log", name="Captions")).to_contain_text("Still here.", timeout=30_000)


@pytest.mark.parametrize("trouble", ["resumed", "greeted anew"])
async def test_captions_stay_where_they_are_when_the_feed_is_asked_for_again(
    room: ApiRoom, reader: Reader, furnished: Furnished, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, bot_id, heard, asked = reader.page, furnished.live["id"], Channel.events, list[int | None]()

    async def cut_at_the_last(self: Channel, since: int | None, *, greets: bool) -> AsyncGenerator[str | Closing, None]:
        asked.append(since if trouble == "resumed" else None)
        async with aclosing(heard(self, asked[-1], greets=greets)) as events:
            async for message in events:
                if len(asked) == 1 and "The last." in str(message):
                    yield TOO_SLOW
                    return
                yield message

    async def say(what: str, number: int, text: str) -> None:
        line = {"segment_id": str(number), "transcript": text, "start": number, "end": number + 1}
        data = {**line, "speaker": 0, "speaker_name": "Ada", "username": "Ada", "content": text}
        told = json.dumps({"type": what, "data": data}).encode()
        await room.bus.publish(events_subject(bot_id), told, f"{trouble} {what} {number}")

    monkeypatch.setattr(Channel, "events", cut_at_the_last)
    for number in range(60):
        await say("ts", number, f"Line {number}.")
    await say("chat-message", 0, "Hello.")
    await reader.go(f"/bots/{bot_id}")
    captions, chat = page.get_by_role("log", name="Captions"), page.get_by_role("log", name="Chat")
    await expect(captions.locator(".caption")).to_have_count(60)
    await expect(chat).to_contain_text("Ada: Hello.")
    added = """log => {
      log.scrollTop = 0;
      log.added = [];
      const note = changes => changes.flatMap(change => [...change.addedNodes]).map(node => node.textContent);
      new MutationObserver(changes => log.added.push(...note(changes))).observe(log, {childList: true, subtree: true});
    }"""
    for log in (captions, chat):
        await log.evaluate(added)
    await say("ts", 61, "The last.")
    await expect(captions.locator(".caption")).to_have_count(61)
    await say("chat-message", 1, "Bye.")
    await expect(chat).to_contain_text("Ada: Bye.")
    assert [one is None for one in asked] == [True, trouble != "resumed"]
    assert await captions.evaluate("log => log.scrollTop") == 0
    assert not [text for text in await captions.evaluate("log => log.added") if "Line" in text], "read out once more"
    assert await chat.evaluate("log => log.added") == ["Ada: Bye."]


async def test_a_recording_is_transcribed_again_and_both_stand_side_by_side(
    room: ApiRoom, reader: Reader, furnished: Furnished
) -> None:
    page = reader.page
    await reader.go(f"/bots/{furnished.finished['id']}")
    await page.get_by_role("button", name="Transcribe again").click()
    await page.wait_for_url("**/recordings/0*")
    made = page.url.rpartition("/")[2]
    assert (await room.client.get(f"/recording?source={furnished.finished['id']}")).json()["data"][0]["id"] == made
    other = Transcript(segments=(spoken(0.0, "Sentence number nil of the zanzibar meeting.", "Ada"),))
    await room.transcripts.save(UUID(made), other)
    await room.recordings.record_transition(UUID(made), Trigger.TRANSCRIBED)
    await reader.go(f"/bots/{furnished.finished['id']}")
    await page.get_by_role("link", name="Compare").click()
    rows = page.locator("[data-rows] .compared-row")
    await expect(rows.first.locator("mark").nth(0)).to_have_text("0")
    assert await rows.first.locator("mark").last.inner_text() == "nil"
    await page.get_by_text("Word error rate against a text").click()
    await page.get_by_label("What was really said").fill("sentence number nought of the zanzibar meeting")
    await page.get_by_role("button", name="Count").click()
    await expect(page.locator("[data-head=second]")).to_contain_text("7 words, 14.3 % wrong")
    assert reader.complaints == []


async def test_each_speaker_is_downloaded_by_itself(room: ApiRoom, reader: Reader, furnished: Furnished) -> None:
    page = reader.page
    await reader.go(f"/bots/{furnished.finished['id']}")
    await page.get_by_text("Each speaker by itself").click()
    async with page.expect_download() as started:
        await page.locator("#downloads-title ~ details").get_by_role("link", name="Ada").click()
    assert Path(await (await started.value).path()).read_bytes() == tone_wav(1)
    [track] = (await room.client.get(f"/bot/{furnished.finished['id']}/tracks")).json()["data"]
    assert (track["speaker_name"], track["heard_s"]) == ("Ada", 0.9)
    assert (await room.client.get(f"/bot/{furnished.live['id']}/tracks")).json()["data"] == []


async def test_a_picture_that_no_bot_can_show_is_told(reader: Reader, furnished: Furnished) -> None:
    page = reader.page
    await reader.go(f"/bots/{furnished.live['id']}")
    await page.get_by_text("Show another picture in the meeting").click()
    await page.get_by_label("Address of a picture").fill("no address")
    await page.get_by_role("button", name="Show it").click()
    await expect(page.locator("#w-avatar_url")).to_contain_text("Address of a picture must be")
    await page.get_by_label("Address of a picture").fill("https://example.org/a.png")
    await page.get_by_role("button", name="Show it").click()
    await expect(page.locator("form[data-api$='/avatar'] [data-fault='']")).to_contain_text("cannot be reached")


async def test_requests_are_sent_from_the_reference_as_oneself_and_with_a_key(room: ApiRoom, reader: Reader) -> None:
    page = reader.page
    await reader.go("/reference")
    await page.locator("#operations-Capacity-setReservedCapacity .opblock-summary-control").click()
    await page.locator("#operations-Capacity-setReservedCapacity .execute").click()  # the example of the document
    answer = page.locator("#operations-Capacity-setReservedCapacity .live-responses-table")
    await expect(answer).to_contain_text('"reserved": 4')
    await page.get_by_role("button", name="Authorize").first.click()
    await page.locator("input[aria-label='auth-bearer-value'], #auth-bearer-value").fill("sk_wrong")
    await page.locator(".auth-btn-wrapper .authorize").click()
    await page.locator(".btn-done").click()
    await page.locator("#operations-Capacity-setReservedCapacity .execute").click()
    await expect(answer).to_contain_text("401")
    assert [said for said in reader.complaints if "401" not in said] == []


async def test_a_calendar_is_followed_and_its_address_shown_no_more(room: ApiRoom, reader: Reader) -> None:
    page = reader.page
    await reader.go("/calendars")
    await page.get_by_label("Name", exact=True).fill("Ada's calendar")
    await page.get_by_label("Secret address").fill("https://calendar.example.org/s3cret/basic.ics")
    await page.get_by_label("Bots go to").select_option("mine")
    await page.get_by_role("button", name="Follow it").click()
    await expect(page.locator("#w-attendee")).to_contain_text("required for the rule")
    await page.get_by_label("My address").fill("ada@example.org")
    await page.get_by_role("button", name="Follow it").click()
    mine = page.get_by_role("region", name="Ada's calendar")
    await expect(mine).to_contain_text("meetings of ada@example.org")
    assert "s3cret" not in await page.content()
    page.on("dialog", lambda dialog: dialog.accept())
    await mine.get_by_role("button", name="Remove").click()
    await expect(mine).to_have_count(0)
