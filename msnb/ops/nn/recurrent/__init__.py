"""Recurrent operators."""
