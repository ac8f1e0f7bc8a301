"""The gradients of a training: recorded, summarised, and judged in words. Nothing here draws."""

from .findings import Finding, find
from .monitor import GradientMonitor
from .recording import STATISTICS, NonFinite, Recording

__all__ = ["STATISTICS", "Finding", "GradientMonitor", "NonFinite", "Recording", "find"]
