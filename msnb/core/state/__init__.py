"""Per-thread and per-process state: traces in progress, events for tools, random streams, deferred errors.

Other packages import the modules `trace_state`, `events`, `random_stream` and `deferred_errors`. This package exports
no names: variables of the modules are assigned, and an exported name would keep the old value.
"""
