"""Operators on images: resizing, sampling, colour, regions."""
