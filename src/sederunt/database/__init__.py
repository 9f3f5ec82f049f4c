"""The rows of the service: tables, migrations, and one store per resource. The only place with SQL.

Two engines, one code: a SQLite file in the data directory, or PostgreSQL. The differences live in `engine` alone.

- A write is one transaction: `async with database.begin() as connection`. On SQLite it takes the write lock at once
  (BEGIN IMMEDIATE), so that two processes queue up instead of failing when one of them upgrades its read.
- A read is a prepared `Query`, compiled once from a SQLAlchemy statement and handed to the bare driver: inline on
  SQLite (a point read costs some 10 µs, less than the hop into a thread), over a small asyncpg pool on PostgreSQL.
- Whatever other processes must hear of is written to `outbox` inside the same transaction, and told to
  `Database.on_outbox` after the commit; a sweeper publishes what a crash left behind.
"""
