"""How often a job was begun: what the queue counts holds the times it only waited, too."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
keeps_older = True


def upgrade() -> None:
    op.create_table(
        "job_beginnings",
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("resource_id", "kind", name=op.f("job_beginnings_pk")),
    )
