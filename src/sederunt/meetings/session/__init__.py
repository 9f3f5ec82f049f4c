"""What a bot does on one page: it waits, looks, obeys commands, and keeps the roster."""
