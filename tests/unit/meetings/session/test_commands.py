"""Commands: what the outside may ask of a bot that is held."""

import base64

import pytest

from sederunt.errors import BrokenMedia, DestinationError
from sederunt.meetings.session.commands import LARGEST_PICTURE, Commands


async def test_a_stop_is_taken_and_stays() -> None:
    commands = Commands()
    assert await commands.carry_out({"do": "stop"}) == {"ok": True}
    assert commands.stop.is_set()


async def test_chat_before_admission_is_refused_with_a_sentence() -> None:
    assert await Commands().carry_out({"do": "chat", "message": "hi"}) == {
        "ok": False,
        "later": True,
        "message": "The bot is not in the meeting.",
    }


async def test_chat_in_the_meeting_reaches_the_page() -> None:
    said: list[str] = []

    async def say(text: str) -> None:
        said.append(text)

    commands = Commands()
    commands.can_act(say=say, show=None)
    assert await commands.carry_out({"do": "chat", "message": "hi"}) == {"ok": True}
    assert said == ["hi"]


async def test_a_page_that_refuses_the_message_does_not_harm_the_bot() -> None:
    async def say(text: str) -> None:
        raise RuntimeError("the host switched chat off")

    commands = Commands()
    commands.can_act(say=say, show=None)
    answer = await commands.carry_out({"do": "chat", "message": "hi"})
    assert answer == {"ok": False, "message": "The meeting did not take the message: the host switched chat off"}


async def test_another_picture_is_shown_or_the_reply_says_why_not() -> None:
    shown: list[str] = []

    async def show(address: str) -> None:
        if not address:
            raise ValueError("an address is wanted.")
        shown.append(address)

    commands = Commands()
    order = {"do": "change-avatar", "avatar_url": "https://x.test/me.png"}
    assert (await commands.carry_out(order))["later"]
    commands.can_act(say=None, show=show)
    assert await commands.carry_out(order) == {"ok": True}
    assert shown == ["https://x.test/me.png"]
    answer = await commands.carry_out({"do": "change-avatar"})
    assert answer == {"ok": False, "message": "The picture is not shown: an address is wanted."}


@pytest.mark.parametrize("error", [DestinationError("It answered 404.", retryable=False), BrokenMedia("No picture.")])
async def test_a_picture_that_cannot_be_used_is_the_callers_fault(error: Exception) -> None:
    async def show(_: str) -> None:
        raise error

    commands = Commands()
    commands.can_act(say=None, show=show)
    answer = await commands.carry_out({"do": "change-avatar", "avatar_url": "https://x.test/me.png"})
    assert answer == {"ok": False, "by_caller": True, "message": f"The picture is not shown: {error}"}


async def test_an_unknown_order_names_the_known_ones() -> None:
    answer = await Commands().carry_out({"do": "dance"})
    assert answer["message"] == "Unknown order 'dance': expected stop, chat, change-avatar, picture or are-you-there."


async def test_a_picture_of_the_page_comes_as_base64_and_only_where_it_fits_into_a_message() -> None:
    commands = Commands()
    assert not (await commands.carry_out({"do": "picture"}))["ok"]
    for size, fits in ((LARGEST_PICTURE, True), (LARGEST_PICTURE + 1, False)):

        async def look(data: bytes = b"x" * size) -> bytes:
            return data

        commands.look = look
        answer = await commands.carry_out({"do": "picture"})
        assert answer["ok"] is fits
        assert len(base64.b64decode(answer.get("png", ""))) == (size if fits else 0)
