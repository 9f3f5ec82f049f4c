"""Speech to text: the table of models, the providers behind it, Whisper in the box, and who said what."""
