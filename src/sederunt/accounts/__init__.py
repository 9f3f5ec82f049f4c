"""Permissions, and the secrets that callers entrust to us: API keys, vendors' credentials, meeting accounts.

Every secret is sealed to its place before it reaches a row (`sealing`), and opened only where it is used.
"""
