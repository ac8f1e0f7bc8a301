"""Recorded trainings, read back: what the dashboard draws and the table of runs compares."""

from .graphs import dataset_graph, network_graph
from .run import Run, is_run
from .values import Histogram, Image, Series, TensorValue

__all__ = ["Histogram", "Image", "Run", "Series", "TensorValue", "dataset_graph", "is_run", "network_graph"]
