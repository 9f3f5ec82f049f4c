"""Recordings that transcribe another recording's sound anew."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("recordings", sa.Column("source_recording_id", sa.Uuid(), nullable=True))
