"""What all cloud vendors share: HTTP and socket manners, and the contract that a vendor's folder fulfils.

`docs/providers.md` tells how a vendor is added. Light to import: HTTP and socket clients come in when they are used.
"""
