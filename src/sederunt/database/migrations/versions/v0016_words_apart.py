"""Whether the words of a line stand in the index of search as its account's own. Those that are there do not yet: that
takes minutes for a large installation, so workers see to it afterwards, while everybody writes."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
keeps_older = True

_PLAIN = sa.text("NOT is_apart")


def upgrade() -> None:
    op.add_column(
        "transcript_lines", sa.Column("is_apart", sa.Boolean(), nullable=False, server_default=sa.text("false"))
    )
    op.create_index(
        "transcript_lines_plain", "transcript_lines", ["account_id"], sqlite_where=_PLAIN, postgresql_where=_PLAIN
    )
