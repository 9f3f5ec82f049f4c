"""Chat on pages where something stands in the way: keys go to the field that was meant, or nowhere."""

import pytest

from harness.platforms_room import ShowPage
from sederunt.errors import PageChanged
from sederunt.model.bot import Service
from sederunt.platforms.registry import platform_of

MEET = platform_of(Service("gmeet"))
CONTROLS = '<button aria-label="Chat with everyone">c</button><button aria-label="Show everyone">p</button>'
# A dialog over everything, which takes the focus back whenever something else gets it.
DIALOG = """
<div role=dialog aria-modal=true style="position:fixed;inset:0;background:#fff">
<p>Rate this call</p><input id=rating></div>
<script>
const rating = document.getElementById("rating");
document.addEventListener("focusin", (event) => { if (event.target !== rating) rating.focus(); });
rating.focus();
</script>"""
COMPOSER = """
<div id=list></div><textarea aria-label="Send a message"></textarea>
<button aria-label="Send a message" onclick="
  const field = document.querySelector('textarea'); const line = document.createElement('p');
  line.dataset.messageId = 1; line.textContent = field.value; document.getElementById('list').append(line);
  field.value = ''">send</button>"""
STUBBORN = """
<textarea aria-label="Send a message" oninput="this.value = ''"></textarea>"""


async def test_no_key_goes_to_what_takes_the_focus_and_the_message_is_sent_all_the_same(show: ShowPage) -> None:
    page = await show(f"{CONTROLS}{COMPOSER}{DIALOG}")
    await MEET.send_chat(page, "Good morning")
    assert await page.evaluate("() => document.getElementById('rating').value") == ""
    assert await page.evaluate("() => document.getElementById('list').innerText") == "Good morning"


async def test_who_sent_it_hears_what_lies_over_the_field(show: ShowPage) -> None:
    page = await show(f"{CONTROLS}{STUBBORN}{DIALOG}")
    with pytest.raises(PageChanged, match="did not take the message: 'Rate this call' lies over the field"):
        await MEET.send_chat(page, "Good morning")
    assert await page.evaluate("() => document.getElementById('rating').value") == ""


async def test_a_message_that_takes_too_long_says_how_much_of_it_was_sent(
    show: ShowPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sederunt.platforms.chat.ALL_S", 1.5)
    page = await show(CONTROLS)  # and no text field, for which the bot would wait for longer
    with pytest.raises(PageChanged, match=r"took 0 of 1 parts of the message within 1\.5 s"):
        await MEET.send_chat(page, "Good morning")
