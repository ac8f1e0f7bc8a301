"""Helpers without Tensors: type promotion, interrupts, weak references by identity, an LRU cache."""
