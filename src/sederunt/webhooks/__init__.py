"""Webhooks: the message, its signature, delivery attempts, and when the next attempt is due."""
