"""A face: `mindspore.profiler.profiling`."""
from msnb.profiler import ProfileOption, Profiler

INIT_OP_NAME = "Default/InitDataSetQueue"

__all__ = ["INIT_OP_NAME", "ProfileOption", "Profiler"]
