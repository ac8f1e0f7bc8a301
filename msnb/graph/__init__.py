"""Names of MindSpore 2.10's `mindspore.graph`: compilation of functions and Cells."""

import functools

from msnb.common.missing import asked

__getattr__ = functools.partial(asked, __name__)
