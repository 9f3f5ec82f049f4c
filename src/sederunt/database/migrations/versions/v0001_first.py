"""The first schema."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("reserved", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("webhook_secret", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("accounts_pk")),
        sa.UniqueConstraint("name", name=op.f("accounts_name_once")),
    )
    op.create_table(
        "deletions",
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("requested_at", columns.Moment(), nullable=False),
        sa.Column("finished_at", columns.Moment(), nullable=True),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("deletions_pk")),
    )
    op.create_index(
        "deletions_unfinished",
        "deletions",
        ["requested_at"],
        unique=False,
        sqlite_where=sa.text("finished_at IS NULL"),
        postgresql_where=sa.text("finished_at IS NULL"),
    )
    op.create_table(
        "deliveries",
        sa.Column("position", columns.RISING, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data", columns.Document(), nullable=False),
        sa.Column("custom_metadata", columns.Document(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("next_attempt_at", columns.Moment(), nullable=True),
        sa.PrimaryKeyConstraint("position", name=op.f("deliveries_pk")),
        sa.UniqueConstraint("id", name=op.f("deliveries_id_once")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "deliveries_due",
        "deliveries",
        ["next_attempt_at"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index("deliveries_in_order", "deliveries", ["resource_id", "position"], unique=False)
    op.create_table(
        "house_secrets",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("house_secrets_pk")),
    )
    op.create_table(
        "outbox",
        sa.Column("id", columns.RISING, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("outbox_pk")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "transcripts",
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("segments", sa.Text(), nullable=False),
        sa.Column("detected_lang", sa.Text(), nullable=True),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("transcripts_pk")),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("last_used_at", columns.Moment(), nullable=True),
        sa.Column("revoked_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("api_keys_account_id_of_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("api_keys_pk")),
        sa.UniqueConstraint("digest", name=op.f("api_keys_digest_once")),
    )
    op.create_index(op.f("api_keys_by_account_id"), "api_keys", ["account_id"], unique=False)
    op.create_table(
        "bots",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("config", columns.Document(), nullable=False),
        sa.Column("zak", sa.LargeBinary(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("scheduled_for", columns.Moment(), nullable=True),
        sa.Column("finished_at", columns.Moment(), nullable=True),
        sa.Column("recording_started_at", columns.Moment(), nullable=True),
        sa.Column("recording_ended_at", columns.Moment(), nullable=True),
        sa.Column("recording_object", sa.Text(), nullable=True),
        sa.Column("recording_available_until", columns.Moment(), nullable=True),
        sa.Column("detected_lang", sa.Text(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("gaps", columns.Document(), nullable=True),
        sa.Column("capture", columns.Document(), nullable=True),
        sa.Column("evidence", columns.Document(), nullable=True),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("epoch", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("stop_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("delete_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("secret", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("media_until", columns.Moment(), nullable=True),
        sa.Column("media_removed_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("bots_account_id_of_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("bots_pk")),
    )
    op.create_index(
        "bots_due",
        "bots",
        ["scheduled_for"],
        unique=False,
        sqlite_where=sa.text("status = 'scheduled'"),
        postgresql_where=sa.text("status = 'scheduled'"),
    )
    op.create_index(
        "bots_expiring",
        "bots",
        ["media_until"],
        unique=False,
        sqlite_where=sa.text("media_removed_at IS NULL"),
        postgresql_where=sa.text("media_removed_at IS NULL"),
    )
    op.create_index("bots_newest", "bots", ["account_id", "created_at", "id"], unique=False)
    op.create_index("bots_newest_of_status", "bots", ["account_id", "status", "created_at", "id"], unique=False)
    op.create_index(
        "bots_scheduled",
        "bots",
        ["account_id", "scheduled_for"],
        unique=False,
        sqlite_where=sa.text("status = 'scheduled'"),
        postgresql_where=sa.text("status = 'scheduled'"),
    )
    op.create_table(
        "credentials",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("region", sa.Text(), nullable=True),
        sa.Column("organisation", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("credentials_account_id_of_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("credentials_pk")),
    )
    op.create_index(op.f("credentials_by_account_id"), "credentials", ["account_id"], unique=False)
    op.create_table(
        "delivery_attempts",
        sa.Column("id", columns.RISING, nullable=False),
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("at", columns.Moment(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["deliveries.id"],
            name=op.f("delivery_attempts_delivery_id_of_deliveries"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("delivery_attempts_pk")),
    )
    op.create_index(op.f("delivery_attempts_by_delivery_id"), "delivery_attempts", ["delivery_id"], unique=False)
    op.create_table(
        "meeting_accounts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("meeting_accounts_account_id_of_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("meeting_accounts_pk")),
    )
    op.create_index(op.f("meeting_accounts_by_account_id"), "meeting_accounts", ["account_id"], unique=False)
    op.create_table(
        "recordings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("config", columns.Document(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("finished_at", columns.Moment(), nullable=True),
        sa.Column("source_url", sa.Text(), nullable=True),
        sa.Column("source_bot_id", sa.Uuid(), nullable=True),
        sa.Column("recording_object", sa.Text(), nullable=True),
        sa.Column("recording_available_until", columns.Moment(), nullable=True),
        sa.Column("detected_lang", sa.Text(), nullable=True),
        sa.Column("delete_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("media_until", columns.Moment(), nullable=True),
        sa.Column("media_removed_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("recordings_account_id_of_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("recordings_pk")),
    )
    op.create_index(
        "recordings_expiring",
        "recordings",
        ["media_until"],
        unique=False,
        sqlite_where=sa.text("media_removed_at IS NULL"),
        postgresql_where=sa.text("media_removed_at IS NULL"),
    )
    op.create_index("recordings_newest", "recordings", ["account_id", "created_at", "id"], unique=False)
    op.create_table(
        "bot_events",
        sa.Column("id", columns.RISING, nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("data", columns.Document(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("bot_events_bot_id_of_bots"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("bot_events_pk")),
        sqlite_autoincrement=True,
    )
    op.create_index("bot_events_in_order", "bot_events", ["bot_id", "id"], unique=False)
    op.create_table(
        "bot_metadata",
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("bot_metadata_bot_id_of_bots"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", "bot_id", name=op.f("bot_metadata_pk")),
    )
    op.create_index(op.f("bot_metadata_by_bot_id"), "bot_metadata", ["bot_id"], unique=False)
    op.create_table(
        "participants",
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("avatar", sa.Text(), nullable=True),
        sa.Column("first_seen_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("participants_bot_id_of_bots"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bot_id", "key", name=op.f("participants_pk")),
    )
    op.create_table(
        "recording_events",
        sa.Column("id", columns.RISING, nullable=False),
        sa.Column("recording_id", sa.Uuid(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("data", columns.Document(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["recording_id"],
            ["recordings.id"],
            name=op.f("recording_events_recording_id_of_recordings"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("recording_events_pk")),
        sqlite_autoincrement=True,
    )
    op.create_index("recording_events_in_order", "recording_events", ["recording_id", "id"], unique=False)
    op.create_table(
        "sources",
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("participant", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("sources_bot_id_of_bots"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bot_id", "source", name=op.f("sources_pk")),
    )
    op.create_table(
        "speaking_events",
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("participant", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bots.id"], name=op.f("speaking_events_bot_id_of_bots"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bot_id", "participant", "at_ms", "type", name=op.f("speaking_events_pk")),
    )
    # ### end Alembic commands ###
