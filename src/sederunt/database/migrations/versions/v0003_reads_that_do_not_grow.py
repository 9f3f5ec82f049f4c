"""Indexes for reads that took longer the more was stored."""

import sqlalchemy as sa
from alembic import op

revision = "v0003"
down_revision = "v0002"
keeps_older = True

_GOING = sa.text("delete_requested")


def upgrade() -> None:
    op.create_index("deliveries_newest_of_state", "deliveries", ["account_id", "state", "position"])
    op.create_index("bots_in_status", "bots", ["status", "created_at"])
    op.create_index("recordings_in_status", "recordings", ["status", "created_at"])
    for table in ("bots", "recordings"):
        op.create_index(f"{table}_going", table, ["id"], sqlite_where=_GOING, postgresql_where=_GOING)
