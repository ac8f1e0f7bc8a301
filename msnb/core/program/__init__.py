"""GRAPH mode: tracing a function into a Program, the in-memory and on-disk caches, and the XLA call."""
