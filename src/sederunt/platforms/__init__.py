"""The meeting sites: how to reach, read and leave each. Differences between sites are data as far as possible."""
