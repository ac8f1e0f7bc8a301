"""Re-export module: `mindspore.profiler`, the measurements of `msnb.insight.profile` under MindSpore's names."""

from typing import Any

from msnb.common.missing import asked

from .constants import AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel
from .experimental_config import _ExperimentalConfig as _ExperimentalConfig
from .profiling import ProfileOption, Profiler
from .schedule import schedule
from .scheduled import mstx, profile, tensorboard_trace_handler

__all__ = [
    "ProfileOption",
    "Profiler",
    "profile",
    "schedule",
    "tensorboard_trace_handler",
    "mstx",
    "ProfilerLevel",
    "ProfilerActivity",
    "AicoreMetrics",
    "ExportType",
    "HostSystem",
]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
