"""An index of the bots at work: the line for seats is looked at every second."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_AT_WORK = sa.text("status IN ('booting', 'joining', 'leaving', 'recording')")


def upgrade() -> None:
    op.create_index(op.f("bots_at_work"), "bots", ["account_id"], sqlite_where=_AT_WORK, postgresql_where=_AT_WORK)
