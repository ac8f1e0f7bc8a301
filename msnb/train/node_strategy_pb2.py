"""Placeholders for the protobuf classes of strategy files, at MindSpore's path. The names can be imported, and raise an
error on use."""

import functools

from msnb.common.missing import asked

__getattr__ = functools.partial(asked, __name__)
