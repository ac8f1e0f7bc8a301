"""Pooling operators."""
