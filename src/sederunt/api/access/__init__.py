"""Who a caller is, what it may do, and how fast a refused caller may try again."""
