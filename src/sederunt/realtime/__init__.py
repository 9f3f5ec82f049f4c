"""Following a meeting live: sockets, their addresses, their messages."""
