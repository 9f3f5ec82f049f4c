"""The schema of 0.1.0. It stays as it was released: each later change is a migration of its own."""

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    text,
)

from sederunt.database.columns import RISING, Document, Moment
from sederunt.database.tables import metadata

revision = "v0001"
down_revision = None

# The words of transcript lines, by the line's number. Marks (categories Co, M) belong to words, as `model.search_terms`
# decides.
_WORD_INDEX = {
    "sqlite": (
        "CREATE VIRTUAL TABLE transcript_words USING fts5"
        "(words, tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* Co M*'\")",
    ),
    "postgresql": (
        "CREATE TABLE transcript_words (rowid bigint PRIMARY KEY, words tsvector NOT NULL)",
        "CREATE INDEX transcript_words_index ON transcript_words USING gin (words)",
    ),
}

_schema = MetaData(naming_convention=metadata.naming_convention)


def upgrade() -> None:
    connection = op.get_bind()
    _schema.create_all(connection, checkfirst=False)
    for statement in _WORD_INDEX[connection.dialect.name]:
        op.execute(statement)


def _partial_index(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


Table(
    "accounts",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("reserved", Integer, nullable=False, server_default=text("0")),
    Column("webhook_secret", LargeBinary),
    Column("webhook_secret_before", LargeBinary),
    Column("webhook_secret_before_until", Moment),
)
Table(
    "api_keys",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
    Column("scopes", Text, nullable=False, server_default=text("'read write live'")),
    Column("expires_at", Moment),
)
Table(
    "credentials",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("provider", Text, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("hint", Text, nullable=False),
    Column("region", Text),
    Column("organisation", Text),
    Column("created_at", Moment, nullable=False),
)
Table(
    "meeting_accounts",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("service", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("secret", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
Table(
    "people",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("email", Text, unique=True),
    Column("name", Text, nullable=False),
    Column("password_hash", Text),
    Column("created_at", Moment, nullable=False),
)
Table(
    "members",
    _schema,
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("role", Text, nullable=False),
    PrimaryKeyConstraint("person_id", "account_id"),
)
Table(
    "identities",
    _schema,
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("made", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("issuer", "subject"),
)
Table(
    "sessions",
    _schema,
    Column("digest", LargeBinary, primary_key=True),
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)
Table(
    "sign_in_links",
    _schema,
    Column("digest", LargeBinary, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE")),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("expires_at", Moment, nullable=False),
)
Table(
    "audit",
    _schema,
    Column("id", RISING, primary_key=True),
    Column("account_id", Uuid, nullable=False),
    Column("at", Moment, nullable=False),
    Column("who", Text, nullable=False),
    Column("by_person", Boolean, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text),
    Index("audit_of_account", "account_id", "id"),
    sqlite_autoincrement=True,
)
Table(
    "house_secrets",
    _schema,
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
Table(
    "bots",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id"), nullable=False),
    Column("config", Document, nullable=False),
    Column("zak", LargeBinary),
    Column("status", Text, nullable=False),
    Column("stop_reason", Text),
    Column("created_at", Moment, nullable=False),
    Column("scheduled_for", Moment),
    Column("finished_at", Moment),
    Column("recording_started_at", Moment),
    Column("recording_ended_at", Moment),
    Column("recording_object", Text),
    Column("recording_available_until", Moment),
    Column("detected_lang", Text),
    Column("verdict", Text),
    Column("gaps", Document),
    Column("capture", Document),
    Column("evidence", Document),
    Column("host", Text),
    Column("epoch", Integer, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("stop_requested", Boolean, nullable=False, server_default=text("false")),
    Column("delete_requested", Boolean, nullable=False, server_default=text("false")),
    Column("secret", Text, nullable=False, server_default=text("''")),
    Column("media_until", Moment),
    Column("media_removed_at", Moment),
    Column("key_id", Uuid),
    Column("origin", Document),
    Index("bots_newest", "account_id", "created_at", "id"),
    Index("bots_newest_of_status", "account_id", "status", "created_at", "id"),
    _partial_index("bots_due", "scheduled_for", where="status = 'scheduled'"),
    _partial_index("bots_scheduled", "account_id", "scheduled_for", where="status = 'scheduled'"),
    _partial_index("bots_at_work", "account_id", where="status IN ('booting', 'joining', 'leaving', 'recording')"),
    _partial_index("bots_expiring", "media_until", where="media_removed_at IS NULL"),
)
Table(
    "bot_metadata",
    _schema,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("digest", "bot_id"),
)
Table(
    "bot_events",
    _schema,
    Column("id", RISING, primary_key=True),
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("event", Text, nullable=False),
    Column("data", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("bot_events_in_order", "bot_id", "id"),
    sqlite_autoincrement=True,
)
Table(
    "participants",
    _schema,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("avatar", Text),
    Column("first_seen_at", Moment, nullable=False),
    PrimaryKeyConstraint("bot_id", "key"),
)
Table(
    "speaking_events",
    _schema,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("participant", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    PrimaryKeyConstraint("bot_id", "participant", "at_ms", "type"),
)
Table(
    "sources",
    _schema,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("source", Text, nullable=False),
    Column("participant", Text, nullable=False),
    PrimaryKeyConstraint("bot_id", "source"),
)
Table(
    "live_segments",
    _schema,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("segment_id", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("start_ms", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("voice", Text, nullable=False),
    Column("segment", Document, nullable=False),
    PrimaryKeyConstraint("bot_id", "segment_id"),
)
Table(
    "recordings",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id"), nullable=False),
    Column("config", Document, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    Column("source_url", Text),
    Column("source_bot_id", Uuid),
    Column("source_recording_id", Uuid),
    Column("recording_object", Text),
    Column("recording_available_until", Moment),
    Column("detected_lang", Text),
    Column("delete_requested", Boolean, nullable=False, server_default=text("false")),
    Column("media_until", Moment),
    Column("media_removed_at", Moment),
    Column("key_id", Uuid),
    Column("origin", Document),
    Index("recordings_newest", "account_id", "created_at", "id"),
    _partial_index("recordings_in_flight", "account_id", where="status = 'transcribing'"),
    _partial_index("recordings_expiring", "media_until", where="media_removed_at IS NULL"),
)
Table(
    "recording_events",
    _schema,
    Column("id", RISING, primary_key=True),
    Column("recording_id", Uuid, ForeignKey("recordings.id", ondelete="CASCADE"), nullable=False),
    Column("event", Text, nullable=False),
    Column("data", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("recording_events_in_order", "recording_id", "id"),
    sqlite_autoincrement=True,
)
Table(
    "transcripts",
    _schema,
    Column("resource_id", Uuid, primary_key=True),
    Column("segments", Text, nullable=False),
    Column("detected_lang", Text),
    Column("updated_at", Moment, nullable=False),
)
Table(
    "transcript_lines",
    _schema,
    Column("id", RISING, primary_key=True),
    Column("account_id", Uuid, nullable=False),
    Column("resource", Text, nullable=False),
    Column("resource_id", Uuid, nullable=False, index=True),
    Column("segment", Integer, nullable=False),
    Column("start_ms", BigInteger, nullable=False),
    Column("end_ms", BigInteger, nullable=False),
    Column("speaker", Text),
    Column("text", Text, nullable=False),
    Column("is_apart", Boolean, nullable=False, server_default=text("false")),
    _partial_index("transcript_lines_plain", "account_id", where="NOT is_apart"),
    sqlite_autoincrement=True,
)
Table(
    "corrections",
    _schema,
    Column("position", RISING, primary_key=True),
    Column("id", Uuid, nullable=False, unique=True),
    Column("resource_id", Uuid, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("segment", Integer),
    Column("word", Integer),
    Column("before", Text),
    Column("after", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
)
Table(
    "first_answers",
    _schema,
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("resource_id", Uuid, nullable=False, index=True),
    Column("body", Text),
    Column("expires_at", Moment, nullable=False, index=True),
    PrimaryKeyConstraint("account_id", "key"),
)
Table(
    "holdings",
    _schema,
    Column("resource_id", Uuid, primary_key=True),
    Column("resource", Text, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("stored_bytes", BigInteger, nullable=False),
    Column("sound_ms", BigInteger, nullable=False),
    Index("holdings_of_account", "account_id", "stored_bytes"),
)
Table(
    "usage",
    _schema,
    Column("resource_id", Uuid, primary_key=True),
    Column("account_id", Uuid, nullable=False),
    Column("resource", Text, nullable=False),
    Column("key_id", Uuid),
    Column("model", Text, nullable=False),
    Column("own_key", Boolean, nullable=False),
    Column("video", Boolean, nullable=False),
    Column("realtime_audio", Boolean, nullable=False),
    Column("for_1_year", Boolean, nullable=False),
    Column("ended_at", Moment, nullable=False),
    Column("minutes", Integer, nullable=False),
    Column("waiting_minutes", Integer, nullable=False),
    Index("usage_of_account", "account_id", "ended_at"),
)
Table(
    "deliveries",
    _schema,
    Column("position", RISING, primary_key=True),
    Column("id", Uuid, nullable=False, unique=True),
    Column("account_id", Uuid, nullable=False),
    Column("resource", Text, nullable=False),
    Column("resource_id", Uuid, nullable=False),
    Column("url", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("data", Document, nullable=False),
    Column("custom_metadata", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("state", Text, nullable=False),
    Column("next_attempt_at", Moment),
    Index("deliveries_in_order", "resource_id", "position"),
    Index("deliveries_newest", "account_id", "position"),
    _partial_index("deliveries_due", "next_attempt_at", where="state = 'pending'"),
    sqlite_autoincrement=True,
)
Table(
    "delivery_attempts",
    _schema,
    Column("id", RISING, primary_key=True),
    Column("delivery_id", Uuid, ForeignKey("deliveries.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("at", Moment, nullable=False),
    Column("status", Integer),
    Column("ms", Integer, nullable=False),
    Column("answer", Text, nullable=False),
)
Table(
    "outbox",
    _schema,
    Column("id", RISING, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)
Table(
    "deletions",
    _schema,
    Column("resource_id", Uuid, primary_key=True),
    Column("resource", Text, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("requested_at", Moment, nullable=False),
    Column("finished_at", Moment),
    _partial_index("deletions_unfinished", "requested_at", where="finished_at IS NULL"),
)
Table(
    "job_beginnings",
    _schema,
    Column("resource_id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("count", Integer, nullable=False),
    PrimaryKeyConstraint("resource_id", "kind"),
)
Table(
    "calendar_feeds",
    _schema,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("address", LargeBinary, nullable=False),
    Column("host", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("keyword", Text, nullable=False),
    Column("attendee", Text, nullable=False),
    Column("bot", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("next_check_at", Moment, nullable=False, index=True),
    Column("checked_at", Moment),
    Column("etag", Text),
    Column("modified", Text),
    Column("fault", Text),
)
Table(
    "calendar_meetings",
    _schema,
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False),
    Column("feed_id", Uuid, ForeignKey("calendar_feeds.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("bot_id", Uuid, nullable=False),
    Column("made", Boolean, nullable=False),
    Column("title", Text, nullable=False),
    Column("starts_at", Moment, nullable=False),
    Column("meeting_url", Text, nullable=False),
    PrimaryKeyConstraint("account_id", "key"),
)
Table(
    "oldest_program",
    _schema,
    Column("revision", Text, primary_key=True),
)
Table(
    "retention_times",
    _schema,
    Column("id", Integer, primary_key=True),
    Column("believed", Moment, nullable=False),
)
