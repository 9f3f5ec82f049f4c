"""The service as tools for language models, by the Model Context Protocol: over `/mcp`, or as `sederunt mcp`."""
