"""Sederunt: self-hosted meeting bots that record and transcribe."""

__version__ = "0.1.0"
