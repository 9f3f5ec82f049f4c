"""One source of sound and its sessions, one after the other.

The one place that opens sessions (on first sound), replaces them (before the vendor's limit, after a loss, after long
silence), and carries ids and voices over from one to the next. The recording's own seconds drive it, so silence and an
empty meeting cost nothing; only what a session left unanswered at its end is sent again by the clock.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sederunt import log
from sederunt.errors import SederuntError
from sederunt.transcription.backlog import Backlog
from sederunt.transcription.line import Line, linked
from sederunt.transcription.live import Ended, Event, Final, LiveSegment, Partial
from sederunt.transcription.sessions import Heard, Over, Session, SessionEvent, Warned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sederunt.transcription.pipeline import Pipeline

logger = log.get(component="transcription")

RATE = 16_000
# Samples no louder than this (two steps of 16 bit) are a muted track.
SILENT = 2
# Packets jitter by so much. A longer pause is one; a frame that begins so long before the last one's end repeats it.
JITTER_S = 0.25
# The last hundredths of a second of sound that breaks off are not much softer than the loudest of the last seconds.
TAIL, BROKEN_OFF, LEAST_PEAK, PEAK_KEPT = RATE // 20, 0.2, 300, 0.8
# A lost session is replaced after these pauses, of which the last one repeats; each is shortened by chance, so that
# all sessions of a host do not come back in one moment.
PAUSES_S = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
# Sound waits so long for a session; then the source is given up, and its recording is transcribed afterwards.
PATIENCE_S = 900.0
# A session is replaced so long before the vendor would end it: in a pause if there is one, at the latest halfway.
BEFORE_LIMIT_S = 20.0
# Less unanswered sound than this is the rest of a word that was answered.
LEAST_UNSETTLED_S = 0.1


class _Open:
    """A session, what it said, and how much it was fed."""

    def __init__(self, line: Line, since: float, unsettled: _Unsettled) -> None:
        self.session: Session | None = None  # None while it is being opened, and once it was lost
        self.line, self.since, self.unsettled = line, since, unsettled
        self.used_at = since  # when it was last given something to answer
        self._fed = 0
        self._until = float("-inf")

    def feed(self, start: float, samples: NDArray[np.int16], *, silent: bool = False) -> None:
        if abs(start - self._until) > 0.001:
            self.line.timeline.anchor(self._fed / RATE, start)
        self._fed += len(samples)
        if not silent:
            self.line.timeline.sounded(self._fed / RATE)
        self._until = start + len(samples) / RATE
        if self.session is not None:
            self.session.feed(samples)


class _Tail:
    """Where and how sound ends: whoever stops speaking fades within a few hundredths of a second."""

    def __init__(self) -> None:
        self.end = float("-inf")  # in seconds of the recording
        self.broke_off = False  # in full voice
        self._peak = 0.0  # the loudest of the last seconds

    def hear(self, start: float, samples: NDArray[np.int16]) -> None:
        self.end = start + len(samples) / RATE
        self._peak = max(self._peak * PEAK_KEPT ** (len(samples) / RATE), _peak(samples))
        self.broke_off = _peak(samples[-TAIL:]) >= max(BROKEN_OFF * self._peak, LEAST_PEAK)


class _Losses:
    """Sessions that were lost in a row."""

    def __init__(self) -> None:
        self.retry_at = 0.0  # when the next may be opened, in seconds of the recording
        self._count, self._since = 0, 0.0

    def add(self, now: float) -> float | None:
        """Note one more; return how long to wait for the next session, None where no more is to be opened."""
        self._since = self._since if self._count else now
        if now - self._since >= PATIENCE_S:
            return None
        pause_s = PAUSES_S[min(self._count, len(PAUSES_S) - 1)] * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        self.retry_at = now + pause_s
        self._count += 1
        return pause_s

    def end(self) -> None:
        """Note that a session answers."""
        self._count = 0


class _Unsettled:
    """Sound that no session has answered, and what lost ones drafted of it: for the one after them."""

    def __init__(self) -> None:
        self._sound = Backlog()
        self.until = 0.0  # everything before is answered, in seconds of the recording
        self.drafts: list[LiveSegment] = []  # waiting to be said again
        self.losses = _Losses()
        self.tries = 0  # to have it answered at the end

    def __bool__(self) -> bool:
        return self._sound.seconds_after(self.until) >= LEAST_UNSETTLED_S

    def append(self, start: float, samples: NDArray[np.int16], *, keep_s: float) -> None:
        """Keep the next samples, and forget what lies longer ago than `keep_s`."""
        self._sound.append(start, samples)
        self._sound.drop_until(start - keep_s)

    def settle(self, until: float) -> None:
        self.until = max(self.until, until)
        self._sound.drop_until(self.until)

    def pieces(self) -> Iterator[tuple[float, NDArray[np.int16]]]:
        self._sound.drop_until(self.until)
        return self._sound.all()

    def draft_id(self, start: float, end: float) -> str | None:
        """Return the id of the draft that a segment repeats; None where it repeats none."""
        for draft in self.drafts:
            if draft.start < end and start < draft.end:
                self.drafts.remove(draft)
                return draft.segment_id
        return None

    def said_again(self, events: Sequence[Event]) -> list[Event]:
        """Return the events that withdraw other drafts whose words are among these finals."""
        finals = [event.segment for event in events if isinstance(event, Final)]
        repeated = [
            draft
            for draft in self.drafts
            if any(final.start <= (draft.start + draft.end) / 2 < final.end for final in finals)
        ]
        self.drafts = [draft for draft in self.drafts if draft not in repeated]
        return [Partial(replace(draft, transcript="", words=())) for draft in repeated]

    def clear(self) -> None:
        self._sound.clear()


class _VoiceNumbers:
    """The numbers of the voices that sessions tell apart, each by labels of its own."""

    def __init__(self, new_number: Callable[[], int]) -> None:
        self._new_number = new_number
        self._numbers: dict[tuple[Line, str], int] = {}

    def of(self, line: Line, label: str) -> int:
        if (line, label) not in self._numbers:
            self._numbers[line, label] = self._new_number()
        return self._numbers[line, label]

    def carry_over(self, old: Line, new: Line) -> None:
        """Number a session's voices as those before it: who spoke when, while both listened, tells which is which."""
        numbered = [
            (start, end, self._numbers[old, label])
            for start, end, label in old.spans()
            if (old, label) in self._numbers
        ]
        for label, number in linked(numbered, new.spans()).items():
            self._numbers[new, label] = number

    def forget(self, line: Line) -> None:
        self._numbers = {key: number for key, number in self._numbers.items() if key[0] is not line}


class Stream:
    def __init__(self, bot: Pipeline, source: str, *, mixed: bool) -> None:
        self._bot, self._source, self._mixed = bot, source, mixed
        self._now = 0.0  # sound or silence is known until then, in seconds of the recording
        self._current: _Open | None = None
        self._coming: _Open | None = None  # takes over before the current one's limit
        self._leaving: list[_Open] = []
        self._unsettled = _Unsettled()  # of the current session, or for the next
        self._voices = _VoiceNumbers(bot.new_label)
        self._tail = _Tail()
        self._unanswered_s = 0.0  # of speech since the current session last told anything
        self._is_silence_doubted = False  # a session was replaced for that, and none has told anything since
        self._gone = False

    @property
    def is_settling(self) -> bool:
        """Return whether a session still has to end."""
        return bool(self._leaving)

    # --- sound --------------------------------------------------------------------------------------------------------

    def hear(self, start: float, samples: NDArray[np.int16]) -> None:
        if start < self._tail.end - JITTER_S:
            samples = samples[round((self._tail.end - start) * RATE) :]
            start = self._tail.end
        if self._gone or not len(samples):
            return
        end = start + len(samples) / RATE
        if int(samples.max()) <= SILENT and int(samples.min()) >= -SILENT:
            self.silence_until(end)
            return
        if start > self._now + JITTER_S:
            self.silence_until(start)
        self._unsettled.append(start, samples, keep_s=self._bot.terms.resend_s)
        if self._current is not None:
            self._current.feed(start, samples)
        elif start >= self._unsettled.losses.retry_at:
            self._current = self._begun(self._unsettled)
        if self._coming is not None:
            self._coming.feed(start, samples)
        self._tail.hear(start, samples)
        self._now = max(self._now, end)
        self._replace_if_mute(samples)
        self._replace_in_time(in_pause=False)

    def may_go_on(self, now: float) -> bool:
        """Return whether sound broke off in full voice, and not before this second: then more of it may be late."""
        return self._tail.broke_off and self._tail.end > now

    def silence_until(self, now: float) -> None:
        if self._gone or now <= self._now:
            return
        room = self._bot.terms.silence_sent_s - (self._now - self._tail.end)
        count = round(min(now - self._now, max(0.0, room)) * RATE)
        for opened in (self._current, self._coming):
            if opened is not None and count > 0:
                opened.feed(self._now, np.zeros(count, np.int16), silent=True)
        self._now = now
        if self._current is None:
            self._catch_up()
        elif now - max(self._tail.end, self._current.used_at) >= self._bot.idle_s:
            self.finish()
        else:
            self._replace_in_time(in_pause=now - self._tail.end >= JITTER_S)

    def drop(self) -> None:
        """End at once. What has not settled stays as its drafts were."""
        for opened in self._leaving:
            if opened.session is not None:
                opened.session.abandon()
            opened.unsettled.drafts += opened.line.leftovers()
            self._keep_drafts_of(opened.unsettled)
        self._leaving = []
        self._end("")

    # --- sessions -----------------------------------------------------------------------------------------------------

    def _begun(self, unsettled: _Unsettled) -> _Open | None:
        """Open a session and feed it what none has settled yet, with the silence in it."""
        until = next((at for at, _ in unsettled.pieces()), self._now)
        opened = self._opened(until, unsettled)
        if opened is None:
            return None
        opened.used_at = self._now
        self._unanswered_s = 0.0
        for at, piece in unsettled.pieces():
            self._rest(opened, until, at)
            opened.feed(at, piece)
            until = at + len(piece) / RATE
        return opened

    def _catch_up(self) -> None:
        """In a pause, let the next session answer what a lost one did not."""
        if self._unsettled and self._now >= self._unsettled.losses.retry_at:
            self._current = self._begun(self._unsettled)
        if self._current is not None:
            self._rest(self._current, self._tail.end, self._now)

    def _rest(self, opened: _Open, since: float, until: float) -> None:
        """Feed a session that catches up the silence between two sounds, as far as it would have been sent."""
        if until - since > JITTER_S:
            count = round(min(until - since, self._bot.terms.silence_sent_s) * RATE)
            opened.feed(since, np.zeros(count, np.int16), silent=True)

    def _opened(self, since: float, unsettled: _Unsettled) -> _Open | None:
        line = Line(
            self._source,
            lambda start, end: opened.unsettled.draft_id(start, end) or self._bot.new_id(),
            self._voices.of,
        )
        opened = _Open(line, since, unsettled)
        try:
            opened.session = self._bot.open(mixed=self._mixed, tell=lambda event: self._told(opened, event))
        except SederuntError as fault:
            self._lost(str(fault), retry=False)
            return None
        return opened

    def _replace_if_mute(self, samples: NDArray[np.int16]) -> None:
        """Replace a session that answers pings and nothing else; once, for noise without words has no answer either."""
        limit_s = self._bot.terms.unanswered_s
        if self._current is None or limit_s is None or self._is_silence_doubted:
            return
        self._unanswered_s += len(samples) / RATE if _peak(samples) >= LEAST_PEAK else 0.0
        if self._unanswered_s >= limit_s:
            self._is_silence_doubted = True
            mute = self._current
            if mute.session is not None:
                mute.session.abandon()
            self._over(mute, Over(f"The vendor answered nothing to {limit_s:g} s of speech."))

    def _replace_in_time(self, *, in_pause: bool) -> None:
        limit_s = self._bot.terms.longest_session_s
        if self._current is None or limit_s is None:
            return
        overlap_s = self._bot.terms.mixed_overlap_s if self._mixed else self._bot.terms.overlap_s
        left_s = self._current.since + limit_s - self._now
        if self._coming is None and left_s <= BEFORE_LIMIT_S + overlap_s:
            self._coming = self._opened(self._now, _Unsettled())
            if self._coming is not None:
                self._coming.line.start = float("inf")  # it only listens until it takes over
        elif self._coming is not None and left_s <= BEFORE_LIMIT_S and (in_pause or left_s <= BEFORE_LIMIT_S / 2):
            old, self._unsettled = self._current, _Unsettled()
            self._hand_over(self._now)
            self._leave(old)

    def _hand_over(self, at: float) -> None:
        """The coming session answers from this moment on; voices keep their numbers."""
        old, new = self._current, self._coming
        assert old is not None
        assert new is not None
        self._current, self._coming = new, None
        old.line.end = new.line.start = at
        new.unsettled = self._unsettled
        self._voices.carry_over(old.line, new.line)

    def finish(self) -> None:
        """End the sound, for now: everything open settles, and what a lost session left unanswered is sent again."""
        if self._current is None and self._unsettled and not self._gone:
            self._current = self._begun(self._unsettled)
        for opened in (self._current, self._coming):
            if opened is not None:
                self._leave(opened)
        if self._current is None:
            self._keep_drafts_of(self._unsettled)
        self._current = self._coming = None
        self._unsettled = _Unsettled()

    def _leave(self, opened: _Open) -> None:
        self._leaving.append(opened)
        if opened.session is not None:
            opened.session.finish()

    # --- what sessions tell -------------------------------------------------------------------------------------------

    def _told(self, opened: _Open, event: SessionEvent) -> None:
        if self._gone:
            return
        if isinstance(event, Warned):
            self._bot.trouble(event.message, lossy=event.lossy)
        elif isinstance(event, Over):
            self._over(opened, event)
        else:
            opened.unsettled.losses.end()
            self._unanswered_s, self._is_silence_doubted = 0.0, False
            if isinstance(event, Heard):
                opened.line.heard(event.until)
            else:
                events = opened.line.take(event)
                self._bot.tell([*events, *opened.unsettled.said_again(events)])
            opened.unsettled.settle(opened.line.settled_until)

    def _over(self, opened: _Open, event: Over) -> None:
        if event.is_limit:
            self._bot.limit_reached(event.cause)
        if opened in self._leaving:
            self._left(opened, event)
        elif opened is self._coming:
            self._coming = None  # another is opened with the next sound
            self._voices.forget(opened.line)
        elif opened is self._current:
            self._unsettled.drafts += opened.line.leftovers()
            if self._coming is not None:
                self._hand_over(self._unsettled.until)
            else:
                self._current = None
                self._lost(event.cause, retry=event.retry)

    def _left(self, opened: _Open, event: Over) -> None:
        """A session that had all its sound has ended. What a lost one did not answer is sent to another."""
        unsettled = opened.unsettled
        unsettled.drafts += opened.line.leftovers()
        unsettled.tries += 1
        may_help = event.cause and event.retry and unsettled and unsettled.tries <= len(PAUSES_S)
        pause_s = unsettled.losses.add(self._now) if may_help else None
        if pause_s is None:
            if event.cause and unsettled:
                self._bot.trouble(f"The end of a live transcription was lost: {event.cause}")
            self._is_over(opened)
        else:
            logger.info(
                "The end of a live session was lost.",
                action="live_session_lost",
                source=self._source,
                cause=event.cause,
            )
            opened.session = None
            if pause_s:
                asyncio.get_running_loop().call_later(pause_s, self._leave_again, opened)
            else:
                self._leave_again(opened)

    def _leave_again(self, lost: _Open) -> None:
        """Let another session answer what a lost one did not, and end."""
        if lost not in self._leaving:
            return  # the bot waits no longer
        again = self._begun(lost.unsettled)
        if again is None:
            self._is_over(lost)
            return
        again.line.end = lost.line.end
        self._leaving.remove(lost)
        self._voices.forget(lost.line)
        self._leave(again)

    def _is_over(self, opened: _Open) -> None:
        self._leaving.remove(opened)
        self._keep_drafts_of(opened.unsettled)
        self._voices.forget(opened.line)
        self._bot.one_is_over()

    def _lost(self, cause: str, *, retry: bool) -> None:
        """There is no session: wait for the next, or give the source up."""
        logger.info("A live session was lost.", action="live_session_lost", source=self._source, cause=cause)
        if not retry or self._unsettled.losses.add(self._now) is None:
            self._bot.trouble(f"Live transcription has stopped: {cause}")
            self._end(cause)

    def _end(self, cause: str) -> None:
        if not self._gone:
            self._keep_drafts_of(self._unsettled)
            self._gone = True
            self._bot.tell([Ended(self._source, cause)])

    def _keep_drafts_of(self, unsettled: _Unsettled) -> None:
        """What nobody said again stays as it was drafted; its sound is given up."""
        drafts, unsettled.drafts = unsettled.drafts, []
        unsettled.clear()
        self._bot.tell([Final(segment) for segment in drafts])


def _peak(samples: NDArray[np.int16]) -> int:
    return max(int(samples.max()), -int(samples.min())) if len(samples) else 0
