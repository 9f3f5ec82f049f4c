"""Which request made a bot or recording: its id in all logs, and its trace."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    for table in ("bots", "recordings"):
        op.add_column(table, sa.Column("origin", columns.Document()))
