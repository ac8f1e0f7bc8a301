"""`mindspore.device_context` of MindSpore 2: settings of one kind of device. They are those of `set_context`."""

from msnb.device_context import ascend, cpu, gpu

__all__ = ["ascend", "cpu", "gpu"]
