"""Re-export module of all data sets at MindSpore 2's path ``mindspore.dataset.engine.datasets_audio``."""

from msnb.dataset.engine.datasets import *  # noqa: F403
from msnb.dataset.engine.datasets import __getattr__ as __getattr__
