"""Re-export module: the metrics, at MindSpore 2's path."""

from msnb.nn.metrics import *  # noqa: F403
from msnb.nn.metrics import __all__ as __all__
