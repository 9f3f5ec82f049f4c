"""A bot in a meeting: joining, the scene it sees, when it leaves, what it records."""
