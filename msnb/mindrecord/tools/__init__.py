"""Converters from other formats to MindRecord."""
