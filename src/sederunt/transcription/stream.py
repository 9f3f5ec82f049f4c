"""One source of sound and its sessions, one after the other.

Sessions are opened (on first sound) and replaced (before the vendor's limit, after a loss, after long silence) only
here; ids and voices are carried over from one to the next. The recording's own seconds drive it, so silence and an
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
# A track with no louder samples (two steps of 16 bit) is muted.
SILENT = 2
# Jitter of packets. A longer gap is a pause; a frame that begins more than this before the last one's end repeats it.
JITTER_S = 0.25
# Sound that breaks off: its last hundredths of a second are not much softer than the loudest of the last seconds.
TAIL, BROKEN_OFF, LEAST_PEAK, PEAK_KEPT = RATE // 20, 0.2, 300, 0.8
# A lost session is replaced after these pauses, the last of which repeats; each is shortened at random, so that the
# sessions of a host do not all come back at once.
PAUSES_S = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
# How long sound waits for a session; then the source is given up, and its recording is transcribed afterwards.
PATIENCE_S = 900.0
# How long before the vendor would end a session it is replaced: in a pause if there is one, at the latest halfway.
BEFORE_LIMIT_S = 20.0
# Less unanswered sound than this is the rest of an answered word.
LEAST_UNSETTLED_S = 0.1


class _Open:
    """A session, its segments, and how much it was fed."""

    def __init__(self, line: Line, since: float, unsettled: _Unsettled) -> None:
        self.session: Session | None = None  # None while it is being opened, and after a loss
        self.line, self.since, self.unsettled = line, since, unsettled
        self.used_at = since  # when it was last fed sound to answer
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
    """Where and how sound ends: speech that ends fades within a few hundredths of a second."""

    def __init__(self) -> None:
        self.end = float("-inf")  # in seconds of the recording
        self.broke_off = False  # while it was loud
        self._peak = 0.0  # the loudest of the last seconds

    def hear(self, start: float, samples: NDArray[np.int16]) -> None:
        self.end = start + len(samples) / RATE
        self._peak = max(self._peak * PEAK_KEPT ** (len(samples) / RATE), _peak(samples))
        self.broke_off = _peak(samples[-TAIL:]) >= max(BROKEN_OFF * self._peak, LEAST_PEAK)


class _Losses:
    """Consecutive losses of sessions."""

    def __init__(self) -> None:
        self.retry_at = 0.0  # when the next may be opened, in seconds of the recording
        self._count, self._since = 0, 0.0

    def add(self, now: float) -> float | None:
        """Note one more; return how long to wait before the next session, or None to open no more."""
        self._since = self._since if self._count else now
        if now - self._since >= PATIENCE_S:
            return None
        pause_s = PAUSES_S[min(self._count, len(PAUSES_S) - 1)] * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        self.retry_at = now + pause_s
        self._count += 1
        return pause_s

    def end(self) -> None:
        """Note that a session answers, which ends the row of losses."""
        self._count = 0


class _Unsettled:
    """Sound that no session has answered, and the drafts of lost sessions, for the next one."""

    def __init__(self) -> None:
        self._sound = Backlog()
        self.until = 0.0  # all sound before is answered, in seconds of the recording
        self.drafts: list[LiveSegment] = []  # not repeated yet by a later session
        self.losses = _Losses()
        self.tries = 0  # attempts to have it answered at the end

    def __bool__(self) -> bool:
        return self._sound.seconds_after(self.until) >= LEAST_UNSETTLED_S

    def append(self, start: float, samples: NDArray[np.int16], *, keep_s: float) -> None:
        """Keep the next samples, and drop those older than `keep_s`."""
        self._sound.append(start, samples)
        self._sound.drop_until(start - keep_s)

    def settle(self, until: float) -> None:
        self.until = max(self.until, until)
        self._sound.drop_until(self.until)

    def pieces(self) -> Iterator[tuple[float, NDArray[np.int16]]]:
        self._sound.drop_until(self.until)
        return self._sound.all()

    def draft_id(self, start: float, end: float) -> str | None:
        """Return the id of the draft that a segment repeats; None if it repeats none."""
        for draft in self.drafts:
            if draft.start < end and start < draft.end:
                self.drafts.remove(draft)
                return draft.segment_id
        return None

    def said_again(self, events: Sequence[Event]) -> list[Event]:
        """Return the events that withdraw other drafts whose words are among these finals."""
        finals = [event.segment for event in events if isinstance(event, Final)]
        repeated_drafts = [
            draft
            for draft in self.drafts
            if any(final.start <= (draft.start + draft.end) / 2 < final.end for final in finals)
        ]
        self.drafts = [draft for draft in self.drafts if draft not in repeated_drafts]
        return [Partial(replace(draft, transcript="", words=())) for draft in repeated_drafts]

    def clear(self) -> None:
        self._sound.clear()


class _VoiceNumbers:
    """The numbers of voices, which each session tells apart by labels of its own."""

    def __init__(self, new_number: Callable[[], int]) -> None:
        self._new_number = new_number
        self._numbers: dict[tuple[Line, str], int] = {}

    def of(self, line: Line, label: str) -> int:
        if (line, label) not in self._numbers:
            self._numbers[line, label] = self._new_number()
        return self._numbers[line, label]

    def carry_over(self, old: Line, new: Line) -> None:
        """Give a session's voices the numbers of the session before, matched by who spoke while both listened."""
        old_spans = [
            (start, end, self._numbers[old, label])
            for start, end, label in old.spans()
            if (old, label) in self._numbers
        ]
        for label, number in linked(old_spans, new.spans()).items():
            self._numbers[new, label] = number

    def forget(self, line: Line) -> None:
        self._numbers = {key: number for key, number in self._numbers.items() if key[0] is not line}


class Stream:
    def __init__(self, bot: Pipeline, source: str, *, mixed: bool) -> None:
        self._bot, self._source, self._mixed = bot, source, mixed
        self._now = 0.0  # sound or silence is known up to here, in seconds of the recording
        self._current: _Open | None = None
        self._coming: _Open | None = None  # takes over before the current one's limit
        self._leaving: list[_Open] = []
        self._unsettled = _Unsettled()  # of the current session, or for the next
        self._voices = _VoiceNumbers(bot.new_label)
        self._tail = _Tail()
        self._unanswered_s = 0.0  # speech since the current session's last event
        self._is_silence_doubted = False  # a session was replaced for its silence, and none has sent an event since
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
        """Return whether sound broke off while loud, after this second: then more of it may come late."""
        return self._tail.broke_off and self._tail.end > now

    def silence_until(self, now: float) -> None:
        if self._gone or now <= self._now:
            return
        room_s = self._bot.terms.silence_sent_s - (self._now - self._tail.end)
        count = round(min(now - self._now, max(0.0, room_s)) * RATE)
        for open_session in (self._current, self._coming):
            if open_session is not None and count > 0:
                open_session.feed(self._now, np.zeros(count, np.int16), silent=True)
        self._now = now
        if self._current is None:
            self._catch_up()
        elif now - max(self._tail.end, self._current.used_at) >= self._bot.idle_s:
            self.finish()
        else:
            self._replace_in_time(in_pause=now - self._tail.end >= JITTER_S)

    def drop(self) -> None:
        """End at once. What has not settled stays as drafted."""
        for open_session in self._leaving:
            if open_session.session is not None:
                open_session.session.abandon()
            open_session.unsettled.drafts += open_session.line.leftovers()
            self._keep_drafts_of(open_session.unsettled)
        self._leaving = []
        self._end("")

    # --- sessions -----------------------------------------------------------------------------------------------------

    def _begun(self, unsettled: _Unsettled) -> _Open | None:
        """Open a session and feed it the unsettled sound, with the silence in between."""
        until = next((piece_start for piece_start, _ in unsettled.pieces()), self._now)
        open_session = self._opened(until, unsettled)
        if open_session is None:
            return None
        open_session.used_at = self._now
        self._unanswered_s = 0.0
        for piece_start, piece in unsettled.pieces():
            self._rest(open_session, until, piece_start)
            open_session.feed(piece_start, piece)
            until = piece_start + len(piece) / RATE
        return open_session

    def _catch_up(self) -> None:
        """In a pause, let the next session answer what a lost session did not."""
        if self._unsettled and self._now >= self._unsettled.losses.retry_at:
            self._current = self._begun(self._unsettled)
        if self._current is not None:
            self._rest(self._current, self._tail.end, self._now)

    def _rest(self, open_session: _Open, since: float, until: float) -> None:
        """Feed a session that catches up the silence between two sounds, as much as would have been sent."""
        if until - since > JITTER_S:
            count = round(min(until - since, self._bot.terms.silence_sent_s) * RATE)
            open_session.feed(since, np.zeros(count, np.int16), silent=True)

    def _opened(self, since: float, unsettled: _Unsettled) -> _Open | None:
        line = Line(
            self._source,
            lambda start, end: open_session.unsettled.draft_id(start, end) or self._bot.new_id(),
            self._voices.of,
        )
        open_session = _Open(line, since, unsettled)
        try:
            open_session.session = self._bot.open(mixed=self._mixed, tell=lambda event: self._told(open_session, event))
        except SederuntError as fault:
            self._lost(str(fault), retry=False)
            return None
        return open_session

    def _replace_if_mute(self, samples: NDArray[np.int16]) -> None:
        """Replace a session that answers nothing but pings; once, since noise without words has no answer either."""
        limit_s = self._bot.terms.unanswered_s
        if self._current is None or limit_s is None or self._is_silence_doubted:
            return
        self._unanswered_s += len(samples) / RATE if _peak(samples) >= LEAST_PEAK else 0.0
        if self._unanswered_s >= limit_s:
            self._is_silence_doubted = True
            mute_session = self._current
            if mute_session.session is not None:
                mute_session.session.abandon()
            self._over(mute_session, Over(f"The vendor answered nothing to {limit_s:g} s of speech."))

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

    def _hand_over(self, moment: float) -> None:
        """Let the coming session answer from this moment on; voices keep their numbers."""
        old, new = self._current, self._coming
        assert old is not None
        assert new is not None
        self._current, self._coming = new, None
        old.line.end = new.line.start = moment
        new.unsettled = self._unsettled
        self._voices.carry_over(old.line, new.line)

    def finish(self) -> None:
        """End the sound for now: everything open settles, and what a lost session left unanswered is sent again."""
        if self._current is None and self._unsettled and not self._gone:
            self._current = self._begun(self._unsettled)
        for open_session in (self._current, self._coming):
            if open_session is not None:
                self._leave(open_session)
        if self._current is None:
            self._keep_drafts_of(self._unsettled)
        self._current = self._coming = None
        self._unsettled = _Unsettled()

    def _leave(self, open_session: _Open) -> None:
        self._leaving.append(open_session)
        if open_session.session is not None:
            open_session.session.finish()

    # --- session events -----------------------------------------------------------------------------------------------

    def _told(self, open_session: _Open, event: SessionEvent) -> None:
        if self._gone:
            return
        if isinstance(event, Warned):
            self._bot.trouble(event.message, lossy=event.lossy)
        elif isinstance(event, Over):
            self._over(open_session, event)
        else:
            open_session.unsettled.losses.end()
            self._unanswered_s, self._is_silence_doubted = 0.0, False
            if isinstance(event, Heard):
                open_session.line.heard(event.until)
            else:
                events = open_session.line.take(event)
                self._bot.tell([*events, *open_session.unsettled.said_again(events)])
            open_session.unsettled.settle(open_session.line.settled_until)

    def _over(self, open_session: _Open, event: Over) -> None:
        if event.is_limit:
            self._bot.limit_reached(event.cause)
        if open_session in self._leaving:
            self._left(open_session, event)
        elif open_session is self._coming:
            self._coming = None  # the next sound opens another
            self._voices.forget(open_session.line)
        elif open_session is self._current:
            self._unsettled.drafts += open_session.line.leftovers()
            if self._coming is not None:
                self._hand_over(self._unsettled.until)
            else:
                self._current = None
                self._lost(event.cause, retry=event.retry)

    def _left(self, open_session: _Open, event: Over) -> None:
        """End a session that had all its sound. If it was lost, send what it left unanswered to another."""
        unsettled = open_session.unsettled
        unsettled.drafts += open_session.line.leftovers()
        unsettled.tries += 1
        may_help = event.cause and event.retry and unsettled and unsettled.tries <= len(PAUSES_S)
        pause_s = unsettled.losses.add(self._now) if may_help else None
        if pause_s is None:
            if event.cause and unsettled:
                self._bot.trouble(f"The end of a live transcription was lost: {event.cause}")
            self._is_over(open_session)
        else:
            logger.info(
                "The end of a live session was lost.",
                action="live_session_lost",
                source=self._source,
                cause=event.cause,
            )
            open_session.session = None
            if pause_s:
                asyncio.get_running_loop().call_later(pause_s, self._leave_again, open_session)
            else:
                self._leave_again(open_session)

    def _leave_again(self, lost_session: _Open) -> None:
        """Let another session answer what a lost session did not, and end."""
        if lost_session not in self._leaving:
            return  # the bot waits no longer
        next_session = self._begun(lost_session.unsettled)
        if next_session is None:
            self._is_over(lost_session)
            return
        next_session.line.end = lost_session.line.end
        self._leaving.remove(lost_session)
        self._voices.forget(lost_session.line)
        self._leave(next_session)

    def _is_over(self, open_session: _Open) -> None:
        self._leaving.remove(open_session)
        self._keep_drafts_of(open_session.unsettled)
        self._voices.forget(open_session.line)
        self._bot.one_is_over()

    def _lost(self, cause: str, *, retry: bool) -> None:
        """Wait for the next session, or give the source up."""
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
        """Make drafts that were not repeated final; drop their sound."""
        drafts, unsettled.drafts = unsettled.drafts, []
        unsettled.clear()
        self._bot.tell([Final(segment) for segment in drafts])


def _peak(samples: NDArray[np.int16]) -> int:
    return max(int(samples.max()), -int(samples.min())) if len(samples) else 0
