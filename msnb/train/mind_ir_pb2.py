"""Protobuf's classes of a MINDIR file by MindSpore's path: the names import, and say on use what to do instead."""

import functools

from msnb.common.missing import asked

__getattr__ = functools.partial(asked, __name__)
