"""First answers to requests with an Idempotency-Key."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "first_answers",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("resource_id", sa.Uuid(), nullable=False),
        sa.Column("body", sa.Text()),
        sa.Column("expires_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("first_answers_account_id_of_accounts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("first_answers_pk")),
    )
    op.create_index(op.f("first_answers_by_resource_id"), "first_answers", ["resource_id"])
    op.create_index(op.f("first_answers_by_expires_at"), "first_answers", ["expires_at"])
