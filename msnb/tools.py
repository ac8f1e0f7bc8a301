"""Re-export module of MindSpore 2.7's `mindspore.tools`: `set_dump`."""

from msnb.insight.dump.targets import set_dump

__all__ = ["set_dump"]
