"""The handlers of requests, one module per resource: bots, recordings, transcripts, keys, webhooks, …"""
