"""Every table. Ids are UUIDs, times are microseconds, documents are JSON that is never searched."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    false,
    literal_column,
    text,
)

from sederunt.database.columns import RISING, Document, Moment

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_once",
        "fk": "%(table_name)s_%(column_0_name)s_of_%(referred_table_name)s",
        "pk": "%(table_name)s_pk",
    }
)

# --- accounts -------------------------------------------------------------------------------------------------------

accounts = Table(
    "accounts",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("reserved", Integer, nullable=False, server_default=text("0")),  # bots booked ahead
    Column("webhook_secret", LargeBinary),  # sealed; made on first use
    Column("webhook_secret_before", LargeBinary),  # sealed; the previous one, which also signs for a while
    Column("webhook_secret_before_until", Moment),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),  # the first characters, for people to tell keys apart
    Column("digest", LargeBinary, nullable=False, unique=True),  # HMAC-SHA-256 under the service's pepper
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
    Column("scopes", Text, nullable=False, server_default=text("'read write live'")),
    Column("expires_at", Moment),
    Index("api_keys_in_order", "account_id", "created_at", "id"),
)
_UNREVOKED = api_keys.c.revoked_at.is_(None)
Index("api_keys_unrevoked", api_keys.c.account_id, sqlite_where=_UNREVOKED, postgresql_where=_UNREVOKED)

credentials = Table(
    "credentials",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("provider", Text, nullable=False),
    Column("key", LargeBinary, nullable=False),  # sealed
    Column("hint", Text, nullable=False),  # its last characters
    Column("region", Text),
    Column("organisation", Text),
    Column("created_at", Moment, nullable=False),
    Index("credentials_in_order", "account_id", "created_at", "id"),
)

meeting_accounts = Table(
    "meeting_accounts",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("service", Text, nullable=False),  # the name of a platform that takes accounts
    Column("email", Text, nullable=False),
    Column("secret", LargeBinary, nullable=False),  # sealed: a browser state, or a password
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    # Contains all columns that lists show: in the row, they lie behind a secret of megabytes.
    Index("meeting_accounts_in_order", "account_id", "created_at", "id", "service", "email", "updated_at"),
)

# --- people, who look through the console ---

people = Table(
    "people",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("email", Text, unique=True),  # in lower case; None until the person chooses one
    Column("name", Text, nullable=False),
    Column("password_hash", Text),  # Argon2id; None: a link or their organisation signs them in
    Column("created_at", Moment, nullable=False),
)

members = Table(
    "members",
    metadata,
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("role", Text, nullable=False),
    PrimaryKeyConstraint("person_id", "account_id"),
)

# Identities of people at OpenID providers.
identities = Table(
    "identities",
    metadata,
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("made", Boolean, nullable=False),  # it created the person, whose role its claims give
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("issuer", "subject"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", LargeBinary, primary_key=True),  # SHA-256 of what the cookie holds
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

sign_in_links = Table(
    "sign_in_links",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("person_id", Uuid, ForeignKey("people.id", ondelete="CASCADE")),  # None: it makes one
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

# The audit log: who changed what.
audit = Table(
    "audit",
    metadata,
    Column("id", RISING, primary_key=True),
    Column("account_id", Uuid, nullable=False),
    Column("at", Moment, nullable=False),
    Column("who", Text, nullable=False),  # a person's name, or a key's
    Column("by_person", Boolean, nullable=False),
    Column("action", Text, nullable=False),  # the operation's name
    Column("target", Text),  # the id of what it was done to
    Index("audit_of_account", "account_id", "id"),
    sqlite_autoincrement=True,
)

# Permanent secrets that all processes share (the pepper of the keys, the secret of signed links), sealed.
house_secrets = Table(
    "house_secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

# --- bots -----------------------------------------------------------------------------------------------------------

bots = Table(
    "bots",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id"), nullable=False),
    Column("config", Document, nullable=False),
    Column("zak", LargeBinary),  # sealed; the rest of `authentication` is in `config`
    Column("status", Text, nullable=False),
    Column("stop_reason", Text),  # stored once it is known; shown only with an ending that allows it
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
    Column("media_until", Moment),  # set at the ending, whatever it is; the objects stay in storage until then
    Column("media_removed_at", Moment),
    Column("key_id", Uuid),  # the API key that asked for it
    Column("origin", Document),  # the request that made it
    Index("bots_newest", "account_id", "created_at", "id"),
    Index("bots_newest_of_status", "account_id", "status", "created_at", "id"),
    Index("bots_in_status", "status", "created_at"),  # of all accounts
)
# A literal, not a bind parameter: a partial index serves only a query with the same words.
IS_SCHEDULED = bots.c.status == literal_column("'scheduled'")
# At a host, or on the way there; a small part of all bots.
IS_AT_WORK: ColumnElement[bool] = literal_column("status IN ('booting', 'joining', 'leaving', 'recording')")
# Callers do not see a bot that is about to be deleted.
IS_VISIBLE = bots.c.delete_requested == false()
_IS_GOING = text("delete_requested")  # a small part of all rows; PostgreSQL scans them at each search
Index("bots_going", bots.c.id, sqlite_where=_IS_GOING, postgresql_where=_IS_GOING)
_MEDIA_LEFT = bots.c.media_removed_at.is_(None)
Index("bots_due", bots.c.scheduled_for, sqlite_where=IS_SCHEDULED, postgresql_where=IS_SCHEDULED)
Index(
    "bots_scheduled", bots.c.account_id, bots.c.scheduled_for, sqlite_where=IS_SCHEDULED, postgresql_where=IS_SCHEDULED
)
Index("bots_at_work", bots.c.account_id, sqlite_where=IS_AT_WORK, postgresql_where=IS_AT_WORK)
Index("bots_expiring", bots.c.media_until, sqlite_where=_MEDIA_LEFT, postgresql_where=_MEDIA_LEFT)

# One row per metadata entry, as a digest of name and value: an index finds it, whatever their length.
bot_metadata = Table(
    "bot_metadata",
    metadata,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("digest", "bot_id"),
)

bot_events = Table(
    "bot_events",
    metadata,
    Column("id", RISING, primary_key=True),
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("event", Text, nullable=False),
    Column("data", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("bot_events_in_order", "bot_id", "id"),
    sqlite_autoincrement=True,  # ids number a feed's events and must not be reused after a deletion
)

participants = Table(
    "participants",
    metadata,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False),
    Column("position", Integer, nullable=False),  # order of appearance
    Column("name", Text, nullable=False),
    Column("avatar", Text),
    Column("first_seen_at", Moment, nullable=False),
    PrimaryKeyConstraint("bot_id", "key"),
)

speaking_events = Table(
    "speaking_events",
    metadata,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("participant", Text, nullable=False),  # its key
    Column("at_ms", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    PrimaryKeyConstraint("bot_id", "participant", "at_ms", "type"),
)

sources = Table(
    "sources",
    metadata,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("source", Text, nullable=False),
    Column("participant", Text, nullable=False),
    PrimaryKeyConstraint("bot_id", "source"),
)

# The lines so far, as published to live listeners. The transcript after the call is made of them.
live_segments = Table(
    "live_segments",
    metadata,
    Column("bot_id", Uuid, ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    Column("segment_id", Text, nullable=False),
    Column("revision", Integer, nullable=False),  # how often it was replaced
    Column("start_ms", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("voice", Text, nullable=False),  # the voice that its `speaker` numbers
    Column("segment", Document, nullable=False),  # in the shape of a transcript's
    PrimaryKeyConstraint("bot_id", "segment_id"),
)

# --- recordings -----------------------------------------------------------------------------------------------------

recordings = Table(
    "recordings",
    metadata,
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
    Column("key_id", Uuid),  # the API key that asked for it
    Column("origin", Document),  # the request that made it
    Index("recordings_newest", "account_id", "created_at", "id"),
    Index("recordings_in_status", "status", "created_at"),  # of all accounts
)
_SOURCE_LEFT = recordings.c.media_removed_at.is_(None)
Index("recordings_going", recordings.c.id, sqlite_where=_IS_GOING, postgresql_where=_IS_GOING)
IS_TRANSCRIBING = recordings.c.status == literal_column("'transcribing'")
Index(
    "recordings_in_flight",
    recordings.c.account_id,
    sqlite_where=IS_TRANSCRIBING,
    postgresql_where=IS_TRANSCRIBING,
)
Index("recordings_expiring", recordings.c.media_until, sqlite_where=_SOURCE_LEFT, postgresql_where=_SOURCE_LEFT)

recording_events = Table(
    "recording_events",
    metadata,
    Column("id", RISING, primary_key=True),
    Column("recording_id", Uuid, ForeignKey("recordings.id", ondelete="CASCADE"), nullable=False),
    Column("event", Text, nullable=False),
    Column("data", Document, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("recording_events_in_order", "recording_id", "id"),
    sqlite_autoincrement=True,
)

# --- of both --------------------------------------------------------------------------------------------------------

transcripts = Table(
    "transcripts",
    metadata,
    Column("resource_id", Uuid, primary_key=True),  # a bot or a recording
    Column("segments", Text, nullable=False),  # JSON, in the shape callers see
    Column("detected_lang", Text),
    Column("updated_at", Moment, nullable=False),
)

# Every segment of every transcript, for search. The index over it is the engine's own: see `search`.
transcript_lines = Table(
    "transcript_lines",
    metadata,
    Column("id", RISING, primary_key=True),
    Column("account_id", Uuid, nullable=False),
    Column("resource", Text, nullable=False),  # bot or recording
    Column("resource_id", Uuid, nullable=False, index=True),
    Column("segment", Integer, nullable=False),  # its place in the transcript
    Column("start_ms", BigInteger, nullable=False),
    Column("end_ms", BigInteger, nullable=False),
    Column("speaker", Text),
    Column("text", Text, nullable=False),
    # Whether the index holds its words as its account's own. Programs from before 28 November 2026 write them plain.
    Column("is_apart", Boolean, nullable=False, server_default=text("false")),
    sqlite_autoincrement=True,
)
IS_PLAIN: ColumnElement[bool] = literal_column("NOT is_apart")
Index("transcript_lines_plain", transcript_lines.c.account_id, sqlite_where=IS_PLAIN, postgresql_where=IS_PLAIN)

# People's corrections of a transcript. The transcript itself stays unchanged.
corrections = Table(
    "corrections",
    metadata,
    Column("position", RISING, primary_key=True),  # later corrections apply to the result of earlier ones
    Column("id", Uuid, nullable=False, unique=True),
    Column("resource_id", Uuid, nullable=False, index=True),
    Column("kind", Text, nullable=False),  # word, speaker, participant
    Column("segment", Integer),
    Column("word", Integer),  # its place among the segment's words
    Column("before", Text),
    Column("after", Text, nullable=False),
    Column("made_by", Text, nullable=False),  # the name of the key, or of the person
    Column("created_at", Moment, nullable=False),
)

# Responses to requests with an Idempotency-Key, written together with the created resource.
first_answers = Table(
    "first_answers",
    metadata,
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),  # SHA-256 of the request
    Column("resource_id", Uuid, nullable=False, index=True),
    Column("body", Text),  # None: the resource is deleted
    Column("expires_at", Moment, nullable=False, index=True),
    PrimaryKeyConstraint("account_id", "key"),
)

# What each resource has in storage, and how long its sound is. Deleted with its files.
holdings = Table(
    "holdings",
    metadata,
    Column("resource_id", Uuid, primary_key=True),
    Column("resource", Text, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("stored_bytes", BigInteger, nullable=False),
    Column("sound_ms", BigInteger, nullable=False),
    Index("holdings_of_account", "account_id", "stored_bytes"),
)

# Usage, one row per ended resource. It outlives the resource, and contains nothing of its content.
usage = Table(
    "usage",
    metadata,
    Column("resource_id", Uuid, primary_key=True),
    Column("account_id", Uuid, nullable=False),
    Column("resource", Text, nullable=False),
    Column("key_id", Uuid),
    Column("model", Text, nullable=False),  # as requested
    Column("own_key", Boolean, nullable=False),  # the caller's own vendor key: the caller pays the vendor
    Column("video", Boolean, nullable=False),
    Column("realtime_audio", Boolean, nullable=False),
    Column("for_1_year", Boolean, nullable=False),
    Column("ended_at", Moment, nullable=False),
    Column("minutes", Integer, nullable=False),  # rounded up
    Column("waiting_minutes", Integer, nullable=False),
    Index("usage_of_account", "account_id", "ended_at"),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("position", RISING, primary_key=True),  # the order within a resource
    Column("id", Uuid, nullable=False, unique=True),  # the webhook-id header
    Column("account_id", Uuid, nullable=False),
    Column("resource", Text, nullable=False),  # bot or recording
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
    Index("deliveries_newest_of_state", "account_id", "state", "position"),
    sqlite_autoincrement=True,
)
IS_PENDING = deliveries.c.state == literal_column("'pending'")
Index("deliveries_due", deliveries.c.next_attempt_at, sqlite_where=IS_PENDING, postgresql_where=IS_PENDING)

delivery_attempts = Table(
    "delivery_attempts",
    metadata,
    Column("id", RISING, primary_key=True),
    Column("delivery_id", Uuid, ForeignKey("deliveries.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("at", Moment, nullable=False),
    Column("status", Integer),  # None if no answer came
    Column("ms", Integer, nullable=False),
    Column("answer", Text, nullable=False),  # the first 250 characters, or the error
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", RISING, primary_key=True),
    Column("kind", Text, nullable=False),  # job, feed, deliver
    Column("subject", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

# What remains of a deleted resource: that it was deleted, and whether everything is removed already.
deletions = Table(
    "deletions",
    metadata,
    Column("resource_id", Uuid, primary_key=True),
    Column("resource", Text, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("requested_at", Moment, nullable=False),
    Column("finished_at", Moment),
)
_UNFINISHED = deletions.c.finished_at.is_(None)
Index("deletions_unfinished", deletions.c.requested_at, sqlite_where=_UNFINISHED, postgresql_where=_UNFINISHED)

# How often the job of a resource began; rows are deleted with the resource.
job_beginnings = Table(
    "job_beginnings",
    metadata,
    Column("resource_id", Uuid, nullable=False),
    Column("kind", Text, nullable=False),
    Column("count", Integer, nullable=False),
    PrimaryKeyConstraint("resource_id", "kind"),
)

# --- calendars ------------------------------------------------------------------------------------------------------

calendar_feeds = Table(
    "calendar_feeds",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("address", LargeBinary, nullable=False),  # sealed: anybody who knows it can read the calendar
    Column("host", Text, nullable=False),  # of the address, for lists
    Column("rule", Text, nullable=False),
    Column("keyword", Text, nullable=False),
    Column("attendee", Text, nullable=False),
    Column("bot", Document, nullable=False),  # the options of its bots, as in a request
    Column("created_at", Moment, nullable=False),
    Column("next_check_at", Moment, nullable=False, index=True),
    Column("checked_at", Moment),  # last success
    Column("etag", Text),
    Column("modified", Text),
    Column("fault", Text),  # of the last look
    Column("time_zone", Text),  # of times without a zone
    Column("warnings", Document),  # of the last look that read the calendar
    Column("left_out", Document),  # the events of that look that get no bot, with the reasons
)

calendar_meetings = Table(
    "calendar_meetings",
    metadata,
    Column("account_id", Uuid, ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False),  # of the event; the same in every calendar that has it
    Column("feed_id", Uuid, ForeignKey("calendar_feeds.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("bot_id", Uuid, nullable=False),
    Column("made", Boolean, nullable=False),  # False: its bot is only promised
    Column("title", Text, nullable=False),
    Column("starts_at", Moment, nullable=False),
    Column("meeting_url", Text, nullable=False),
    PrimaryKeyConstraint("account_id", "key"),
)

# One row: the schema of the oldest program that works with this one.
oldest_program = Table("oldest_program", metadata, Column("revision", Text, primary_key=True))

# One row: the time by which the age of media was last judged.
retention_times = Table(
    "retention_times", metadata, Column("id", Integer, primary_key=True), Column("believed", Moment, nullable=False)
)
