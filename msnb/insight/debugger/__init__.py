"""Compute values inside a run: `Replay` the nodes of one step, record the steps of a training in a `Timeline`."""

from .replay import Replay as Replay
from .selection import select_nodes as select_nodes
from .timeline import Timeline as Timeline
