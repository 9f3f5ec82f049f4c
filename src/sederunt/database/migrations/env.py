"""Alembic's entry: migrations run on the connection, and in the transaction, that `migrate` hands over."""

from alembic import context

from sederunt.database.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transaction_per_migration=False
)
context.run_migrations()
