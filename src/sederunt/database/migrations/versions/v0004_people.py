"""People of the console: who they are, where they are signed in, what was done."""

import sqlalchemy as sa
from alembic import op

from sederunt.database import columns

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text()),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text()),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("people_pk")),
        sa.UniqueConstraint("email", name=op.f("people_email_once")),
    )
    op.create_table(
        "members",
        _reference("person_id", nullable=False),
        _reference("account_id", nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        _of_people("members"),
        _of_accounts("members"),
        sa.PrimaryKeyConstraint("person_id", "account_id", name=op.f("members_pk")),
    )
    op.create_index(op.f("members_by_account_id"), "members", ["account_id"])
    op.create_table(
        "sessions",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        _reference("person_id", nullable=False),
        _reference("account_id", nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("expires_at", columns.Moment(), nullable=False),
        _of_people("sessions"),
        _of_accounts("sessions"),
        sa.PrimaryKeyConstraint("digest", name=op.f("sessions_pk")),
    )
    op.create_index(op.f("sessions_by_person_id"), "sessions", ["person_id"])
    op.create_table(
        "sign_in_links",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        _reference("account_id", nullable=False),
        _reference("person_id", nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("expires_at", columns.Moment(), nullable=False),
        _of_people("sign_in_links"),
        _of_accounts("sign_in_links"),
        sa.PrimaryKeyConstraint("digest", name=op.f("sign_in_links_pk")),
    )
    _create_audit()


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", columns.RISING, nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("at", columns.Moment(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("by_person", sa.Boolean(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("audit_pk")),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_of_account", "audit", ["account_id", "id"])


def _reference(name: str, *, nullable: bool) -> sa.Column[object]:
    return sa.Column(name, sa.Uuid(), nullable=nullable)


def _of_people(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["person_id"], ["people.id"], name=op.f(f"{table}_person_id_of_people"), ondelete="CASCADE"
    )


def _of_accounts(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["account_id"], ["accounts.id"], name=op.f(f"{table}_account_id_of_accounts"), ondelete="CASCADE"
    )
