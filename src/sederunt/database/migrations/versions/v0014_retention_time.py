"""By which time media was last judged, so that a clock that was set forward while nobody looked deletes nothing."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0014"
down_revision = "0013"
keeps_older = True


def upgrade() -> None:
    op.create_table(
        "retention_times",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("believed", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("retention_times_pk")),
    )
