"""The acts of callers, a module for each thing they have: bots, recordings, transcripts, keys, webhooks, …"""
