"""Where the time of a network goes: measured on the kernels that ran, told by operator, Cell and line.

`profile` runs a network and measures it; a `Recorder` listens to whatever runs between its start and stop, and
`Profile` says what it heard.
"""

from .advice import Finding
from .api import profile
from .machine import Machine, machine
from .record import Recorder, Recording
from .replay import Replay
from .result import Cell, Profile, Row

__all__ = ["Cell", "Finding", "Machine", "Profile", "Recorder", "Recording", "Replay", "Row", "machine", "profile"]
