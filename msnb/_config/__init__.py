"""Tables of the settings of `set_context` and `set_auto_parallel_context`."""
