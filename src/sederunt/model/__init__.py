"""The words of the house: frozen records, tables and pure functions. Standard library only, no I/O."""
