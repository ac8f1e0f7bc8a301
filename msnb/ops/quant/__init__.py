"""Operators of quantisation: what integers of a few bits will do to a network, simulated in floating point."""
