"""The practice site shaped like Microsoft Teams."""
