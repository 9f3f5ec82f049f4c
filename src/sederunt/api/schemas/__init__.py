"""What callers may send and what they are answered: types of requests, faults by field, shapes of answers."""
