"""Indexes for reads that took longer the more was stored."""

from alembic import op

revision = "v0003"
down_revision = "v0002"
keeps_older = True


def upgrade() -> None:
    op.create_index("deliveries_newest_of_state", "deliveries", ["account_id", "state", "position"])
    op.create_index("bots_in_status", "bots", ["status", "created_at"])
    op.create_index("recordings_in_status", "recordings", ["status", "created_at"])
