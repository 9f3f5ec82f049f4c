"""Standalone recordings: how their sound comes to us."""
