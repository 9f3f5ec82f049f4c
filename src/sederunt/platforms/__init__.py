"""The meeting sites: how to reach, read and leave each. What differs between sites is data wherever it can be."""
