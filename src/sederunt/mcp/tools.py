"""What a language model can do with the service: each tool makes a few requests and returns a bounded answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from sederunt.errors import InvalidConfig, RequestError
from sederunt.mcp import content
from sederunt.mcp.backend import Backend
from sederunt.mcp.explanation import explain
from sederunt.transcripts.export import clock

Answer = dict[str, Any]
Resource = Literal["bot", "recording"]
Service = Callable[[], Backend]

LONGEST_WAIT_S = 50  # clients give up on a tool call after a minute
_LOOK_EVERY_S = 1.0
_LONGEST_FOLLOW_S = 25
_SUMMARY = (
    "id",
    "status",
    "stop_reason",
    "service",
    "bot_name",
    "scheduled_for",
    "created_at",
    "finished_at",
    "verdict",
)
_ENDED = ("finished", "not_admitted", "auth_required", "invalid_credentials", "failed")
_RETRY_WITHIN = timedelta(seconds=60)  # a bot refused as an unwanted robot tries again within 12 s, or 40
_ANSWER_SHOWN = 200  # characters of a webhook receiver's answer
_WHY_SHOWN = 40  # participants

BotId = Annotated[str, Field(description="The bot's id.")]
ResourceId = Annotated[str, Field(description="The id of a bot or a recording.")]
Kind = Annotated[Resource, Field(description="Whose id it is.")]
Cursor = Annotated[str | None, Field(description="next_cursor of the answer before.")]
Characters = Annotated[
    int,
    Field(
        ge=content.LEAST_CHARACTERS, le=content.MOST_CHARACTERS, description="Most characters of text in the answer."
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolRow:
    """One row of the table of tools."""

    act: Callable[..., Awaitable[Answer]]
    title: str
    reads_only: bool = False
    is_destructive: bool = False


async def send_bot(
    service_of: Backend,
    meeting_url: Annotated[str, Field(description="The meeting's link.")],
    bot_name: Annotated[str, Field(description="Its name in the meeting; people see it.")] = "Minutes",
    service: Annotated[str | None, Field(description="Where it is held; absent: told from the link.")] = None,
    transcription_model: Annotated[
        str,
        Field(description="`whisper` after the meeting, `whisper-realtime` while people speak, `none`, or a vendor's."),
    ] = "whisper",
    at: Annotated[
        str | None,
        Field(description="When to join, in ISO 8601 with an offset: 2026-03-02T09:00:00+01:00. Absent: now."),
    ] = None,
    lang: Annotated[str | None, Field(description="Spoken language, such as `en`.")] = None,
    greeting: Annotated[str | None, Field(description="Posted to the meeting's chat on joining.")] = None,
    video: Annotated[bool, Field(description="Record video too.")] = False,
    custom_metadata: Annotated[dict[str, str] | None, Field(description="Comes back with the bot.")] = None,
    stop_options: Annotated[
        dict[str, int] | None,
        Field(description="Minutes: time_limit, waiting_room_timeout, last_person_detection, silence_detection."),
    ] = None,
) -> Answer:
    """Send a bot into a meeting to record and transcribe it, now or at a time. Everyone in the meeting sees it."""
    body: dict[str, Any] = {
        "meeting_url": meeting_url,
        "bot_name": bot_name,
        "service": service or service_of_link(meeting_url),
        "transcription_model": transcription_model,
        "lang": lang,
        "initial_chat_message": greeting,
        "video": video,
        "custom_metadata": custom_metadata,
        "stop_options": stop_options,
        "scheduled_start_time": None if at is None else _unix(at),
    }
    fields = {name: value for name, value in body.items() if value is not None}
    return _summary(await service_of.ask("POST", "/bot", body=fields))


async def list_bots(
    service_of: Backend,
    status: Annotated[
        str | None, Field(description="Only bots in this status, such as recording or scheduled.")
    ] = None,
    search: Annotated[str | None, Field(description="Only bots with this in their name or meeting's link.")] = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    cursor: Cursor = None,
) -> Answer:
    """List the account's bots, newest first."""
    query = {"status": status, "search": search, "limit": limit, "cursor": cursor}
    page = await service_of.ask("GET", "/bot", query=query)
    return {"bots": [_summary(bot) for bot in page["data"]], "next_cursor": page["next_cursor"]}


async def stop_bot(service_of: Backend, bot_id: BotId) -> Answer:
    """Let a bot leave its meeting now. What it recorded is kept and transcribed."""
    answer: Answer = await service_of.ask("POST", f"/bot/{_id(bot_id)}/stop")
    return answer


async def cancel_scheduled_bot(service_of: Backend, bot_id: BotId) -> Answer:
    """Take back a bot that is scheduled and has not joined yet. Bots with recordings are not deleted by this."""
    bot = await _bot(service_of, bot_id)
    if bot["status"] != "scheduled":
        raise RequestError(f"Only a scheduled bot can be cancelled; this one is {bot['status']}. Use stop_bot instead.")
    await service_of.ask("DELETE", f"/bot/{_id(bot_id)}")
    return {"message": "The scheduled bot was cancelled."}


async def say_in_chat(
    service_of: Backend,
    bot_id: BotId,
    message: Annotated[str, Field(description="What to post; everyone in the meeting reads it.")],
) -> Answer:
    """Post a message to the chat of the meeting that a bot sits in."""
    answer: Answer = await service_of.ask("POST", f"/bot/{_id(bot_id)}/chat-message", body={"message": message})
    return answer


async def who_is_here(service_of: Backend, bot_id: BotId) -> Answer:
    """Tell who is in a bot's meeting now, and who was; names are as people chose them."""
    bot = await _bot(service_of, bot_id)
    feed = await service_of.ask("GET", f"/bot/{_id(bot_id)}/live")
    people = [
        person for event in feed["data"] if event["type"] == "connected" for person in event["data"]["participants"]
    ]
    present_names = [person["participantName"] for person in people if person["state"]["active"]]
    all_names = [person["name"] for person in bot["participants"]] or [person["participantName"] for person in people]
    facts = {"status": bot["status"], "here_count": len(present_names)}
    return content.marked(
        facts, {"here": present_names, "were_here": [name for name in all_names if name not in present_names]}
    )


async def read_transcript(
    service_of: Backend,
    id: ResourceId,  # noqa: A002  # the callers' word
    kind: Kind = "bot",
    from_s: Annotated[float | None, Field(description="Only what was said after this second.")] = None,
    to_s: Annotated[float | None, Field(description="Only what was said before this second.")] = None,
    speaker: Annotated[str | None, Field(description="Only what this person said; part of the name will do.")] = None,
    max_characters: Characters = 8_000,
    cursor: Cursor = None,
) -> Answer:
    """Read a finished transcript page by page, by time and speaker, with what people put right in it."""
    transcript = await service_of.ask("GET", f"/{kind}/{_id(id)}/transcript")
    segments = content.chosen(transcript["transcript"], from_s=from_s, to_s=to_s, speaker=speaker)
    try:
        lines, next_cursor = content.page_of(segments, cursor, max_characters)
    except ValueError as error:
        raise InvalidConfig({"cursor": [str(error)]}) from None
    facts: Answer = {
        "language": transcript["detected_lang"],
        "segments": len(segments),
        "next_cursor": next_cursor,
    }
    if not transcript["transcript"]:
        resource = await service_of.ask("GET", f"/{kind}/{_id(id)}")
        facts["hint"] = f"There is no transcript (yet): the {kind} is {resource['status']}. " + (
            "follow_meeting tells what is said now, wait_for_ending waits." if not _has_ended(resource) else ""
        )
    return content.marked(facts, {"lines": lines})


async def follow_meeting(
    service_of: Backend,
    bot_id: BotId,
    since: Annotated[
        int | None, Field(ge=0, description="`next` of the answer before; absent: what is known so far.")
    ] = None,
    wait_s: Annotated[int, Field(ge=0, le=_LONGEST_FOLLOW_S, description="How long to wait for something new.")] = 20,
    max_characters: Characters = 8_000,
) -> Answer:
    """Tell what happens in a meeting now: what is said (with a realtime model), the chat, who comes and goes.

    Call it again with `since` = `next` until `ended` is true.
    """
    query = {"since": since, "wait": wait_s if since is not None else 0}
    feed = await service_of.ask("GET", f"/bot/{_id(bot_id)}/live", query=query)
    lines, last_sequence = content.happened(feed["data"], max_characters)
    is_whole = not feed["data"] or last_sequence == feed["data"][-1]["seq"]
    facts = {"next": feed["next"] if is_whole else last_sequence, "ended": feed["ended"] and is_whole}
    return content.marked(facts, {"lines": lines})


async def search_transcripts(
    service_of: Backend,
    query: Annotated[str, Field(description='Words, begun ones too; words in "quotes" follow one another.')],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    cursor: Cursor = None,
) -> Answer:
    """Find words in all transcripts of the account, the newest first."""
    page = await service_of.ask("GET", "/search", query={"q": query, "limit": limit, "cursor": cursor})
    hits = [
        {
            "kind": hit["resource"],
            "id": hit["id"],
            "from_s": hit["start"],
            "at": clock(hit["start"]),
            "speaker": hit["speaker_name"],
            "text": "".join(part["text"] for part in hit["excerpt"]),
        }
        for hit in page["data"]
    ]
    return content.marked({"next_cursor": page["next_cursor"]}, {"hits": hits})


async def transcribe_recording(
    service_of: Backend,
    recording_url: Annotated[str | None, Field(description="Where the service fetches the sound or video.")] = None,
    meeting_bot_id: Annotated[str | None, Field(description="A bot whose recording to transcribe again.")] = None,
    transcription_model: Annotated[str | None, Field(description="Absent: whisper, or the bot's.")] = None,
    lang: Annotated[str | None, Field(description="Spoken language, such as `en`.")] = None,
) -> Answer:
    """Transcribe a recording: one at an address, or a bot's once more. Then wait_for_ending and read_transcript."""
    model = transcription_model or (None if meeting_bot_id else "whisper")
    body = {
        "recording_url": recording_url,
        "meeting_bot_id": meeting_bot_id,
        "transcription_model": model,
        "lang": lang,
    }
    recording = await service_of.ask(
        "POST", "/recording", body={name: value for name, value in body.items() if value is not None}
    )
    return {name: recording[name] for name in ("id", "status", "transcription_model", "created_at")}


async def wait_for_ending(
    service_of: Backend,
    id: ResourceId,  # noqa: A002  # the callers' word
    kind: Kind = "bot",
    wait_s: Annotated[int, Field(ge=0, le=LONGEST_WAIT_S, description="How long to wait at most.")] = 45,
) -> Answer:
    """Wait until a bot or a recording has ended and its transcript is made. Call it again where `ended` is false."""
    deadline = time.monotonic() + wait_s
    while True:
        resource = await service_of.ask("GET", f"/{kind}/{_id(id)}")
        is_over = _has_ended(resource)
        if is_over or time.monotonic() >= deadline:
            return {
                "ended": is_over,
                "status": resource["status"],
                "stop_reason": resource.get("stop_reason"),
                "verdict": resource.get("verdict"),
                "segments": len(resource["transcript"]),
            }
        await asyncio.sleep(_LOOK_EVERY_S)


async def webhook_deliveries(
    service_of: Backend,
    resource_id: Annotated[str | None, Field(description="Only those of this bot or recording.")] = None,
    state: Annotated[Literal["pending", "delivered", "given_up"] | None, Field(description="Only these.")] = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    cursor: Cursor = None,
) -> Answer:
    """List webhooks with what came of every attempt, newest first: to find out why a receiver got nothing."""
    query = {"resource_id": resource_id, "state": state, "limit": limit, "cursor": cursor}
    page = await service_of.ask("GET", "/webhook-delivery", query=query)
    fields = ("id", "resource", "resource_id", "type", "state", "created_at", "next_attempt_at")
    deliveries = [{name: delivery[name] for name in fields} for delivery in page["data"]]
    answers = {
        delivery["id"]: [{**attempt, "answer": attempt["answer"][:_ANSWER_SHOWN]} for attempt in delivery["attempts"]]
        for delivery in page["data"]
        if delivery["attempts"]
    }
    return content.marked(
        {"deliveries": deliveries, "next_cursor": page["next_cursor"]}, {"attempts_with_receivers_answers": answers}
    )


async def explain_bot(service_of: Backend, bot_id: BotId) -> Answer:
    """Explain why a bot is where it is or ended as it did, on what evidence, and what would help."""
    bot = await _bot(service_of, bot_id)
    why = await _evidence(service_of, bot, "why")
    signals = await _evidence(service_of, bot, "signals")
    facts: Answer = {
        **_summary(bot),
        **asdict(explain(bot)),
        "recording_gaps": bot["recording_gaps"],
        "capture": bot["capture"],
        "evidence": bot["evidence"],
    }
    evidence: Answer = {"people": _people(why)}
    if isinstance(signals, Mapping):
        evidence["signals"] = {name: value for name, value in signals.items() if name != "signals"}
    page = await service_of.linked(bot["evidence"]["page_text"]) if "page_text" in bot["evidence"] else None
    if page is not None:
        evidence["page_text"] = page.text[:1_500]
    return content.marked(facts, evidence)


TOOLS: Sequence[ToolRow] = (
    ToolRow(act=send_bot, title="Send a bot into a meeting"),
    ToolRow(act=list_bots, title="List bots", reads_only=True),
    ToolRow(act=stop_bot, title="Stop a bot", is_destructive=True),
    ToolRow(act=cancel_scheduled_bot, title="Cancel a scheduled bot", is_destructive=True),
    ToolRow(act=say_in_chat, title="Say something in the meeting's chat"),
    ToolRow(act=who_is_here, title="Who is here", reads_only=True),
    ToolRow(act=read_transcript, title="Read a transcript", reads_only=True),
    ToolRow(act=follow_meeting, title="Follow a meeting", reads_only=True),
    ToolRow(act=search_transcripts, title="Search transcripts", reads_only=True),
    ToolRow(act=transcribe_recording, title="Transcribe a recording"),
    ToolRow(act=wait_for_ending, title="Wait for an ending", reads_only=True),
    ToolRow(act=webhook_deliveries, title="Webhook deliveries", reads_only=True),
    ToolRow(act=explain_bot, title="Explain a bot", reads_only=True),
)


def service_of_link(link: str) -> str:
    """Return the service whose meeting a link leads to. Raises InvalidConfig if no site knows it."""
    from sederunt.platforms import registry  # loads all sites and packages, so only here
    from sederunt.platforms.links import InvalidLink

    try:
        return registry.service_of_link(link)
    except InvalidLink as fault:
        raise InvalidConfig({"meeting_url": [str(fault)]}) from None


async def _bot(service_of: Backend, bot_id: str) -> Mapping[str, Any]:
    bot: Mapping[str, Any] = await service_of.ask("GET", f"/bot/{_id(bot_id)}")
    return bot


def _has_ended(resource: Mapping[str, Any]) -> bool:
    """Return whether a bot or a recording is over for good."""
    if resource["status"] != "bot_detected":
        return resource["status"] in _ENDED
    return datetime.now(UTC) - datetime.fromisoformat(resource["finished_at"]) >= _RETRY_WITHIN


def _summary(bot: Mapping[str, Any]) -> Answer:
    return {name: bot.get(name) for name in _SUMMARY}


def _id(text: str) -> str:
    """Return an id as a part of a path. Raises InvalidConfig for text that would change the path."""
    if text and len(text) <= 64 and all(character.isalnum() or character == "-" for character in text):
        return text
    raise InvalidConfig({"id": ["The id must be one of a bot or a recording, such as 018f2c3e-…."]})


def _unix(at: str) -> int:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise InvalidConfig(
            {"at": [f"at must be a time in ISO 8601, such as 2026-03-02T09:00:00+01:00, not '{at[:40]}'."]}
        ) from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


async def _evidence(service_of: Backend, bot: Mapping[str, Any], kind: str) -> object:
    """Return a piece of evidence that is JSON; None if there is none."""
    if kind not in bot["evidence"]:
        return None
    answer = await service_of.linked(bot["evidence"][kind])
    if answer is None:
        return None
    try:
        document: object = answer.json()
    except ValueError:
        return None
    return document


def _people(why: object) -> list[Answer]:
    if not isinstance(why, Mapping):
        return []
    return [
        {
            "name": person.get("name"),
            "here": person.get("here"),
            "speaking_ms": person.get("speaking_ms"),
            "why": person.get("why"),
        }
        for person in list(why.get("participants", ()))[:_WHY_SHOWN]
    ]
