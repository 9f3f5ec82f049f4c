"""From stored audio to a transcript: which tracks, which provider, which names."""
