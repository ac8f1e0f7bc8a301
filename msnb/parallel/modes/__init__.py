"""Parallel modes: how a Program runs on several devices or processes in each mode of `set_auto_parallel_context`."""
