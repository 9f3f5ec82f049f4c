"""Lets each chat message through once, whichever channel brings it and in any order; recognises the bot's own lines."""

from collections import OrderedDict
from dataclasses import replace

from sederunt.claims.claim import Claim, Fact, Source, Subject
from sederunt.claims.fold import Fold
from sederunt.model.events import ChatReceived

SAME_MS = 30_000  # the same words by the same person from the other channel within this time are the same message
OWN_MS = 60_000  # a line that the bot wrote comes back within this time
MOST_IDS, MOST_UNMATCHED = 5_000, 500


class ChatLedger:
    """The chat messages of one stay."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._unmatched: list[ChatReceived] = []
        self._own: list[tuple[int, str]] = []  # (when, what) the bot wrote and has not read back yet

    def wrote(self, text: str, at_ms: int) -> None:
        """Note a message that the bot itself writes."""
        self._own = [*self._own[-9:], (at_ms, _bare(text))]

    def first_word(self, message: ChatReceived) -> ChatReceived | None:
        """Return the message unless it is a repeat. Old messages are forgotten."""
        if message.message_id is not None:
            if message.message_id in self._ids:
                return None
            self._ids[message.message_id] = None
            if len(self._ids) > MOST_IDS:
                self._ids.popitem(last=False)
        recent = [other for other in self._unmatched if abs(message.at_ms - other.at_ms) <= SAME_MS][-MOST_UNMATCHED:]
        twin = next((other for other in recent if other.by_page != message.by_page and _same(other, message)), None)
        if twin is not None:
            recent.remove(twin)
            self._unmatched = recent
            return None
        self._unmatched = [*recent, message]
        return message

    def tells_who_we_are(self, message: ChatReceived) -> Claim | None:
        """Return a claim of who the bot is if this is the first line with words that the bot wrote."""
        words = _bare(message.content)
        own_line = next(
            (line for line in self._own if line[1] == words and 0 <= message.at_ms - line[0] <= OWN_MS), None
        )
        if own_line is None or message.is_own or not (message.key or message.username):
            return None
        self._own.remove(own_line)
        author = Subject(key=message.key) if message.key else Subject(name=message.username)
        return Claim(fact=Fact.SELF, source=Source.CHAT, at_ms=message.at_ms, subjects=(author,))


def signed(message: ChatReceived, fold: Fold) -> ChatReceived:
    """Return the message with its sender's name and picture where they are known."""
    if message.is_own and (name := fold.own_name):
        return replace(message, username=name)
    if message.key and not message.username and (sender := fold.participant(message.key)):
        return replace(message, username=sender.name, avatar=sender.avatar)
    return message


def _same(message: ChatReceived, other: ChatReceived) -> bool:
    return message.username == other.username and _bare(message.content) == _bare(other.content)


def _bare(text: str) -> str:
    return " ".join(text.split())
