"""Dumps: the inputs and outputs of operators as files, as MindSpore writes them in GRAPH mode.

`config` reads the file that ``MINDSPORE_DUMP_CONFIG`` names, `file_names` has MindSpore's folders and file names, and
`recorder` writes the steps of a training: `tensors` lists the tensors of a program, `step_values` and `statistics`
compute them, and `targets` has the operators that `set_dump` selects. `analyzer` reads dumps and timelines, through
`sources`.
"""

from .analyzer import DebuggerTensor as DebuggerTensor
from .analyzer import DumpAnalyzer as DumpAnalyzer
from .analyzer import Node as Node
from .analyzer import OperatorOverflowCondition as OperatorOverflowCondition
from .analyzer import TensorAllZeroCondition as TensorAllZeroCondition
from .analyzer import TensorChangeAboveThresholdCondition as TensorChangeAboveThresholdCondition
from .analyzer import TensorChangeBelowThresholdCondition as TensorChangeBelowThresholdCondition
from .analyzer import TensorOverflowCondition as TensorOverflowCondition
from .analyzer import TensorRangeCondition as TensorRangeCondition
from .analyzer import TensorTooLargeCondition as TensorTooLargeCondition
from .analyzer import TensorTooSmallCondition as TensorTooSmallCondition
from .analyzer import TensorUnchangedCondition as TensorUnchangedCondition
from .analyzer import Watchpoint as Watchpoint
from .analyzer import WatchpointHit as WatchpointHit
from .config import DumpConfig as DumpConfig
from .config import read_config as read_config
from .recorder import Recorder as Recorder
from .recorder import follow_context as follow_context
from .targets import set_dump as set_dump
