"""The shapes of answers about transcripts and accounts, as JSON schemas; `answers` has those of bots and recordings."""

from collections.abc import Mapping

from sederunt.accounts.credential_check import KeyVerdict
from sederunt.accounts.keys import Scope
from sederunt.accounts.meeting_accounts import AccountVerdict
from sederunt.accounts.sign_in import MemberRole
from sederunt.api.schemas.answer_parts import (
    FLAG,
    ID,
    INTEGER,
    NUMBER,
    TEXT,
    TIME,
    URI,
    Schema,
    list_of,
    object_of,
    or_null,
    ref,
    words_of,
)
from sederunt.calendars.meeting import FeedRule
from sederunt.database.deliveries import DeliveryState
from sederunt.model.correction import CorrectionKind
from sederunt.platforms.registry import services_taking
from sederunt.platforms.sign_in_pages import AccountKind

_KEY: Mapping[str, Schema] = {
    "id": ID,
    "name": TEXT,
    "prefix": TEXT,
    "scopes": list_of(words_of(Scope)),
    "created_at": TIME,
    "expires_at": or_null(TIME),
    "last_used_at": or_null(TIME),
    "revoked_at": or_null(TIME),
}
_MEMBER: Mapping[str, Schema] = {
    "id": ID,
    "name": TEXT,
    "email": or_null(TEXT),
    "role": words_of(MemberRole),
    "created_at": TIME,
}
_CREDENTIAL: Mapping[str, Schema] = {
    "id": ID,
    "provider": TEXT,
    "hint": TEXT,
    "region": or_null(TEXT),
    "organisation": or_null(TEXT),
    "created_at": TIME,
}
_RESOURCE: Schema = {"type": "string", "enum": ["bot", "recording"]}

ACCOUNT_ANSWERS: Mapping[str, Schema] = {
    "Key": object_of(_KEY),
    "NewKey": object_of({**_KEY, "key": TEXT}),
    "KeyList": object_of({"data": list_of(ref("Key")), "next_cursor": or_null(TEXT)}),
    "Credential": object_of(_CREDENTIAL),
    "NewCredential": object_of({**_CREDENTIAL, "verdict": or_null(words_of(KeyVerdict))}),
    "CheckedCredential": object_of({"verdict": words_of(KeyVerdict), "message": TEXT}),
    "CredentialList": object_of({"data": list_of(ref("Credential")), "next_cursor": or_null(TEXT)}),
    "MeetingAccount": object_of(
        {
            "id": ID,
            "service": {"type": "string", "enum": list(services_taking(AccountKind.SESSION))},
            "email": TEXT,
            "created_at": TIME,
            "updated_at": TIME,
        }
    ),
    "MeetingAccountList": object_of({"data": list_of(ref("MeetingAccount")), "next_cursor": or_null(TEXT)}),
    "CheckedMeetingAccount": object_of({"verdict": words_of(AccountVerdict), "message": TEXT, "row": TEXT}),
    "SignInWindow": object_of({"id": ID, "service": TEXT, "email": TEXT}),
    "SignInPicture": object_of(
        {
            "number": or_null(INTEGER),
            "page": or_null(INTEGER),
            "address": or_null(TEXT),
            "jpeg": or_null({"type": "string", "contentEncoding": "base64", "contentMediaType": "image/jpeg"}),
        }
    ),
    "KeptSignIn": object_of({"kept": FLAG, "meeting_account_id": or_null(ID), "message": TEXT}),
    "WebhookSecret": object_of(
        {"secret": TEXT, "secret_before": or_null(TEXT), "secret_before_until": or_null(TIME)},
    ),
    "WebhookAttempt": object_of({"at": TIME, "http_status": or_null(INTEGER), "ms": INTEGER, "answer": TEXT}),
    "WebhookDelivery": object_of(
        {
            "id": ID,
            "resource": _RESOURCE,
            "resource_id": ID,
            "type": TEXT,
            "webhook_url": URI,
            "state": words_of(DeliveryState),
            "created_at": TIME,
            "next_attempt_at": or_null(TIME),
            "payload": {"type": "object", "oneOf": [ref("BotWebhook"), ref("RecordingWebhook"), ref("TestWebhook")]},
            "attempts": list_of(ref("WebhookAttempt")),
        }
    ),
    "WebhookDeliveryList": object_of({"data": list_of(ref("WebhookDelivery")), "next_cursor": or_null(TEXT)}),
    "Member": object_of(_MEMBER),
    "MemberList": object_of({"data": list_of(ref("Member")), "next_cursor": or_null(TEXT)}),
    "Invitation": object_of({"name": TEXT, "role": words_of(MemberRole), "sign_in_url": URI}),
    "Deed": object_of(
        {
            "at": TIME,
            "who": TEXT,
            "by": {"type": "string", "enum": ["person", "key"]},
            "action": TEXT,
            "target": or_null(TEXT),
        }
    ),
    "AuditList": object_of({"data": list_of(ref("Deed")), "next_cursor": or_null(TEXT)}),
    "Replayed": object_of({"replayed": INTEGER}),
    "UsageRow": object_of(
        {
            "period": TEXT,
            "resource": _RESOURCE,
            "key_id": or_null(ID),
            "key_name": or_null(TEXT),
            "transcription_model": TEXT,
            "count": INTEGER,
            "minutes": INTEGER,
            "amount": NUMBER,
            "currency": TEXT,
        }
    ),
    "Usage": object_of({"from": TEXT, "to": TEXT, "group": TEXT, "data": list_of(ref("UsageRow"))}),
    "Correction": object_of(
        {
            "id": ID,
            "kind": words_of(CorrectionKind),
            "segment": or_null(INTEGER),
            "word": or_null(INTEGER),
            "before": or_null(TEXT),
            "after": TEXT,
            "made_by": TEXT,
            "created_at": TIME,
        }
    ),
    "Transcript": object_of(
        {
            "id": ID,
            "detected_lang": or_null(TEXT),
            "corrections": list_of(ref("Correction")),
            "transcript": list_of(ref("TranscriptSegment")),
        }
    ),
    "FeedMeeting": object_of({"title": TEXT, "starts_at": TIME, "meeting_url": TEXT, "bot_id": ID}),
    "LeftOutEvent": object_of({"title": TEXT, "starts_at": TIME, "reason": TEXT}),
    "CalendarFeed": object_of(
        {
            "id": ID,
            "name": TEXT,
            "host": TEXT,
            "rule": words_of(FeedRule),
            "keyword": or_null(TEXT),
            "attendee": or_null(TEXT),
            "bot_name": TEXT,
            "transcription_model": TEXT,
            "lang": or_null(TEXT),
            "webhook_url": or_null(URI),
            "video": FLAG,
            "created_at": TIME,
            "checked_at": or_null(TIME),
            "fault": or_null(TEXT),
            "time_zone": or_null(TEXT),
            "warnings": list_of(TEXT),
            "meetings": list_of(ref("FeedMeeting")),
            "left_out": list_of(ref("LeftOutEvent")),
        }
    ),
    "CalendarFeedList": object_of({"data": list_of(ref("CalendarFeed"))}),
    "Passage": object_of({"text": TEXT, "same": FLAG, "speaker_name": or_null(TEXT)}),
    "ComparedTranscript": object_of(
        {
            "resource": _RESOURCE,
            "id": ID,
            "transcription_model": TEXT,
            "detected_lang": or_null(TEXT),
            "words": INTEGER,
            "word_error_rate": or_null(NUMBER),
        }
    ),
    "ComparedRow": object_of(
        {"start": NUMBER, "end": NUMBER, "first": list_of(ref("Passage")), "second": list_of(ref("Passage"))}
    ),
    "Comparison": object_of(
        {
            "first": ref("ComparedTranscript"),
            "second": ref("ComparedTranscript"),
            "reference_words": or_null(INTEGER),
            "rows": list_of(ref("ComparedRow")),
        }
    ),
    "ExcerptPart": object_of({"text": TEXT, "match": FLAG}),
    "SearchResult": object_of(
        {
            "resource": _RESOURCE,
            "id": ID,
            "segment": INTEGER,
            "start": NUMBER,
            "end": NUMBER,
            "speaker_name": or_null(TEXT),
            "excerpt": list_of(ref("ExcerptPart")),
        }
    ),
    "SearchResults": object_of({"data": list_of(ref("SearchResult")), "next_cursor": or_null(TEXT)}),
}
