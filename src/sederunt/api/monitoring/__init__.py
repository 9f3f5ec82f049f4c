"""Probes, and metrics of this process and of the installation."""
