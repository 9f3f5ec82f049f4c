"""Who a caller is, what it may do, and how fast whoever is refused may ask again."""
