"""Google Meet."""
