"""Calendar feeds, and the meetings in them that have bots."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "calendar_feeds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "host", "rule", "keyword", "attendee")),
        sa.Column("address", sa.LargeBinary(), nullable=False),
        sa.Column("bot", columns.Document(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("next_check_at", columns.Moment(), nullable=False),
        sa.Column("checked_at", columns.Moment()),
        *(sa.Column(name, sa.Text()) for name in ("etag", "modified", "fault")),
        _of_accounts("calendar_feeds"),
        sa.PrimaryKeyConstraint("id", name=op.f("calendar_feeds_pk")),
    )
    for column in ("account_id", "next_check_at"):
        op.create_index(op.f(f"calendar_feeds_by_{column}"), "calendar_feeds", [column])
    op.create_table(
        "calendar_meetings",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("feed_id", sa.Uuid(), nullable=False),
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("made", sa.Boolean(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("starts_at", columns.Moment(), nullable=False),
        sa.Column("meeting_url", sa.Text(), nullable=False),
        _of_accounts("calendar_meetings"),
        sa.ForeignKeyConstraint(
            ["feed_id"],
            ["calendar_feeds.id"],
            name=op.f("calendar_meetings_feed_id_of_calendar_feeds"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("calendar_meetings_pk")),
    )
    op.create_index(op.f("calendar_meetings_by_feed_id"), "calendar_meetings", ["feed_id"])


def _of_accounts(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"{table}_account_id_of_accounts")
    return sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=name, ondelete="CASCADE")
