"""Values inside a run: replay of a step at every node, and timelines of the steps of a training."""

from .replay import Replay as Replay
from .selection import select_nodes as select_nodes
from .timeline import Timeline as Timeline
