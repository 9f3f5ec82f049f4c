"""What each resource has in storage, counted by account."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_TRANSCRIBING = sa.text("status = 'transcribing'")


def upgrade() -> None:
    op.create_table(
        "holdings",
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("stored_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sound_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("resource_id", name=op.f("holdings_pk")),
    )
    op.create_index(op.f("holdings_of_account"), "holdings", ["account_id", "stored_bytes"])
    op.create_index(
        op.f("recordings_in_flight"),
        "recordings",
        ["account_id"],
        sqlite_where=_TRANSCRIBING,
        postgresql_where=_TRANSCRIBING,
    )
