"""Read recorded trainings: the data of the dashboard and of the table of runs."""

from .collection import Runs
from .difference import Difference
from .graphs import dataset_graph, network_graph
from .run import Run, is_run
from .table import Column, Table
from .values import Histogram, Image, Series, TensorValue

__all__ = [
    "Column",
    "Difference",
    "Histogram",
    "Image",
    "Run",
    "Runs",
    "Series",
    "Table",
    "TensorValue",
    "dataset_graph",
    "is_run",
    "network_graph",
]
