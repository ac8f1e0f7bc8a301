"""The module `mindspore.multiprocessing`: Python's `multiprocessing`."""

import multiprocessing
from multiprocessing import *  # noqa: F403

__all__ = list(multiprocessing.__all__)  # Python's list lacks what a submodule adds
