"""A browser that sits in meetings: how it is launched and shared, what one page can do, what leaves it."""
