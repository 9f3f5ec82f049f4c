"""The REST interface: requests, answers, and files to download."""
