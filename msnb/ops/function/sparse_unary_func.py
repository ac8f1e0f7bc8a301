"""Re-export module: functions under one of MindSpore 2's module paths."""

from msnb.ops.auto_generate import __getattr__ as __getattr__
from msnb.ops.functional import *  # noqa: F403
