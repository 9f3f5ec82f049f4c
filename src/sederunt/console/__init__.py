"""The console: pages for people on top of the API's functions. It stores nothing of its own."""
