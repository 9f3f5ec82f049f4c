"""The vocabulary of the service: frozen records, tables and pure functions. Standard library only, no I/O."""
