"""Telling callers what happened: the message, its signature, an attempt at a receiver, and when the next is due."""
