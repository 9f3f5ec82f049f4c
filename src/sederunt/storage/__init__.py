"""Storage of recordings: one interface over a folder or a bucket, and signed addresses of its objects."""
