"""How what is heard and seen becomes pieces that are durable."""
