"""Measurements: CPU-seconds and memory of process trees, on practice meetings, beside what others do."""
