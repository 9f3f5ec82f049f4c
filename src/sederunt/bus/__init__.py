"""The engine between processes: NATS JetStream. Durable queues, commands, feeds, and the embedded server.

What may be relied on, and where it is kept:

- A job is given to one holder at a time. The holder says "still at it" every third of the ack wait; when it falls
  silent, the job goes to another one (`consume`).
- The server may go away for longer than the ack wait: its own clock stands still meanwhile, holders go on and
  extend their jobs the moment it is back, before anything else is sent. A job that is delivered once more to the
  process that still works on it is not started again: the new delivery replaces the old handle.
- A message is stored at most once per message id within the duplicate window (`streams`), so whoever publishes
  may repeat until the server has confirmed it.
- Commands find nobody at once or are answered; they are never kept (`connection`).
- What a bot's listeners hear is kept for some hours and can be read again from any sequence number (`feeds`).
"""
