"""Re-export module of the options of a profile, at MindSpore's path `mindspore.profiler.common.constant`."""

from msnb.profiler.constants import AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel

__all__ = ["AicoreMetrics", "ExportType", "HostSystem", "ProfilerActivity", "ProfilerLevel"]
