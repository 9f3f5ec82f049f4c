"""How a bot joins: the identity it uses, how its page is opened, and how it gets in."""
