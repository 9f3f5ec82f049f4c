"""Calendar feeds: meetings that stand in somebody's calendar become scheduled bots, and follow its changes."""
