"""Messages between processes by NATS JetStream: durable queues, commands, feeds, and the embedded server.

Guarantees, and the modules that keep them:

- A job has one holder at a time. The holder says "still at it" every third of the ack wait; when it falls silent, the
  job goes to another holder (`consume`).
- The server may be away for longer than the ack wait: its clock stands still meanwhile. Holders go on and extend their
  jobs the moment it is back, before anything else is sent. A job that is delivered again to the process that still
  works on it is not started again: the new delivery replaces the old handle.
- A message is stored at most once per message id within the duplicate window (`streams`), so a publisher may repeat it
  until the server has confirmed it.
- A command is answered, or fails at once if nobody serves it; commands are never stored (`connection`).
- A bot's events are kept for some hours and can be read again from any sequence number (`feeds`).
"""
