"""The REST interface: what callers may send, what they are answered, and the files they may fetch."""
