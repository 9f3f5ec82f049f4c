"""Indexes for lists that come in pages: the rows of an account in the order of their creation. Without them a page
reads all of an account's rows, and of meeting accounts the sealed state that stands before the times in each."""

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"
keeps_older = True

_WORKS = sa.text("revoked_at IS NULL")


def upgrade() -> None:
    listed: dict[str, list[str]] = {
        "api_keys": [],
        "credentials": [],
        "meeting_accounts": ["service", "email", "updated_at"],
    }
    for table, shown in listed.items():
        op.create_index(f"{table}_in_order", table, ["account_id", "created_at", "id", *shown])
    op.create_index("api_keys_unrevoked", "api_keys", ["account_id"], sqlite_where=_WORKS, postgresql_where=_WORKS)
