"""How a bot gets in: as whom it enters, how its page is opened, and the way through the door."""
