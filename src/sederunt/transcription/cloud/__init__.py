"""What all cloud vendors share: HTTP, sockets, and the interface that a vendor's folder implements.

`docs/providers.md` tells how a vendor is added. Light to import: HTTP and socket clients come in when they are used.
"""
