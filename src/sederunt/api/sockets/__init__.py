"""The WebSockets of a bot, what their clients may ask, and the same events by plain requests."""
