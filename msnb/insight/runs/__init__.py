"""Recorded trainings, read back: what the dashboard draws and the table of runs compares."""

from .graphs import dataset_graph, network_graph
from .run import Run
from .values import Histogram, Image, Series, TensorValue

__all__ = ["Histogram", "Image", "Run", "Series", "TensorValue", "dataset_graph", "network_graph"]
