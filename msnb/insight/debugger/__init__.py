"""Compute values inside a run: `Replay` the nodes of one step, record the steps of a training in a `Timeline`, move a
`Cursor` over a step, and pause a training with `debugger`.
"""

from .cursor import Cursor as Cursor
from .pause import debugger as debugger
from .replay import Replay as Replay
from .replay import program_inputs as program_inputs
from .selection import select_nodes as select_nodes
from .timeline import Timeline as Timeline
