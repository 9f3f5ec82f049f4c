"""The meeting sites: how to reach, read and leave each of them. What differs between sites is data wherever it can be."""
