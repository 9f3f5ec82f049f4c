"""Indexes for reads that took longer the more was stored."""

from alembic import op

revision = "v0003"
down_revision = "v0002"
keeps_older = True


def upgrade() -> None:
    op.create_index("deliveries_newest_of_state", "deliveries", ["account_id", "state", "position"])
