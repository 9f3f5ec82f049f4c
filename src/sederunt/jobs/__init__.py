"""What each queue does: one module per kind of job, the tables that tie them together, housekeeping, the roles.

Jobs are idempotent: one may run twice, or after its work is done, and therefore reads the row first.
"""
