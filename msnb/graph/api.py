"""Re-export module of `mindspore.common.api` at MindSpore 2.10's path `mindspore.graph.api`."""

from msnb.common import api
from msnb.common.api import *  # noqa: F403
from msnb.common.api import _no_grad as _no_grad
from msnb.common.api import _pynative_executor as _pynative_executor

__all__ = api.__all__
