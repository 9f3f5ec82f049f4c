"""Where recordings lie: one interface over a folder or a bucket, and signed addresses to what lies there."""
