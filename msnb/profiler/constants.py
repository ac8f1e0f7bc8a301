"""Enumerations for options of MindSpore's profiler. They have no effect here: everything is measured."""

from enum import Enum

__all__ = ["AicoreMetrics", "ExportType", "HostSystem", "ProfilerActivity", "ProfilerLevel"]


def _make_enum(name, doc, **members):
    enum = Enum(name, members, module=__name__)
    enum.__doc__ = doc
    return enum


ProfilerLevel = _make_enum(
    "ProfilerLevel", "How much is measured.", **{level: level for level in ("LevelNone", "Level0", "Level1", "Level2")}
)
ProfilerActivity = _make_enum("ProfilerActivity", "Where is measured.", NPU="NPU", GPU="GPU", CPU="CPU")
ExportType = _make_enum("ExportType", "What is written.", Db="db", Text="text")
HostSystem = _make_enum(
    "HostSystem", "What of the host is measured.", CPU="cpu", MEM="mem", DISK="disk", NETWORK="network", OSRT="osrt"
)
AicoreMetrics = _make_enum(
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
