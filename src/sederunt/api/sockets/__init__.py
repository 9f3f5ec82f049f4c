"""The WebSockets of a bot, the actions of their clients, and the same events by plain requests."""
