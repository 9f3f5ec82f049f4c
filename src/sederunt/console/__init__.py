"""The console: pages for people over the functions that the API has. It stores nothing of its own."""
