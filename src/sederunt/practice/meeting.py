"""One practice meeting: people of the script, bots that came, and everything that can be done to both.

Events (see `eventlog`), each with the fields in brackets:
arrived, knocked, admitted, denied, in_call, media_connected, camera_seen, left [bot, name] ·
chat [sender, text, bot or None] · said, fell_silent [who, clip] · person_joined, person_left [who] ·
started, script_over, ended [] · kicked [bot] · refused [do, who, why] (an act of the script that could not be done) ·
note [bot, note] (a dialog was answered, a toggle moved, the page reported something).
"""

import time
from collections.abc import Callable
from typing import Any, Literal

from sederunt import log
from sederunt.errors import Conflict, NotFound, RequestError
from sederunt.practice import clips
from sederunt.practice.announcer import RosterAnnouncer
from sederunt.practice.cast import MeetingCast
from sederunt.practice.deferred import DeferredCalls
from sederunt.practice.eventlog import EventLog
from sederunt.practice.media import MeetingMedia
from sederunt.practice.people import ChatMessage, Occupant, Standing, Visitor
from sederunt.practice.script import CastMember, Script, ScriptedAct, Variant
from sederunt.practice.site import SiteShape, muted
from sederunt.practice.timeline import CastMove, ScriptTimeline

logger = log.get(component="practice")


class Meeting:
    """All methods run on the server's loop; none of them blocks."""

    def __init__(self, code: str, script: Script, site: SiteShape) -> None:
        self.code = code
        self.script = script
        self.site = site if script.variant.signals == "network" else muted(site)
        self.events = EventLog()
        self.visitors: dict[str, Visitor] = {}
        self.messages: list[ChatMessage] = []
        self.is_over = False
        self.cast = MeetingCast(code, self.site, script.cast)
        self.media = MeetingMedia(self.variant, site.slots, self.cast.people)
        self.deferred = DeferredCalls()
        self.roster = RosterAnnouncer(self)
        self._timeline = ScriptTimeline(script)
        if script.starts == "created":
            self.start()

    # --- what callers read ---

    @property
    def url(self) -> str:
        """Return the link that a bot is given."""
        return self.site.address(self.code, self.script)

    @property
    def variant(self) -> Variant:
        return self.script.variant

    def sends_sound_to(self, visitor: Visitor) -> bool:
        """Return whether a bot's page is sent any sound."""
        is_first = next(iter(self.visitors.values())) is visitor
        return self.variant.sound == "sent" or (self.variant.sound == "second_page" and not is_first)

    def in_call(self) -> list[Visitor]:
        return [visitor for visitor in self.visitors.values() if visitor.standing == "in_call"]

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
        entry: str = "ended" if self.is_over else self.variant.entry
        if self.variant.one_of_a_name and any(
            other.standing == "in_call" and other.name == name for other in self.visitors.values()
        ):
            entry = "unexplained"
        if self.variant.quirks.barring and any(
            other.name == name and other.person is not None and other.person.removed for other in self.visitors.values()
        ):
            entry = "barred"
        elif len(self.events.after(kind="knocked")) <= self.variant.quirks.unanswered:
            entry = "server_timeout"
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
            "barred": "barred",
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
        person = self.cast.add(CastMember(name=visitor.name, muted=True), bot=visitor.id)
        person.present = True
        visitor.person, visitor.standing = person, "in_call"
        self.events.add("admitted", bot=visitor.id, name=visitor.name)
        visitor.tell({"show": "call", "title": self.script.title, "code": self.code, "self": person.key})
        self.roster.tell([person])
        self.site.roster_changed(self, visitor, self.cast.people)

    def deny(self, visitor: Visitor, screen: str = "denied") -> None:
        """Refuse a bot that knocks."""
        if visitor.standing != "knocking":
            raise Conflict(f"{visitor.id} is {visitor.standing}; only a bot that knocks can be denied.")
        visitor.standing = "refused"
        self.events.add("denied", bot=visitor.id, name=visitor.name, screen=screen)
        # That nobody answered, no site signals as a person's refusal.
        if (tell := {"denied": self.site.denied, "removed": self.site.removed}.get(screen)) is not None:
            tell(self, visitor)
        visitor.tell({"show": screen})

    def kick(self, visitor: Visitor) -> None:
        """Put a bot out of the call (or of the waiting room)."""
        if visitor.standing == "knocking":
            self.deny(visitor, "removed")
            return
        if visitor.standing != "in_call" or visitor.person is None:
            raise Conflict(f"{visitor.id} is {visitor.standing}; only a bot in the call can be removed.")
        visitor.person.removed = True
        self.events.add("kicked", bot=visitor.id, name=visitor.name)
        self.site.removed(self, visitor)
        self._part(visitor, "removed_for_good" if self.variant.quirks.barring else "removed")

    def go(self, visitor: Visitor) -> None:
        """Let a bot go that left by itself, or whose page is gone."""
        if visitor.standing == "in_call":
            self._part(visitor, None)
        if visitor.standing != "gone":
            visitor.standing = "gone"
            self.events.add("left", bot=visitor.id, name=visitor.name)
        self.close_peer(visitor)  # also of one that was put out a moment ago

    def media_connected(self, visitor: Visitor) -> None:
        """Take in that sound can reach the bot; with the first one a meeting may begin."""
        if visitor.standing != "in_call":
            return  # it was put out, or the meeting ended, while it negotiated
        self.events.add("media_connected", bot=visitor.id, name=visitor.name)
        if self.script.starts == "first_bot":
            self.start()
        self.site.roster_changed(self, visitor, self.cast.people)

    def network(self, visitor: Visitor, state: Literal["lost", "back"]) -> None:
        """Cut a bot off from media and let the page say so, or bring it back."""
        visitor.paused = state == "lost"
        visitor.tell({"network": state})

    # --- the script ---

    def start(self) -> None:
        """Begin meeting time. Does nothing when it runs already, or the meeting is over."""
        if self.media.has_begun or self.is_over:
            return
        self.media.has_begun = True
        self.events.add("started")
        self._run_due()
        self.roster.begin()

    def tick(self) -> None:
        """Advance the meeting by 20 ms of meeting time."""
        if not self.media.has_begun or self.is_over:
            return
        self.media.begin_tick()
        self._run_due()
        before = self.media.sound.speaking()
        peers = [visitor.peer for visitor in self.in_call() if visitor.peer is not None and not visitor.paused]
        finished = self.media.send(peers)
        for csrc in finished:
            self.events.add("fell_silent", who=self.cast.of_csrc(csrc).name)
        if finished and before != self.media.sound.speaking():
            self._tell_speaking()

    def act(self, deed: ScriptedAct) -> None:
        """Do one deed of the script now. NotFound for an unknown person or clip."""
        if deed.do == "end":
            self.end()
        elif deed.do == "record":
            self.tell_all({"notice": "recording"})
        elif deed.do == "remove_bots":
            for visitor in self.in_call():
                self.kick(visitor)
        elif deed.do == "join":
            self._join(self.cast.of_name(deed.who))
        else:
            getattr(self, f"_{deed.do}")(self.cast.find(deed.who), deed)

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

    def close_peer(self, visitor: Visitor) -> None:
        """Close a bot's media line, if it has one; what was sent on it is kept."""
        peer, visitor.peer = visitor.peer, None
        if peer is not None:
            visitor.sent = tuple(peer.sent)
            self.deferred.run(peer.close())

    def tell_all(self, message: dict[str, Any]) -> None:
        for visitor in self.in_call():
            visitor.tell(message)

    async def close(self) -> None:
        """Drop everything: timers, peers."""
        self.is_over = True
        for visitor in self.visitors.values():
            self.close_peer(visitor)
        await self.deferred.close()

    # --- one method per deed that has a `who` ---

    def _say(self, person: Occupant, deed: ScriptedAct) -> None:
        if person.muted:
            self._unmute(person, deed)
        if self.media.sound.say(person.csrc, clips.load(deed.clip)):
            self.events.add("said", who=person.name, clip=deed.clip)
            self._tell_speaking()

    def _leave(self, person: Occupant, _deed: ScriptedAct | None = None) -> None:
        self.media.sound.hush(person.csrc)
        person.present = person.sharing = False
        self.events.add("person_left", who=person.name)
        self.deferred.call(self.variant.leave_lag_s, lambda: self.roster.tell([person]))

    def _mute(self, person: Occupant, _deed: ScriptedAct) -> None:
        self.media.sound.hush(person.csrc)
        person.muted = True
        self.roster.tell([person])
        self._tell_speaking()

    def _unmute(self, person: Occupant, _deed: ScriptedAct) -> None:
        person.muted = False
        self.roster.tell([person])

    def _share(self, person: Occupant, _deed: ScriptedAct) -> None:
        person.sharing = True
        self.roster.tell([person])

    def _unshare(self, person: Occupant, _deed: ScriptedAct) -> None:
        person.sharing = False
        self.roster.tell([person])

    def _rename(self, person: Occupant, deed: ScriptedAct) -> None:
        person.name = deed.text
        self.roster.tell([person])

    def _chat(self, person: Occupant, deed: ScriptedAct) -> None:
        self.chat(person, deed.text)

    # --- inside ---

    def _run_due(self) -> None:
        if self._timeline.is_over:
            return
        for act in self._timeline.due(self.media.now_s):
            if isinstance(act, CastMove):
                self._move(self.cast.people[act.index], act)
            else:
                self._try(act)
        if self._timeline.is_over:
            self.events.add("script_over")

    def _try(self, act: ScriptedAct) -> None:
        try:
            self.act(act)
        except RequestError as error:  # a deed from outside took away whom it names; the others go on
            logger.warning("An act of a script was refused", action="practice_act_refused", why=str(error))
            self.events.add("refused", do=act.do, who=act.who, why=str(error))

    def _move(self, person: Occupant, move: CastMove) -> None:
        if move.do == "join":
            self._join(person)
        elif person.present:  # who was sent away does not leave again
            self._leave(person)

    def _join(self, person: Occupant) -> None:
        """Let somebody in; nothing where they are here already."""
        if person.present:
            return
        person.present = True
        self.events.add("person_joined", who=person.name)
        self.roster.tell([person])

    def _decide_later(self, visitor: Visitor, entry: str) -> None:
        verdicts: dict[str, Callable[[], None]] = {
            "admit_after": lambda: self.admit(visitor),
            "host_late": lambda: self.admit(visitor),
            "deny_after": lambda: self.deny(visitor),
            "server_timeout": lambda: self.deny(visitor, "nobody_answered"),
        }
        if (verdict := verdicts.get(entry)) is not None:
            self.deferred.call(self.variant.after_s, lambda: verdict() if visitor.standing == "knocking" else None)

    def _part(self, visitor: Visitor, screen: str | None) -> None:
        """Take a bot out of the call; its page shows `screen`."""
        visitor.standing = "refused" if screen else "gone"
        if screen is None:
            self.events.add("left", bot=visitor.id, name=visitor.name)
        else:
            visitor.tell({"show": screen})
        if visitor.person is not None:
            visitor.person.present = False
            self.roster.tell([visitor.person])
        if visitor.peer is not None:
            # The last signals must still go out before the transport closes.
            self.deferred.call(0.5 if screen else 0, lambda: self.close_peer(visitor))

    def _tell_speaking(self) -> None:
        csrcs = self.media.sound.speaking()
        for visitor in self.in_call():
            visitor.tell({"speaking": csrcs})
            self.site.speaking_changed(self, visitor, csrcs)
