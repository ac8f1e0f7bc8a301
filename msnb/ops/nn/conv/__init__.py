"""Convolutions and their lowerings."""
