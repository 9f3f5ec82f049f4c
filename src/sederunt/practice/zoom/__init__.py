"""The practice site shaped like Zoom's web client."""
