"""HTTP below the handlers: connections, one middleware, bodies, uploads, files with ranges, entity tags."""
