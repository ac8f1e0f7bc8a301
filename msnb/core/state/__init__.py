"""Per-thread and per-process state: traces in progress, events for tools, random streams, deferred errors.

Other packages use the modules `trace_state`, `events`, `random_stream` and `deferred_errors`: their names are short and
their variables change, so nothing is exported here.
"""
