"""The work of each queue: one module per kind of job, the tables that connect them, housekeeping, the roles.

Jobs are idempotent: a job may run twice, or after its work is done, and therefore reads the row first.
"""
