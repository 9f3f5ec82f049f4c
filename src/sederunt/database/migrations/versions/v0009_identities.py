"""Who people are at an OpenID provider."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "identities",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Uuid(), nullable=False),
        sa.Column("made", sa.Boolean(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("identities_person_id_of_people"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("identities_pk")),
    )
    op.create_index(op.f("identities_by_person_id"), "identities", ["person_id"])
