"""Operators of quantisation. They simulate in floating point how a network computes with integers of few bits."""
