"""Re-export module: data sets at one of MindSpore 2's module paths."""

from msnb.dataset.engine.datasets import *  # noqa: F403
from msnb.dataset.engine.datasets import __getattr__ as __getattr__
