"""Re-export module of operators at MindSpore's path `mindspore.ops.operations.comm_ops`."""

from msnb.ops.comm import _VirtualDataset as _VirtualDataset
from msnb.ops.comm import virtual_dataset as virtual_dataset
from msnb.ops.operations import *  # noqa: F403
from msnb.ops.operations import __getattr__ as __getattr__
from msnb.ops.rooted_collectives import AlltoAll as _AlltoAll  # noqa: F401 - r1.1's name of it
