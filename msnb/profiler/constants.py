"""What MindSpore's profiler can be told on other devices; here it measures everything there is."""

from enum import Enum

__all__ = ["AicoreMetrics", "ExportType", "HostSystem", "ProfilerActivity", "ProfilerLevel"]


def _named(name, doc, **members):
    made = Enum(name, members, module=__name__)
    made.__doc__ = doc
    return made


ProfilerLevel = _named(
    "ProfilerLevel", "How much is measured.", **{level: level for level in ("LevelNone", "Level0", "Level1", "Level2")}
)
ProfilerActivity = _named("ProfilerActivity", "Where is measured.", NPU="NPU", GPU="GPU", CPU="CPU")
ExportType = _named("ExportType", "What is written.", Db="db", Text="text")
HostSystem = _named(
    "HostSystem", "What of the host is measured.", CPU="cpu", MEM="mem", DISK="disk", NETWORK="network", OSRT="osrt"
)
AicoreMetrics = _named(
    "AicoreMetrics",
    "What an Ascend chip counts.",
    **{
        name: name
        for name in (
            *("PipeUtilization", "ArithmeticUtilization", "ResourceConflictRatio"),
            *("Memory", "MemoryL0", "MemoryUB", "L2Cache", "MemoryAccess"),
        )
    },
    AiCoreNone="None",
)
