"""What listeners hear while the meeting goes on: mixed sound, lines of transcript, messages."""
