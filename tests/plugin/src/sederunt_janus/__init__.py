"""Janus' own pages as a meeting site: a video room with a track per person, and an audio room that is mixed."""
