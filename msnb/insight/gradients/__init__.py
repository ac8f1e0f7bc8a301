"""Record, summarise and diagnose the gradients of a training. The views are in `msnb.notebook`."""

from .findings import Finding, find
from .monitor import GradientMonitor
from .recording import STATISTICS, NonFinite, Recording

__all__ = ["STATISTICS", "Finding", "GradientMonitor", "NonFinite", "Recording", "find"]
