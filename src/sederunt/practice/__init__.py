"""Practice meetings: one small media server, sites shaped like the real ones, and scripts of who says what when."""
