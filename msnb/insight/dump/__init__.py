"""Dumps: the inputs and outputs of operators as files, as MindSpore writes them in GRAPH mode.

`config` reads the file that ``MINDSPORE_DUMP_CONFIG`` names, `file_names` has MindSpore's folders and file names, and
`recorder` writes the steps of a training.
"""

from .config import DumpConfig as DumpConfig
from .config import read_config as read_config
from .recorder import Recorder as Recorder
from .recorder import follow_context as follow_context
