"""What listens to a meeting while it goes on: sockets, their addresses, their messages."""
