"""The practice site shaped like Google Meet."""
