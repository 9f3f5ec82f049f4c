"""What machines ask: probes, and metrics of this process and of the installation."""
