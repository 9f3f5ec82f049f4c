"""Which programs work with a schema that is newer than theirs."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
keeps_older = True


def upgrade() -> None:
    op.create_table(
        "oldest_program",
        sa.Column("revision", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("oldest_program_pk")),
    )
