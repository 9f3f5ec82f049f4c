"""Live transcripts."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "live_segments",
        sa.Column("bot_id", sa.Uuid(), nullable=False),
        sa.Column("segment_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("start_ms", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("voice", sa.Text(), nullable=False),
        sa.Column("segment", columns.Document(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("live_segments_bot_id_of_bots"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("bot_id", "segment_id", name=op.f("live_segments_pk")),
    )
