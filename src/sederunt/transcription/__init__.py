"""Speech to text: the table of models, their providers, built-in Whisper, and diarization."""
