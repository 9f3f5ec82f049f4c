"""Turns captured sound and pictures into durable pieces."""
