"""${message}."""

import sqlalchemy as sa
from alembic import op

${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
# Whether programs of the schema before go on working with this one: nothing is taken away or renamed, and whatever is
# new may be left out by who writes a row.
keeps_older = False


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
