"""Re-export module of operators at MindSpore's path `mindspore.ops.operations.spectral_ops`."""

from msnb.ops.operations import *  # noqa: F403
from msnb.ops.operations import __getattr__ as __getattr__
