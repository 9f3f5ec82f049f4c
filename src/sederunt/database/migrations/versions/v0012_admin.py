"""Keys that could do everything manage keys and accounts by a scope of its own now."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    keys = sa.table("api_keys", sa.column("scopes", sa.Text()))
    everything = "read write live"
    op.execute(keys.update().where(keys.c.scopes == everything).values(scopes=f"{everything} admin"))
