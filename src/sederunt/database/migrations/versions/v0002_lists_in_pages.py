"""Indexes for paged lists: the rows of an account in order of creation.

Without them a page reads all of an account's rows, and for meeting accounts also the sealed state that precedes the
times in each row.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"
keeps_older = True

_WORKS = sa.text("revoked_at IS NULL")


def upgrade() -> None:
    tables: dict[str, list[str]] = {
        "api_keys": [],
        "credentials": [],
        "meeting_accounts": ["service", "email", "updated_at"],
    }
    for table, columns in tables.items():
        op.create_index(f"{table}_in_order", table, ["account_id", "created_at", "id", *columns])
    op.create_index("api_keys_unrevoked", "api_keys", ["account_id"], sqlite_where=_WORKS, postgresql_where=_WORKS)
