"""Operators: declarations, the classes generated from them, their calls, and tables keyed by operators."""
