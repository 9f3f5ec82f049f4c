"""Scopes of keys, two webhook secrets at a time, search, corrections, usage."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0003"
down_revision = "0002"

# Marks belong to words: `model.search_terms` has judged that already.
_INDEX = {
    "sqlite": (
        "CREATE VIRTUAL TABLE transcript_words USING fts5"
        "(words, tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* Co M*'\")",
    ),
    "postgresql": (
        "CREATE TABLE transcript_words (rowid bigint PRIMARY KEY, words tsvector NOT NULL)",
        "CREATE INDEX transcript_words_index ON transcript_words USING gin (words)",
    ),
}


def upgrade() -> None:
    _add_columns()
    _create_lines()
    _create_corrections()
    _create_usage()
    op.create_index("deliveries_newest", "deliveries", ["account_id", "position"])


def _add_columns() -> None:
    op.add_column("accounts", sa.Column("webhook_secret_before", sa.LargeBinary()))
    op.add_column("accounts", sa.Column("webhook_secret_before_until", columns.Moment()))
    op.add_column(
        "api_keys", sa.Column("scopes", sa.Text(), nullable=False, server_default=sa.text("'read write live'"))
    )
    op.add_column("api_keys", sa.Column("expires_at", columns.Moment()))
    op.add_column("bots", sa.Column("key_id", sa.Uuid()))
    op.add_column("recordings", sa.Column("key_id", sa.Uuid()))


def _create_lines() -> None:
    op.create_table(
        "transcript_lines",
        sa.Column("id", columns.RISING, nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("start_ms", sa.BigInteger(), nullable=False),
        sa.Column("end_ms", sa.BigInteger(), nullable=False),
        sa.Column("speaker", sa.Text()),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("transcript_lines_pk")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("transcript_lines_by_resource_id"), "transcript_lines", ["resource_id"])
    for statement in _INDEX[op.get_bind().dialect.name]:
        op.execute(statement)


def _create_corrections() -> None:
    op.create_table(
        "corrections",
        sa.Column("position", columns.RISING, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("segment", sa.Integer()),
        sa.Column("word", sa.Integer()),
        sa.Column("before", sa.Text()),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("position", name=op.f("corrections_pk")),
        sa.UniqueConstraint("id", name=op.f("corrections_id_once")),
    )
    op.create_index(op.f("corrections_by_resource_id"), "corrections", ["resource_id"])


def _create_usage() -> None:
    op.create_table(
        "usage",
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Uuid()),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("own_key", sa.Boolean(), nullable=False),
        sa.Column("video", sa.Boolean(), nullable=False),
        sa.Column("realtime_audio", sa.Boolean(), nullable=False),
        sa.Column("for_1_year", sa.Boolean(), nullable=False),
        sa.Column("ended_at", columns.Moment(), nullable=False),
        sa.Column("minutes", sa.Integer(), nullable=False),
        sa.Column("waiting_minutes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("usage_pk")),
    )
    op.create_index("usage_of_account", "usage", ["account_id", "ended_at"])
