"""One practice meeting: people of the script, bots that came, and everything that can be done to both.

Events (see `eventlog`), each with the fields in brackets:
arrived, knocked, admitted, denied, in_call, media_connected, camera_seen, left [bot, name] ·
chat [sender, text, bot or None] · said, fell_silent [who, clip] · person_joined, person_left [who] ·
started, script_over, ended [] · kicked [bot] ·
note [bot, note] (a dialog was answered, a toggle moved, the page reported something).
"""

import asyncio
import itertools
import random
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from sederunt import log
from sederunt.errors import Conflict, NotFound
from sederunt.practice import clips
from sederunt.practice.eventlog import EventLog
from sederunt.practice.people import ChatMessage, Occupant, Standing, Visitor
from sederunt.practice.script import CastMember, Script, ScriptedAct
from sederunt.practice.site import SiteShape, muted
from sederunt.practice.sound import TICK_S, MeetingSound
from sederunt.practice.timeline import ScriptTimeline
from sederunt.practice.video import Video

logger = log.get(component="practice")


class Meeting:
    """All methods run on the server's loop; none of them blocks."""

    def __init__(self, code: str, script: Script, site: SiteShape) -> None:
        self.code = code
        self.script = script
        self.variant = script.variant
        self.site = site if script.variant.signals == "network" else muted(site)
        self.events = EventLog()
        self.visitors: dict[str, Visitor] = {}
        self.messages: list[ChatMessage] = []
        self.is_over = False
        self.stalls_left = self.variant.stalls
        self.started = asyncio.Event()
        self._numbers = itertools.count(1)
        self.people = [self._new_person(entry) for entry in script.cast]
        for person, entry in zip(self.people, script.cast, strict=True):
            person.present = entry.joins_at_s <= 0  # they sit there before the first bot comes
        owners = [person.csrc for person in self.people] if self.variant.audio == "own_tracks" else []
        own_slots = owners or (self.variant.audio == "per_person" and site.slots > 1)
        self._sound = MeetingSound(
            slots=len(owners) or site.slots,
            owners=owners,
            mode="per_person" if own_slots else "mixed",
            idle=self.variant.idle,
            dtx=self.variant.dtx,
        )
        self._video = Video(self.variant.video) if self.variant.video else None
        self._ticks = 0
        self._timeline = ScriptTimeline(script)
        self._quirks, self._chance = self.variant.quirks, random.Random(self.variant.quirks.seed)
        self._timers: set[asyncio.TimerHandle] = set()
        self._closing: set[asyncio.Task[None]] = set()
        if script.starts == "created":
            self.start()

    # --- what callers read ---

    @property
    def url(self) -> str:
        """Return the link that a bot is given."""
        return self.site.address(self.code, self.script)

    def in_call(self) -> list[Visitor]:
        return [visitor for visitor in self.visitors.values() if visitor.standing == "in_call"]

    def present(self) -> list[Occupant]:
        return [person for person in self.people if person.present]

    def visitor(self, bot: str | None = None, *, standing: Standing | None = None) -> Visitor:
        """Return a bot by id or name; without one the only (or latest) that has that standing. NotFound otherwise."""
        fitting = [
            visitor
            for visitor in self.visitors.values()
            if bot in (None, visitor.id, visitor.name) and standing in (None, visitor.standing)
        ]
        if not fitting:
            raise NotFound(f"No bot {bot or ''} is {standing or 'here'} in {self.code}.".replace("  ", " "))
        return fitting[-1]

    async def wait_for(self, kind: str, *, after: int = 0, timeout_s: float = 60, **match: Any) -> dict[str, Any]:
        """Return the first such event after number `after`; TimeoutError lists what happened instead."""
        return (await self.events.wait_for(kind, after=after, timeout_s=timeout_s, **match)).to_data()

    # --- bots ---

    def arrive(self, tell: Callable[[dict[str, Any]], None], facts: dict[str, Any]) -> Visitor:
        """Take in a page that opened its socket."""
        visitor = Visitor(id=f"bot-{len(self.visitors) + 1}", tell=tell, facts=facts)
        self.visitors[visitor.id] = visitor
        self.events.add("arrived", bot=visitor.id, name="")
        return visitor

    def knock(self, visitor: Visitor, name: str) -> None:
        """Take in that the bot pressed the join button; what follows is the variant's `entry`."""
        if visitor.standing in ("knocking", "in_call"):
            return  # a second press while the next screen is on its way
        visitor.name = name
        if self.variant.passcode and visitor.facts.get("passcode") != self.variant.passcode:
            visitor.tell({"show": "wrong_passcode"})
            return
        self.events.add("knocked", bot=visitor.id, name=name)
        entry = "ended" if self.is_over else self.variant.entry
        if self.variant.one_of_a_name and any(
            other.standing == "in_call" and other.name == name for other in self.visitors.values()
        ):
            entry = "unexplained"
        if entry in ("open", "sign_in"):
            self.admit(visitor)
            return
        visitor.standing = "knocking"
        screens = {"blocked": "blocked", "captcha": "captcha", "problem": "problem", "ended": "already_over"}
        screens |= {
            "host_late": "waiting_for_host",
            "locked": "locked",
            "full": "full",
            "unexplained": "unexplained",
            "invalid": "invalid",
        }
        screen = screens.get(entry, "host_elsewhere" if entry == "host_elsewhere" else "lobby")
        visitor.tell({"show": screen, "name": name, "redirect_s": self.variant.redirect_s})
        if screen not in ("lobby", "waiting_for_host", "host_elsewhere"):
            visitor.standing = "refused"
        self._decide_later(visitor, entry)

    def admit(self, visitor: Visitor) -> None:
        """Let the bot in: it gets a person, the roster, and is asked to negotiate media."""
        if visitor.standing in ("in_call", "gone"):
            raise Conflict(f"{visitor.id} is {visitor.standing}; only a bot that arrived or knocks can be admitted.")
        person = self._new_person(CastMember(name=visitor.name, muted=True))
        person.bot, person.present = visitor.id, True
        visitor.person, visitor.standing = person, "in_call"
        self.people.append(person)
        self.events.add("admitted", bot=visitor.id, name=visitor.name)
        visitor.tell({"show": "call", "title": self.script.title, "code": self.code, "self": person.key})
        self._tell_roster([person])
        self.site.roster_changed(self, visitor, self.people)

    def deny(self, visitor: Visitor, screen: str = "denied") -> None:
        """Refuse a bot that knocks."""
        if visitor.standing != "knocking":
            raise Conflict(f"{visitor.id} is {visitor.standing}; only a bot that knocks can be denied.")
        visitor.standing = "refused"
        self.events.add("denied", bot=visitor.id, name=visitor.name, screen=screen)
        if screen == "denied":  # that nobody answered, no site signals as a person's refusal
            self.site.denied(self, visitor)
        visitor.tell({"show": screen})

    def kick(self, visitor: Visitor) -> None:
        """Put a bot out of the call (or of the waiting room)."""
        if visitor.standing == "knocking":
            self.deny(visitor)
            return
        if visitor.standing != "in_call" or visitor.person is None:
            raise Conflict(f"{visitor.id} is {visitor.standing}; only a bot in the call can be removed.")
        visitor.person.removed = True
        self.events.add("kicked", bot=visitor.id, name=visitor.name)
        self.site.removed(self, visitor)
        self._part(visitor, "removed")

    def go(self, visitor: Visitor) -> None:
        """Let a bot go that left by itself, or whose page is gone."""
        if visitor.standing == "in_call":
            self._part(visitor, None)
        if visitor.standing != "gone":
            visitor.standing = "gone"
            self.events.add("left", bot=visitor.id, name=visitor.name)

    def media_connected(self, visitor: Visitor) -> None:
        self.events.add("media_connected", bot=visitor.id, name=visitor.name)
        if self.script.starts == "first_bot":
            self.start()
        self.site.roster_changed(self, visitor, self.people)

    def network(self, visitor: Visitor, state: Literal["lost", "back"]) -> None:
        """Cut a bot off from media and let the page say so, or bring it back."""
        visitor.paused = state == "lost"
        visitor.tell({"network": state})

    def key_frame(self, slot: int) -> None:
        """Take in that a bot's receiver asked for a key frame."""
        if self._video:
            self._video.key_frame(slot)

    # --- the script ---

    def start(self) -> None:
        """Begin meeting time. Does nothing when it runs already."""
        if self.started.is_set():
            return
        self.started.set()
        self.events.add("started")
        self._run_due()
        if self._quirks.mapping_s > 0:
            self._later(self._quirks.mapping_s, lambda: self._tell_channels(self.present()))
        if self._quirks.full_lists_s:
            self._tell_full_lists()

    def tick(self) -> None:
        """Advance the meeting by 20 ms of meeting time."""
        if not self.started.is_set() or self.is_over:
            return
        self._ticks += 1
        self._run_due()
        before = self._sound.speaking()
        frames, finished = self._sound.tick()
        peers = [visitor.peer for visitor in self.in_call() if visitor.peer is not None and not visitor.paused]
        for frame in frames:
            for peer in peers:
                peer.send_audio(frame, self._ticks)
        if self._video:
            self._video.tick(self._ticks, peers)
        for csrc in finished:
            self.events.add("fell_silent", who=next(person for person in self.people if person.csrc == csrc).name)
        if finished and before != self._sound.speaking():
            self._tell_speaking()

    def act(self, deed: ScriptedAct) -> None:
        """Do one deed of the script now. NotFound for an unknown person or clip."""
        if deed.do == "end":
            self.end()
        elif deed.do == "record":
            self.tell_all({"notice": "recording"})
        elif deed.do == "join":
            self._join(deed.who)
        else:
            getattr(self, f"_{deed.do}")(self._person(deed.who), deed)

    def end(self) -> None:
        """End the meeting for everyone, as the host does."""
        if self.is_over:
            return
        self.is_over = True
        self.events.add("ended")
        for visitor in self.in_call():
            self.site.ended(self, visitor)
            self._part(visitor, "over")
        for visitor in self.visitors.values():
            if visitor.standing == "knocking":
                visitor.standing = "refused"
                visitor.tell({"show": "already_over"})

    def chat(self, sender: Occupant, text: str, *, bot: str | None = None) -> ChatMessage:
        """Post a message to everyone, from a person of the cast or from a bot."""
        message = ChatMessage(f"{round(time.time() * 1_000_000):016d}", sender, text, round(time.time() * 1000))
        self.messages.append(message)
        self.events.add("chat", sender=sender.name, text=text, bot=bot)
        for visitor in self.in_call():
            own = visitor.person is sender
            data = {"id": message.id, "sender": sender.name, "text": text, "at_ms": message.at_ms, "own": own}
            visitor.tell({"chat": data})
            self.site.chat_sent(self, visitor, message)
        return message

    def tell_all(self, message: dict[str, Any]) -> None:
        for visitor in self.in_call():
            visitor.tell(message)

    async def close(self) -> None:
        """Drop everything: timers, peers."""
        self.is_over = True
        for timer in self._timers:
            timer.cancel()
        peers = [visitor.peer for visitor in self.visitors.values() if visitor.peer is not None]
        await asyncio.gather(*(peer.close() for peer in peers), *self._closing)

    # --- one method per deed that has a `who` ---

    def _say(self, person: Occupant, deed: ScriptedAct) -> None:
        if person.muted:
            self._unmute(person, deed)
        if self._sound.say(person.csrc, clips.load(deed.clip)):
            self.events.add("said", who=person.name, clip=deed.clip)
            self._tell_speaking()

    def _leave(self, person: Occupant, _deed: ScriptedAct) -> None:
        self._sound.hush(person.csrc)
        person.present = person.sharing = False
        self.events.add("person_left", who=person.name)
        self._later(self.variant.leave_lag_s, lambda: self._tell_roster([person]))

    def _mute(self, person: Occupant, _deed: ScriptedAct) -> None:
        self._sound.hush(person.csrc)
        person.muted = True
        self._tell_roster([person])
        self._tell_speaking()

    def _unmute(self, person: Occupant, _deed: ScriptedAct) -> None:
        person.muted = False
        self._tell_roster([person])

    def _share(self, person: Occupant, _deed: ScriptedAct) -> None:
        person.sharing = True
        self._tell_roster([person])

    def _unshare(self, person: Occupant, _deed: ScriptedAct) -> None:
        person.sharing = False
        self._tell_roster([person])

    def _rename(self, person: Occupant, deed: ScriptedAct) -> None:
        person.name = deed.text
        self._tell_roster([person])

    def _chat(self, person: Occupant, deed: ScriptedAct) -> None:
        self.chat(person, deed.text)

    def _join(self, name: str) -> None:
        person = next((person for person in self.people if person.name == name and not person.bot), None)
        if person is None:
            person = self._new_person(CastMember(name=name))
            self.people.append(person)
        if not person.present:
            person.present = True
            self.events.add("person_joined", who=name)
            self._tell_roster([person])

    # --- inside ---

    def _run_due(self) -> None:
        if self._timeline.is_over:
            return
        for act in self._timeline.due(self._ticks * TICK_S):
            self.act(act)
        if self._timeline.is_over:
            self.events.add("script_over")

    def _decide_later(self, visitor: Visitor, entry: str) -> None:
        verdicts: dict[str, Callable[[], None]] = {
            "admit_after": lambda: self.admit(visitor),
            "host_late": lambda: self.admit(visitor),
            "deny_after": lambda: self.deny(visitor),
            "server_timeout": lambda: self.deny(visitor, "nobody_answered"),
        }
        if entry in verdicts:
            self._later(self.variant.after_s, lambda: verdicts[entry]() if visitor.standing == "knocking" else None)

    def _later(self, delay_s: float, call: Callable[[], None]) -> None:
        if delay_s <= 0:
            call()
            return
        self._timers.add(asyncio.get_running_loop().call_later(delay_s, call))

    def _part(self, visitor: Visitor, screen: str | None) -> None:
        """Take a bot out of the call; its page shows `screen`."""
        visitor.standing = "refused" if screen else "gone"
        if screen is None:
            self.events.add("left", bot=visitor.id, name=visitor.name)
        else:
            visitor.tell({"show": screen})
        if visitor.person is not None:
            visitor.person.present = False
            self._tell_roster([visitor.person])
        if visitor.peer is not None:
            # The last signals must still go out before the transport closes.
            self._later(0.5 if screen else 0, lambda: self._close_peer(visitor))

    def _close_peer(self, visitor: Visitor) -> None:
        peer, visitor.peer = visitor.peer, None
        if peer is not None:
            visitor.sent = tuple(peer.sent)
            task = asyncio.get_running_loop().create_task(peer.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _tell_roster(self, changed: Iterable[Occupant]) -> None:
        """The page shows who is here, the site's own channel tells what changed; either as its quirks are."""
        changed = list(changed)
        self._later(self._quirks.list_lag_s if self.started.is_set() else 0, self._show_roster)
        if self._quirks.full_lists_s and not all(person.bot for person in changed):
            changed = [person for person in changed if person.present]
        if self.started.is_set() and self._chance.random() < self._quirks.lost:
            return
        self._tell_channels(changed)

    def _show_roster(self) -> None:
        for visitor in self.in_call():
            visitor.tell({"roster": [self._row(person, visitor) for person in self.people if person.present]})

    def _tell_channels(self, changed: Sequence[Occupant]) -> None:
        if changed:
            for visitor in self.in_call():
                self.site.roster_changed(self, visitor, changed)

    def _tell_full_lists(self) -> None:
        self._tell_channels(self.present())
        if not self.is_over:
            self._later(self._quirks.full_lists_s, self._tell_full_lists)

    @property
    def maps_sources(self) -> bool:
        """Return whether the site tells by now whose a source is."""
        late_s = self._quirks.mapping_s
        return late_s == 0 or (late_s > 0 and self._ticks * TICK_S >= late_s)

    def _tell_speaking(self) -> None:
        csrcs = self._sound.speaking()
        for visitor in self.in_call():
            visitor.tell({"speaking": csrcs})
            self.site.speaking_changed(self, visitor, csrcs)

    def _row(self, person: Occupant, visitor: Visitor) -> dict[str, Any]:
        return {
            "key": person.key,
            "name": person.name,
            "csrc": person.csrc,
            "host": person.host,
            "muted": person.muted,
            "sharing": person.sharing,
            "video": person.video,
            "avatar": person.avatar,
            "self": person is visitor.person,
            "hand": person.name == self._quirks.hand,
            "hidden": person.name == self._quirks.hidden,
        }

    def _new_person(self, entry: CastMember) -> Occupant:
        number = next(self._numbers)
        return Occupant(
            number=number,
            name=entry.name,
            key=self.site.key(self.code, number),
            csrc=self.site.source(number),
            host=entry.host,
            muted=entry.muted,
            video=entry.video,
            avatar=entry.avatar,
        )

    def _person(self, name: str) -> Occupant:
        for person in self.people:
            if person.name == name and person.present:
                return person
        raise NotFound(
            f"{name or 'Nobody'} is not in {self.code}; here are: {', '.join(p.name for p in self.present())}."
        )
