"""Per-thread and per-process state: traces in progress, events for tools, random streams, deferred errors."""
