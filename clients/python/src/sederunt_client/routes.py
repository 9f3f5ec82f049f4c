"""A method for every route of the service.

Written by scripts/client.py from the OpenAPI document; change the service, then `make docs`.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, TypeVar

from sederunt_client.models import (
    AuditList,
    AuthenticationFields,
    Bot,
    BotList,
    BotSummary,
    CalendarFeed,
    CalendarFeedList,
    Capacity,
    CheckedCredential,
    CheckedMeetingAccount,
    Comparison,
    Correction,
    Credential,
    CredentialList,
    Deed,
    Invitation,
    KeptSignIn,
    Key,
    KeyList,
    MeetingAccount,
    MeetingAccountList,
    MeetingEvents,
    Member,
    MemberList,
    Message,
    NewCredential,
    NewKey,
    Prices,
    Pricing,
    Recording,
    RecordingList,
    RecordingSummary,
    Replayed,
    SearchResult,
    SearchResults,
    SignInPicture,
    SignInWindow,
    StopOptionFields,
    TrackList,
    Transcript,
    Usage,
    WebhookDelivery,
    WebhookDeliveryList,
    WebhookSecret,
)
from sederunt_client.requests import UNSET, Request, Unset, given, part
from sederunt_client.uploads import Progress, Source, Upload

T = TypeVar("T")


class Routes:
    """What a client can ask for. Every method raises ApiError by the answer's status, and NotReached."""

    def send(self, request: Request[T]) -> T:
        """Make a request and read its answer."""
        raise NotImplementedError

    def create_bot(
        self,
        *,
        transcription_model: str,
        service: str,
        meeting_url: str,
        bot_name: str,
        transcription_credentials: str | Unset | None = UNSET,
        transcription_fallback: Sequence[str] | Unset | None = UNSET,
        bot_avatar_file: bytes | str | Unset | None = UNSET,
        bot_avatar_url: str | Unset | None = UNSET,
        lang: str | Unset | None = UNSET,
        video: bool | Unset | None = UNSET,
        webhook_url: str | Unset | None = UNSET,
        webhook_events: Sequence[
            Literal[
                "status_update",
                "chat_message",
                "recording_gap",
                "live_trouble",
                "page_trouble",
                "waiting_for_capacity",
                "budget_spent",
            ]
        ]
        | Unset
        | None = UNSET,
        store_recording_for_1_year: bool | Unset | None = UNSET,
        scheduled_start_time: datetime | int | Unset | None = UNSET,
        profanity_filter: bool | Unset | None = UNSET,
        initial_chat_message: str | Unset | None = UNSET,
        stop_options: StopOptionFields | Unset | None = UNSET,
        authentication: AuthenticationFields | Unset | None = UNSET,
        custom_vocabulary: Sequence[str] | Unset | None = UNSET,
        realtime_audio: bool | Unset | None = UNSET,
        custom_metadata: Mapping[str, str] | Unset | None = UNSET,
        metadata: Mapping[str, str] | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Bot:
        """Send a bot into a meeting, now or at a time.

        Args:
            transcription_model: What transcribes; `none` records only.
            service: Where the meeting is held.
            meeting_url: The meeting to join; must be one of `service`.
            bot_name: The bot's name in the meeting, cut where the service allows less.
            transcription_credentials: A credential of yours for the model's provider.
            transcription_fallback: Models that transcribe, in this order, where the vendor of
                transcription_model fails for good.
            bot_avatar_file: PNG, JPEG or WebP in base64, with or without a data URI, up to 5 MB. {}
                counts as absent.
            bot_avatar_url: A picture; ignored when bot_avatar_file is given.
            lang: Spoken language: a tag such as `en`, or `multi`, or `auto`.
            video: Record video too.
            webhook_url: Receives every change of status.
            webhook_events: What webhook_url receives besides.
            store_recording_for_1_year: Keep the recording 1 year instead of 1 week.
            scheduled_start_time: When to join: Unix seconds, or milliseconds above 10^11. Past or
                null: now.
            profanity_filter: Mask profanity in the transcript.
            initial_chat_message: Posted to the meeting's chat on joining.
            stop_options: When the bot leaves by itself.
            authentication: How to enter a private meeting.
            custom_vocabulary: Words and phrases to expect.
            realtime_audio: Open the realtime sockets for a model that is not realtime.
            custom_metadata: Yours; comes back with the bot and its webhooks.
            metadata: Another name of custom_metadata, which wins.
            idempotency_key: By it a repeat is known; absent: a fresh one for each call.
        """
        return self.send(
            Request(
                "POST",
                "/bot",
                Bot,
                body=given(
                    {
                        "transcription_model": transcription_model,
                        "service": service,
                        "meeting_url": meeting_url,
                        "bot_name": bot_name,
                        "transcription_credentials": transcription_credentials,
                        "transcription_fallback": transcription_fallback,
                        "bot_avatar_file": bot_avatar_file,
                        "bot_avatar_url": bot_avatar_url,
                        "lang": lang,
                        "video": video,
                        "webhook_url": webhook_url,
                        "webhook_events": webhook_events,
                        "store_recording_for_1_year": store_recording_for_1_year,
                        "scheduled_start_time": scheduled_start_time,
                        "profanity_filter": profanity_filter,
                        "initial_chat_message": initial_chat_message,
                        "stop_options": stop_options,
                        "authentication": authentication,
                        "custom_vocabulary": custom_vocabulary,
                        "realtime_audio": realtime_audio,
                        "custom_metadata": custom_metadata,
                        "metadata": metadata,
                    }
                ),
                is_keyed=True,
                key=idempotency_key,
            )
        )

    def list_bots(
        self,
        *,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
        status: Literal[
            "scheduled",
            "booting",
            "joining",
            "recording",
            "processing",
            "transcribing",
            "leaving",
            "finished",
            "not_admitted",
            "bot_detected",
            "auth_required",
            "invalid_credentials",
            "failed",
        ]
        | Unset = UNSET,
        metadata: Mapping[str, str] | Unset = UNSET,
        search: str | Unset = UNSET,
    ) -> BotList:
        """List bots, newest first.

        Args:
            cursor: `next_cursor` of the page before.
            metadata: `metadata[room]=7`: only bots with this pair; may be repeated.
            search: Only bots with this in their name or their meeting's address.
        """
        return self.send(
            Request(
                "GET",
                "/bot",
                BotList,
                query=given(
                    {"limit": limit, "cursor": cursor, "status": status, "metadata": metadata, "search": search}
                ),
            )
        )

    def iter_bots(
        self,
        *,
        status: Literal[
            "scheduled",
            "booting",
            "joining",
            "recording",
            "processing",
            "transcribing",
            "leaving",
            "finished",
            "not_admitted",
            "bot_detected",
            "auth_required",
            "invalid_credentials",
            "failed",
        ]
        | Unset = UNSET,
        metadata: Mapping[str, str] | Unset = UNSET,
        search: str | Unset = UNSET,
    ) -> Iterator[BotSummary]:
        """List bots, newest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_bots(status=status, metadata=metadata, search=search, cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def validate_bot(
        self,
        *,
        transcription_model: str,
        service: str,
        meeting_url: str,
        bot_name: str,
        transcription_credentials: str | Unset | None = UNSET,
        transcription_fallback: Sequence[str] | Unset | None = UNSET,
        bot_avatar_file: bytes | str | Unset | None = UNSET,
        bot_avatar_url: str | Unset | None = UNSET,
        lang: str | Unset | None = UNSET,
        video: bool | Unset | None = UNSET,
        webhook_url: str | Unset | None = UNSET,
        webhook_events: Sequence[
            Literal[
                "status_update",
                "chat_message",
                "recording_gap",
                "live_trouble",
                "page_trouble",
                "waiting_for_capacity",
                "budget_spent",
            ]
        ]
        | Unset
        | None = UNSET,
        store_recording_for_1_year: bool | Unset | None = UNSET,
        scheduled_start_time: datetime | int | Unset | None = UNSET,
        profanity_filter: bool | Unset | None = UNSET,
        initial_chat_message: str | Unset | None = UNSET,
        stop_options: StopOptionFields | Unset | None = UNSET,
        authentication: AuthenticationFields | Unset | None = UNSET,
        custom_vocabulary: Sequence[str] | Unset | None = UNSET,
        realtime_audio: bool | Unset | None = UNSET,
        custom_metadata: Mapping[str, str] | Unset | None = UNSET,
        metadata: Mapping[str, str] | Unset | None = UNSET,
    ) -> Message:
        """Check a configuration without starting anything.

        Args:
            transcription_model: What transcribes; `none` records only.
            service: Where the meeting is held.
            meeting_url: The meeting to join; must be one of `service`.
            bot_name: The bot's name in the meeting, cut where the service allows less.
            transcription_credentials: A credential of yours for the model's provider.
            transcription_fallback: Models that transcribe, in this order, where the vendor of
                transcription_model fails for good.
            bot_avatar_file: PNG, JPEG or WebP in base64, with or without a data URI, up to 5 MB. {}
                counts as absent.
            bot_avatar_url: A picture; ignored when bot_avatar_file is given.
            lang: Spoken language: a tag such as `en`, or `multi`, or `auto`.
            video: Record video too.
            webhook_url: Receives every change of status.
            webhook_events: What webhook_url receives besides.
            store_recording_for_1_year: Keep the recording 1 year instead of 1 week.
            scheduled_start_time: When to join: Unix seconds, or milliseconds above 10^11. Past or
                null: now.
            profanity_filter: Mask profanity in the transcript.
            initial_chat_message: Posted to the meeting's chat on joining.
            stop_options: When the bot leaves by itself.
            authentication: How to enter a private meeting.
            custom_vocabulary: Words and phrases to expect.
            realtime_audio: Open the realtime sockets for a model that is not realtime.
            custom_metadata: Yours; comes back with the bot and its webhooks.
            metadata: Another name of custom_metadata, which wins.
        """
        return self.send(
            Request(
                "POST",
                "/bot/validate",
                Message,
                body=given(
                    {
                        "transcription_model": transcription_model,
                        "service": service,
                        "meeting_url": meeting_url,
                        "bot_name": bot_name,
                        "transcription_credentials": transcription_credentials,
                        "transcription_fallback": transcription_fallback,
                        "bot_avatar_file": bot_avatar_file,
                        "bot_avatar_url": bot_avatar_url,
                        "lang": lang,
                        "video": video,
                        "webhook_url": webhook_url,
                        "webhook_events": webhook_events,
                        "store_recording_for_1_year": store_recording_for_1_year,
                        "scheduled_start_time": scheduled_start_time,
                        "profanity_filter": profanity_filter,
                        "initial_chat_message": initial_chat_message,
                        "stop_options": stop_options,
                        "authentication": authentication,
                        "custom_vocabulary": custom_vocabulary,
                        "realtime_audio": realtime_audio,
                        "custom_metadata": custom_metadata,
                        "metadata": metadata,
                    }
                ),
            )
        )

    def list_scheduled_bots(self) -> tuple[Bot, ...]:
        """List scheduled bots, soonest first."""
        return self.send(Request("GET", "/bot/scheduled", tuple[Bot, ...]))

    def get_bot(
        self,
        bot_id: str,
        *,
        with_speaker_events: bool | Unset = UNSET,
        segments_after: int | Unset = UNSET,
        segments_limit: int | Unset = UNSET,
    ) -> Bot:
        """A bot with its transcript, participants and events.

        Args:
            with_speaker_events: Include when each participant spoke.
            segments_after: The transcript page by page: without this many segments at its
                beginning.
            segments_limit: Segments of such a page at most; fewer are the last ones. Without both:
                the whole transcript.
        """
        return self.send(
            Request(
                "GET",
                f"/bot/{part(bot_id)}",
                Bot,
                query=given(
                    {
                        "with-speaker-events": with_speaker_events,
                        "segments_after": segments_after,
                        "segments_limit": segments_limit,
                    }
                ),
            )
        )

    def update_bot(
        self,
        bot_id: str,
        *,
        transcription_model: str | Unset = UNSET,
        transcription_credentials: str | Unset | None = UNSET,
        transcription_fallback: Sequence[str] | Unset | None = UNSET,
        service: str | Unset = UNSET,
        meeting_url: str | Unset = UNSET,
        bot_name: str | Unset = UNSET,
        bot_avatar_file: bytes | str | Unset | None = UNSET,
        bot_avatar_url: str | Unset | None = UNSET,
        lang: str | Unset | None = UNSET,
        video: bool | Unset | None = UNSET,
        webhook_url: str | Unset | None = UNSET,
        webhook_events: Sequence[
            Literal[
                "status_update",
                "chat_message",
                "recording_gap",
                "live_trouble",
                "page_trouble",
                "waiting_for_capacity",
                "budget_spent",
            ]
        ]
        | Unset
        | None = UNSET,
        store_recording_for_1_year: bool | Unset | None = UNSET,
        scheduled_start_time: datetime | int | Unset | None = UNSET,
        profanity_filter: bool | Unset | None = UNSET,
        initial_chat_message: str | Unset | None = UNSET,
        stop_options: StopOptionFields | Unset | None = UNSET,
        authentication: AuthenticationFields | Unset | None = UNSET,
        custom_vocabulary: Sequence[str] | Unset | None = UNSET,
        realtime_audio: bool | Unset | None = UNSET,
        custom_metadata: Mapping[str, str] | Unset | None = UNSET,
        metadata: Mapping[str, str] | Unset | None = UNSET,
    ) -> Bot:
        """Change a scheduled bot; fields that are not sent stay.

        Args:
            transcription_model: What transcribes; `none` records only.
            transcription_credentials: A credential of yours for the model's provider.
            transcription_fallback: Models that transcribe, in this order, where the vendor of
                transcription_model fails for good.
            service: Where the meeting is held.
            meeting_url: The meeting to join; must be one of `service`.
            bot_name: The bot's name in the meeting, cut where the service allows less.
            bot_avatar_file: PNG, JPEG or WebP in base64, with or without a data URI, up to 5 MB. {}
                counts as absent.
            bot_avatar_url: A picture; ignored when bot_avatar_file is given.
            lang: Spoken language: a tag such as `en`, or `multi`, or `auto`.
            video: Record video too.
            webhook_url: Receives every change of status.
            webhook_events: What webhook_url receives besides.
            store_recording_for_1_year: Keep the recording 1 year instead of 1 week.
            scheduled_start_time: When to join: Unix seconds, or milliseconds above 10^11. Past or
                null: now.
            profanity_filter: Mask profanity in the transcript.
            initial_chat_message: Posted to the meeting's chat on joining.
            stop_options: When the bot leaves by itself.
            authentication: How to enter a private meeting.
            custom_vocabulary: Words and phrases to expect.
            realtime_audio: Open the realtime sockets for a model that is not realtime.
            custom_metadata: Yours; comes back with the bot and its webhooks.
            metadata: Another name of custom_metadata, which wins.
        """
        return self.send(
            Request(
                "PATCH",
                f"/bot/{part(bot_id)}",
                Bot,
                body=given(
                    {
                        "transcription_model": transcription_model,
                        "transcription_credentials": transcription_credentials,
                        "transcription_fallback": transcription_fallback,
                        "service": service,
                        "meeting_url": meeting_url,
                        "bot_name": bot_name,
                        "bot_avatar_file": bot_avatar_file,
                        "bot_avatar_url": bot_avatar_url,
                        "lang": lang,
                        "video": video,
                        "webhook_url": webhook_url,
                        "webhook_events": webhook_events,
                        "store_recording_for_1_year": store_recording_for_1_year,
                        "scheduled_start_time": scheduled_start_time,
                        "profanity_filter": profanity_filter,
                        "initial_chat_message": initial_chat_message,
                        "stop_options": stop_options,
                        "authentication": authentication,
                        "custom_vocabulary": custom_vocabulary,
                        "realtime_audio": realtime_audio,
                        "custom_metadata": custom_metadata,
                        "metadata": metadata,
                    }
                ),
            )
        )

    def delete_bot(self, bot_id: str) -> Message:
        """Delete a bot with its recording and transcript."""
        return self.send(Request("DELETE", f"/bot/{part(bot_id)}", Message))

    def follow_bot(self, bot_id: str, *, since: int | Unset = UNSET, wait: int | Unset = UNSET) -> MeetingEvents:
        """What happens in a bot's meeting since an event, or within a while.

        Args:
            since: `next` of the answer before; absent: everything known so far, as one `connected`
                event.
            wait: Seconds to wait where nothing is new.
        """
        return self.send(
            Request("GET", f"/bot/{part(bot_id)}/live", MeetingEvents, query=given({"since": since, "wait": wait}))
        )

    def stop_bot(self, bot_id: str) -> Message:
        """Let a running bot leave its meeting."""
        return self.send(Request("POST", f"/bot/{part(bot_id)}/stop", Message))

    def send_chat_message(self, bot_id: str, *, message: str) -> Message:
        """Post to the meeting's chat.

        Args:
            message: What to post.
        """
        return self.send(
            Request("POST", f"/bot/{part(bot_id)}/chat-message", Message, body=given({"message": message}))
        )

    def change_avatar(self, bot_id: str, *, avatar_url: str) -> Message:
        """Show another picture as the bot's camera while it is in its meeting.

        Args:
            avatar_url: Where it is: PNG, JPEG or WebP.
        """
        return self.send(
            Request("POST", f"/bot/{part(bot_id)}/avatar", Message, body=given({"avatar_url": avatar_url}))
        )

    def list_bot_tracks(self, bot_id: str) -> TrackList:
        """What was recorded of each speaker, file by file."""
        return self.send(Request("GET", f"/bot/{part(bot_id)}/tracks", TrackList))

    def get_bot_pricing(self, bot_id: str) -> Pricing:
        """What a bot costs by the operator's rates."""
        return self.send(Request("GET", f"/bot/{part(bot_id)}/pricing", Pricing))

    def list_prices(self) -> Prices:
        """What each transcription model costs here, and at its vendor."""
        return self.send(Request("GET", "/pricing", Prices))

    def get_reserved_capacity(self) -> Capacity:
        """Bots booked ahead."""
        return self.send(Request("GET", "/reserved-capacity", Capacity))

    def set_reserved_capacity(self, *, count: int) -> Capacity:
        """Book bots ahead.

        Args:
            count: How many bots to book ahead.
        """
        return self.send(Request("PUT", "/reserved-capacity", Capacity, body=given({"count": count})))

    def create_recording(
        self,
        *,
        transcription_model: str | Unset | None = UNSET,
        recording_url: str | Unset | None = UNSET,
        meeting_bot_id: str | Unset | None = UNSET,
        recording_id: str | Unset | None = UNSET,
        lang: str | Unset | None = UNSET,
        webhook_url: str | Unset | None = UNSET,
        store_recording_for_1_year: bool | Unset | None = UNSET,
        profanity_filter: bool | Unset | None = UNSET,
        custom_vocabulary: Sequence[str] | Unset | None = UNSET,
        transcription_credentials: str | Unset | None = UNSET,
        transcription_fallback: Sequence[str] | Unset | None = UNSET,
        recording_file: Source | None = None,
        on_progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Recording:
        """Transcribe a file, an address, or what is there already anew.

        Args:
            transcription_model: What transcribes. Required unless meeting_bot_id or recording_id is
                given.
            recording_url: Where we fetch the recording.
            meeting_bot_id: A bot whose recording and settings to take.
            recording_id: A recording whose file and settings to take.
            lang: Spoken language: a tag such as `en`, or `multi`, or `auto`.
            webhook_url: Receives every change of status.
            store_recording_for_1_year: Keep the recording 1 year instead of 1 day.
            profanity_filter: Mask profanity in the transcript.
            custom_vocabulary: Words and phrases to expect.
            transcription_credentials: A credential of yours for the model's provider.
            transcription_fallback: Models that transcribe, in this order, where the vendor of
                transcription_model fails for good.
            recording_file: Path or open binary file; sent piece by piece.
            on_progress: Called with the bytes sent so far and all of them (None: not known).
            idempotency_key: By it a repeat is known; absent: a fresh one for each call.
        """
        return self.send(
            Request(
                "POST",
                "/recording",
                Recording,
                body=given(
                    {
                        "transcription_model": transcription_model,
                        "recording_url": recording_url,
                        "meeting_bot_id": meeting_bot_id,
                        "recording_id": recording_id,
                        "lang": lang,
                        "webhook_url": webhook_url,
                        "store_recording_for_1_year": store_recording_for_1_year,
                        "profanity_filter": profanity_filter,
                        "custom_vocabulary": custom_vocabulary,
                        "transcription_credentials": transcription_credentials,
                        "transcription_fallback": transcription_fallback,
                    }
                ),
                upload=Upload.of("recording_file", recording_file, on_progress),
                is_keyed=True,
                key=idempotency_key,
            )
        )

    def list_recordings(
        self,
        *,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
        status: Literal["transcribing", "finished", "failed"] | Unset = UNSET,
        source: str | Unset = UNSET,
    ) -> RecordingList:
        """List recordings, newest first.

        Args:
            cursor: `next_cursor` of the page before.
            source: Only those that transcribe the sound of this bot or recording anew.
        """
        return self.send(
            Request(
                "GET",
                "/recording",
                RecordingList,
                query=given({"limit": limit, "cursor": cursor, "status": status, "source": source}),
            )
        )

    def iter_recordings(
        self, *, status: Literal["transcribing", "finished", "failed"] | Unset = UNSET, source: str | Unset = UNSET
    ) -> Iterator[RecordingSummary]:
        """List recordings, newest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_recordings(status=status, source=source, cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def get_recording(
        self, recording_id: str, *, segments_after: int | Unset = UNSET, segments_limit: int | Unset = UNSET
    ) -> Recording:
        """A recording with its transcript and events.

        Args:
            segments_after: The transcript page by page: without this many segments at its
                beginning.
            segments_limit: Segments of such a page at most; fewer are the last ones. Without both:
                the whole transcript.
        """
        return self.send(
            Request(
                "GET",
                f"/recording/{part(recording_id)}",
                Recording,
                query=given({"segments_after": segments_after, "segments_limit": segments_limit}),
            )
        )

    def delete_recording(self, recording_id: str) -> Message:
        """Delete a recording and its transcript."""
        return self.send(Request("DELETE", f"/recording/{part(recording_id)}", Message))

    def get_bot_transcript(self, bot_id: str, *, corrected: bool | Unset = UNSET) -> Transcript:
        """A bot's transcript as it is to be read, in a format.

        Args:
            corrected: False: as it was heard, without corrections.
        """
        return self.send(
            Request("GET", f"/bot/{part(bot_id)}/transcript", Transcript, query=given({"corrected": corrected}))
        )

    def get_bot_transcript_text(
        self, bot_id: str, *, format: Literal["txt", "srt", "vtt", "md"], corrected: bool | Unset = UNSET
    ) -> str:
        """A bot's transcript as it is to be read, in a format: as text.

        Args:
            format: Of the text.
            corrected: False: as it was heard, without corrections.
        """
        return self.send(
            Request(
                "GET", f"/bot/{part(bot_id)}/transcript", str, query=given({"format": format, "corrected": corrected})
            )
        )

    def correct_bot(
        self,
        bot_id: str,
        *,
        kind: Literal["word", "speaker", "participant"],
        after: str,
        segment: int | Unset | None = UNSET,
        word: int | Unset | None = UNSET,
        before: str | Unset | None = UNSET,
    ) -> Correction:
        """Put a word, a speaker or a name right in a bot's transcript.

        Args:
            kind: What is wrong.
            after: What belongs there.
            segment: Of a `word` or a `speaker`: which segment, from 0.
            word: Of a `word`: which one of the segment's, from 0.
            before: Of a `participant`: the name that is wrong.
        """
        return self.send(
            Request(
                "POST",
                f"/bot/{part(bot_id)}/correction",
                Correction,
                body=given({"kind": kind, "after": after, "segment": segment, "word": word, "before": before}),
            )
        )

    def take_back_bot_correction(self, bot_id: str, correction_id: str) -> Message:
        """Take a correction of a bot's transcript back."""
        return self.send(Request("DELETE", f"/bot/{part(bot_id)}/correction/{part(correction_id)}", Message))

    def get_recording_transcript(self, recording_id: str, *, corrected: bool | Unset = UNSET) -> Transcript:
        """A recording's transcript as it is to be read, in a format.

        Args:
            corrected: False: as it was heard, without corrections.
        """
        return self.send(
            Request(
                "GET", f"/recording/{part(recording_id)}/transcript", Transcript, query=given({"corrected": corrected})
            )
        )

    def get_recording_transcript_text(
        self, recording_id: str, *, format: Literal["txt", "srt", "vtt", "md"], corrected: bool | Unset = UNSET
    ) -> str:
        """A recording's transcript as it is to be read, in a format: as text.

        Args:
            format: Of the text.
            corrected: False: as it was heard, without corrections.
        """
        return self.send(
            Request(
                "GET",
                f"/recording/{part(recording_id)}/transcript",
                str,
                query=given({"format": format, "corrected": corrected}),
            )
        )

    def correct_recording(
        self,
        recording_id: str,
        *,
        kind: Literal["word", "speaker", "participant"],
        after: str,
        segment: int | Unset | None = UNSET,
        word: int | Unset | None = UNSET,
        before: str | Unset | None = UNSET,
    ) -> Correction:
        """Put a word or a speaker right in a recording's transcript.

        Args:
            kind: What is wrong.
            after: What belongs there.
            segment: Of a `word` or a `speaker`: which segment, from 0.
            word: Of a `word`: which one of the segment's, from 0.
            before: Of a `participant`: the name that is wrong.
        """
        return self.send(
            Request(
                "POST",
                f"/recording/{part(recording_id)}/correction",
                Correction,
                body=given({"kind": kind, "after": after, "segment": segment, "word": word, "before": before}),
            )
        )

    def take_back_recording_correction(self, recording_id: str, correction_id: str) -> Message:
        """Take a correction of a recording's transcript back."""
        return self.send(
            Request("DELETE", f"/recording/{part(recording_id)}/correction/{part(correction_id)}", Message)
        )

    def compare_transcripts(
        self, *, first: str | None, second: str | None, reference: str | Unset | None = UNSET
    ) -> Comparison:
        """Two transcripts side by side, with their word error rates where a reference is given.

        Args:
            first: The id of a bot or a recording.
            second: The id of another one, mostly of the same sound.
            reference: What was really said, as plain text: each transcript gets its word error
                rate.
        """
        return self.send(
            Request(
                "POST",
                "/comparison",
                Comparison,
                body=given({"first": first, "second": second, "reference": reference}),
            )
        )

    def search(self, *, q: str, limit: int | Unset = UNSET, cursor: str | Unset = UNSET) -> SearchResults:
        """Find words in all transcripts, the newest first.

        Args:
            q: Words, begun ones too; words in quotes follow one another.
            cursor: `next_cursor` of the page before.
        """
        return self.send(
            Request("GET", "/search", SearchResults, query=given({"q": q, "limit": limit, "cursor": cursor}))
        )

    def iter_search(self, *, q: str) -> Iterator[SearchResult]:
        """Find words in all transcripts, the newest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.search(q=q, cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def create_key(
        self,
        *,
        name: str,
        scopes: Sequence[Literal["read", "write", "live", "admin"]] | Unset | None = UNSET,
        expires_in_days: int | Unset | None = UNSET,
    ) -> NewKey:
        """Make an API key; it is shown this once.

        Args:
            name: What it is for; shown in lists.
            scopes: What it may do; absent: everything.
            expires_in_days: Absent: it does not expire.
        """
        return self.send(
            Request(
                "POST", "/key", NewKey, body=given({"name": name, "scopes": scopes, "expires_in_days": expires_in_days})
            )
        )

    def list_keys(self, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET) -> KeyList:
        """List API keys, oldest first.

        Args:
            cursor: `next_cursor` of the page before.
        """
        return self.send(Request("GET", "/key", KeyList, query=given({"limit": limit, "cursor": cursor})))

    def iter_keys(self) -> Iterator[Key]:
        """List API keys, oldest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_keys(cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def rotate_key(self, key_id: str, *, overlap_hours: int | Unset | None = UNSET) -> NewKey:
        """Make a key in place of another, which works on for a while.

        Args:
            overlap_hours: For so long the old one holds, too.
        """
        return self.send(
            Request("POST", f"/key/{part(key_id)}/rotate", NewKey, body=given({"overlap_hours": overlap_hours}))
        )

    def revoke_key(self, key_id: str) -> Message:
        """Revoke an API key."""
        return self.send(Request("DELETE", f"/key/{part(key_id)}", Message))

    def add_credential(
        self,
        *,
        provider: Literal["deepgram", "assemblyai", "speechmatics", "revai", "elevenlabs", "soniox", "gladia", "salad"],
        key: str,
        region: str | Unset | None = UNSET,
        organisation: str | Unset | None = UNSET,
        check: bool | Unset | None = UNSET,
    ) -> NewCredential:
        """Keep a key at a transcription vendor.

        Args:
            provider: The vendor.
            key: The vendor's key. It is sealed, and never shown again.
            region: Where the vendor has several.
            organisation: Where the vendor wants one (Salad).
            check: Ask the vendor first: a key that it rejects is not kept.
        """
        return self.send(
            Request(
                "POST",
                "/credential",
                NewCredential,
                body=given(
                    {"provider": provider, "key": key, "region": region, "organisation": organisation, "check": check}
                ),
            )
        )

    def list_credentials(self, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET) -> CredentialList:
        """List credentials, oldest first.

        Args:
            cursor: `next_cursor` of the page before.
        """
        return self.send(Request("GET", "/credential", CredentialList, query=given({"limit": limit, "cursor": cursor})))

    def iter_credentials(self) -> Iterator[Credential]:
        """List credentials, oldest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_credentials(cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def check_credential(self, credential_id: str) -> CheckedCredential:
        """Ask the vendor whether it accepts a credential."""
        return self.send(Request("POST", f"/credential/{part(credential_id)}/check", CheckedCredential))

    def remove_credential(self, credential_id: str) -> Message:
        """Forget a credential."""
        return self.send(Request("DELETE", f"/credential/{part(credential_id)}", Message))

    def add_meeting_account(
        self,
        *,
        service: str,
        email: str,
        password: str | Unset | None = UNSET,
        state: Mapping[str, Any] | Unset | None = UNSET,
    ) -> MeetingAccount:
        """Keep an account that bots sign in with.

        Args:
            service: Where it belongs.
            email: The address it signs in with.
            password: Its password; needed where no `state` is given.
            state: The storage state of a browser that is signed in.
        """
        return self.send(
            Request(
                "POST",
                "/meeting-account",
                MeetingAccount,
                body=given({"service": service, "email": email, "password": password, "state": state}),
            )
        )

    def list_meeting_accounts(self, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET) -> MeetingAccountList:
        """List meeting accounts, oldest first.

        Args:
            cursor: `next_cursor` of the page before.
        """
        return self.send(
            Request("GET", "/meeting-account", MeetingAccountList, query=given({"limit": limit, "cursor": cursor}))
        )

    def iter_meeting_accounts(self) -> Iterator[MeetingAccount]:
        """List meeting accounts, oldest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_meeting_accounts(cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def get_meeting_account(self, meeting_account_id: str) -> MeetingAccount:
        """A meeting account, without what is secret of it."""
        return self.send(Request("GET", f"/meeting-account/{part(meeting_account_id)}", MeetingAccount))

    def remove_meeting_account(self, meeting_account_id: str) -> Message:
        """Forget a meeting account."""
        return self.send(Request("DELETE", f"/meeting-account/{part(meeting_account_id)}", Message))

    def check_meeting_account(self, meeting_account_id: str) -> CheckedMeetingAccount:
        """Sign in at the site as a bot would, and tell whether it lets the account in."""
        return self.send(Request("POST", f"/meeting-account/{part(meeting_account_id)}/check", CheckedMeetingAccount))

    def open_sign_in_window(self, *, service: str, email: str) -> SignInWindow:
        """Open a browser on a host, in which an account is signed in by hand.

        Args:
            service: Where it belongs.
            email: The address it signs in with.
        """
        return self.send(
            Request("POST", "/sign-in-window", SignInWindow, body=given({"service": service, "email": email}))
        )

    def look_into_sign_in_window(self, sign_in_window_id: str, *, after: int | Unset = UNSET) -> SignInPicture:
        """What a sign-in window shows next; nulls where nothing changes for some seconds.

        Args:
            after: `number` of the picture that is known; the next one is waited for, a few seconds
                at the most.
        """
        return self.send(
            Request(
                "GET",
                f"/sign-in-window/{part(sign_in_window_id)}/picture",
                SignInPicture,
                query=given({"after": after}),
            )
        )

    def act_in_sign_in_window(
        self, sign_in_window_id: str, *, inputs: Sequence[Sequence[str | float]], page: int | Unset | None = UNSET
    ) -> Message:
        """Pass pointer and keys on to a sign-in window.

        Args:
            inputs: In order, each a name and its arguments. `move` takes shares of width and
                height, `down` and `up` the button (0, 1, 2) and clicks, `wheel` pixels, `press` and
                `release` a key, `type` a text, `size` pixels.
            page: The `page` of the picture that they are meant for: what comes after the window has
                moved on is passed over. Null: that of the last picture.
        """
        return self.send(
            Request(
                "POST",
                f"/sign-in-window/{part(sign_in_window_id)}/input",
                Message,
                body=given({"inputs": inputs, "page": page}),
            )
        )

    def keep_sign_in_window(self, sign_in_window_id: str, *, anyway: bool | Unset | None = UNSET) -> KeptSignIn:
        """Make what a sign-in window remembers the meeting account, and close it.

        Args:
            anyway: Keep it, too, where the site seems to have signed nobody in.
        """
        return self.send(
            Request(
                "POST", f"/sign-in-window/{part(sign_in_window_id)}/keep", KeptSignIn, body=given({"anyway": anyway})
            )
        )

    def close_sign_in_window(self, sign_in_window_id: str) -> Message:
        """Close a sign-in window; nothing of it is kept."""
        return self.send(Request("DELETE", f"/sign-in-window/{part(sign_in_window_id)}", Message))

    def get_webhook_secret(self) -> WebhookSecret:
        """What webhooks are signed with."""
        return self.send(Request("GET", "/webhook-secret", WebhookSecret))

    def rotate_webhook_secret(self, *, overlap_hours: int | Unset | None = UNSET) -> WebhookSecret:
        """Make a new secret; the old one signs beside it for a while.

        Args:
            overlap_hours: For so long the old one holds, too.
        """
        return self.send(
            Request("POST", "/webhook-secret/rotate", WebhookSecret, body=given({"overlap_hours": overlap_hours}))
        )

    def list_webhook_deliveries(
        self,
        *,
        limit: int | Unset = UNSET,
        cursor: str | Unset = UNSET,
        state: Literal["pending", "delivered", "given_up"] | Unset = UNSET,
        resource_id: str | Unset = UNSET,
    ) -> WebhookDeliveryList:
        """List webhooks with every attempt, newest first.

        Args:
            cursor: `next_cursor` of the page before.
            resource_id: Only those of this bot or recording.
        """
        return self.send(
            Request(
                "GET",
                "/webhook-delivery",
                WebhookDeliveryList,
                query=given({"limit": limit, "cursor": cursor, "state": state, "resource_id": resource_id}),
            )
        )

    def iter_webhook_deliveries(
        self, *, state: Literal["pending", "delivered", "given_up"] | Unset = UNSET, resource_id: str | Unset = UNSET
    ) -> Iterator[WebhookDelivery]:
        """List webhooks with every attempt, newest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_webhook_deliveries(state=state, resource_id=resource_id, cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def replay_webhook_deliveries(
        self, *, since: datetime | int | None, state: Literal["pending", "delivered", "given_up"] | Unset = UNSET
    ) -> Replayed:
        """Send once more what was created since a moment.

        Args:
            since: Those created then or later: Unix seconds, or milliseconds above 10^11.
            state: Those in this state.
        """
        return self.send(
            Request("POST", "/webhook-delivery/replay", Replayed, body=given({"since": since, "state": state}))
        )

    def get_webhook_delivery(self, webhook_delivery_id: str) -> WebhookDelivery:
        """A webhook with every attempt."""
        return self.send(Request("GET", f"/webhook-delivery/{part(webhook_delivery_id)}", WebhookDelivery))

    def replay_webhook_delivery(self, webhook_delivery_id: str) -> WebhookDelivery:
        """Send a webhook once more, now."""
        return self.send(Request("POST", f"/webhook-delivery/{part(webhook_delivery_id)}/replay", WebhookDelivery))

    def test_webhook(self, *, webhook_url: str) -> WebhookDelivery:
        """Try a receiver: one signed webhook, at once.

        Args:
            webhook_url: Where to send a `test`.
        """
        return self.send(Request("POST", "/webhook/test", WebhookDelivery, body=given({"webhook_url": webhook_url})))

    def get_usage(
        self,
        *,
        from_: date | str | Unset = UNSET,
        to: date | str | Unset = UNSET,
        group: Literal["month", "day"] | Unset = UNSET,
    ) -> Usage:
        """Minutes and amounts by month or day, key and model.

        Args:
            from_: The first day, in UTC; absent: the first of the month five months before.
            to: The last day; absent: today.
        """
        return self.send(Request("GET", "/usage", Usage, query=given({"from": from_, "to": to, "group": group})))

    def get_usage_text(
        self,
        *,
        format: Literal["csv"],
        from_: date | str | Unset = UNSET,
        to: date | str | Unset = UNSET,
        group: Literal["month", "day"] | Unset = UNSET,
    ) -> str:
        """Minutes and amounts by month or day, key and model: as text.

        Args:
            format: Of the text.
            from_: The first day, in UTC; absent: the first of the month five months before.
            to: The last day; absent: today.
        """
        return self.send(
            Request("GET", "/usage", str, query=given({"format": format, "from": from_, "to": to, "group": group}))
        )

    def add_calendar_feed(
        self,
        *,
        name: str,
        calendar_url: str,
        rule: Literal["all", "mine", "keyword"] | Unset = UNSET,
        keyword: str | Unset | None = UNSET,
        attendee: str | Unset | None = UNSET,
        time_zone: str | Unset | None = UNSET,
        bot_name: str | Unset = UNSET,
        transcription_model: str | Unset = UNSET,
        lang: str | Unset | None = UNSET,
        webhook_url: str | Unset | None = UNSET,
        video: bool | Unset | None = UNSET,
    ) -> CalendarFeed:
        """Follow a calendar: its meetings become scheduled bots.

        Args:
            name: What the feed is called in lists.
            calendar_url: The calendar's secret address (iCalendar). It is sealed, and never shown
                again.
            rule: Which meetings get a bot.
            keyword: Of the rule `keyword`: what stands in title or description.
            attendee: Of the rule `mine`: your address, as organiser or as an attendee who has not
                declined.
            time_zone: The zone of times that name none, such as `Europe/Berlin`; absent: the
                calendar's own, else UTC.
            bot_name: The bots' name in the meetings.
            transcription_model: What transcribes.
            lang: Spoken language, as for bots.
            webhook_url: Receives every change of status of the bots.
            video: Record video too.
        """
        return self.send(
            Request(
                "POST",
                "/calendar-feed",
                CalendarFeed,
                body=given(
                    {
                        "name": name,
                        "calendar_url": calendar_url,
                        "rule": rule,
                        "keyword": keyword,
                        "attendee": attendee,
                        "time_zone": time_zone,
                        "bot_name": bot_name,
                        "transcription_model": transcription_model,
                        "lang": lang,
                        "webhook_url": webhook_url,
                        "video": video,
                    }
                ),
            )
        )

    def list_calendar_feeds(self) -> CalendarFeedList:
        """List calendar feeds, oldest first."""
        return self.send(Request("GET", "/calendar-feed", CalendarFeedList))

    def get_calendar_feed(self, calendar_feed_id: str) -> CalendarFeed:
        """A calendar feed with its meetings that have bots."""
        return self.send(Request("GET", f"/calendar-feed/{part(calendar_feed_id)}", CalendarFeed))

    def remove_calendar_feed(self, calendar_feed_id: str) -> Message:
        """Follow a calendar no more, and cancel its bots that still wait."""
        return self.send(Request("DELETE", f"/calendar-feed/{part(calendar_feed_id)}", Message))

    def check_calendar_feed(self, calendar_feed_id: str) -> Message:
        """Look at a calendar now."""
        return self.send(Request("POST", f"/calendar-feed/{part(calendar_feed_id)}/check", Message))

    def invite_member(self, *, name: str, role: Literal["owner", "member", "viewer"]) -> Invitation:
        """Make a link that lets somebody into the console, once.

        Args:
            name: Who they are; they may change it.
            role: What they may do.
        """
        return self.send(Request("POST", "/member", Invitation, body=given({"name": name, "role": role})))

    def list_members(self, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET) -> MemberList:
        """List who may use the console, oldest first.

        Args:
            cursor: `next_cursor` of the page before.
        """
        return self.send(Request("GET", "/member", MemberList, query=given({"limit": limit, "cursor": cursor})))

    def iter_members(self) -> Iterator[Member]:
        """List who may use the console, oldest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_members(cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def change_member(self, member_id: str, *, role: Literal["owner", "member", "viewer"]) -> Member:
        """Give somebody another role.

        Args:
            role: What they may do from now on.
        """
        return self.send(Request("PATCH", f"/member/{part(member_id)}", Member, body=given({"role": role})))

    def remove_member(self, member_id: str) -> Message:
        """Take somebody out of the account."""
        return self.send(Request("DELETE", f"/member/{part(member_id)}", Message))

    def list_audit(self, *, limit: int | Unset = UNSET, cursor: str | Unset = UNSET) -> AuditList:
        """What was done, by whom, newest first.

        Args:
            cursor: `next_cursor` of the page before.
        """
        return self.send(Request("GET", "/audit", AuditList, query=given({"limit": limit, "cursor": cursor})))

    def iter_audit(self) -> Iterator[Deed]:
        """What was done, by whom, newest first: all of them, page by page as they are taken."""
        cursor: str | Unset = UNSET
        while True:
            page = self.list_audit(cursor=cursor)
            yield from page.data
            if page.next_cursor is None:
                return
            cursor = page.next_cursor
