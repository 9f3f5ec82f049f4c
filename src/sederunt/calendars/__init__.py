"""Calendar feeds: meetings in somebody's calendar become scheduled bots, which follow its changes."""
