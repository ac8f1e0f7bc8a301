"""Face: `mindspore.profiler`, what `msnb.insight.profile` measures under MindSpore's names."""

from .profiling import ProfileOption, Profiler

__all__ = ["ProfileOption", "Profiler"]
