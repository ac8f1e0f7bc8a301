"""Errors and constants of MindRecord."""
