"""Zoom's web client."""
