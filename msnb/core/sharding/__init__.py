"""The interface between tracing and `msnb.parallel`: partitioners, device groups, sharding constraints."""
