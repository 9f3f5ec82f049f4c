"""The rows of the service: tables, migrations, and one store per resource. Only this package contains SQL.

The same code serves a SQLite file in the data directory and PostgreSQL. The differences live in `engine` alone.

- A write is one transaction: `async with database.begin() as connection`. On SQLite it takes the write lock at once
  (BEGIN IMMEDIATE), so that two processes queue up instead of failing when one of them upgrades its read.
- A read is a prepared `Query`, compiled once from a SQLAlchemy statement and handed to the bare driver: inline on
  SQLite (a point read costs some 10 µs, less than the hop into a thread), over a small asyncpg pool on PostgreSQL.
- Messages for other processes are written to `outbox` in the same transaction and passed to `Database.on_outbox` after
  the commit. A sweeper publishes what a crash left behind.
"""
