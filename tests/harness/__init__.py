"""What the tests of several tiers need: a service as subprocess, a receiver of webhooks."""
