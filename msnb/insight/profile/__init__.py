"""Profile a network: time of each kernel that ran, by operator, Cell and line.

`profile` runs a network and measures it. A `Recorder` records the code between its start and stop, and a `Profile`
analyses the recording.
"""

from .api import profile
from .finding import Finding
from .machine import Machine, machine
from .record import Recorder, Recording
from .replay import Replay
from .result import Profile
from .rows import Cell, Row

__all__ = ["Cell", "Finding", "Machine", "Profile", "Recorder", "Recording", "Replay", "Row", "machine", "profile"]
