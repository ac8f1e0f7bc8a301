"""Shared modules of the data engine: settings, argument checks, random streams, data types."""
