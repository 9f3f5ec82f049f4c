"""The warnings of a calendar feed's last check, the events it left out, and the zone of times without one."""

import sqlalchemy as sa
from alembic import op

from sederunt.database.columns import Document

revision = "v0004"
down_revision = "v0003"
keeps_older = True


def upgrade() -> None:
    op.add_column("calendar_feeds", sa.Column("time_zone", sa.Text))
    op.add_column("calendar_feeds", sa.Column("warnings", Document))
    op.add_column("calendar_feeds", sa.Column("left_out", Document))
