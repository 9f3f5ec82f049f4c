"""The schemas of requests and answers: types of request fields, faults by field, shapes of answers."""
