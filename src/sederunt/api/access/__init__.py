"""Who a caller is, what it may do, and how soon a refused caller may try again."""
