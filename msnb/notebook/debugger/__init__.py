"""Pause the training of a cell, and step through the graph of a step."""
