"""A face: the metrics, where MindSpore 2 has them."""

from msnb.nn.metrics import *  # noqa: F403
from msnb.nn.metrics import __all__ as __all__
