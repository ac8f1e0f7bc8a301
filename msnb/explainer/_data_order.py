"""The order in which a runner reads a data set, which is equal in each pass."""

import contextlib
import random
from collections.abc import Iterator

import numpy as np

from msnb.dataset.core import config

_SEED = 58  # of r1.1's runner


@contextlib.contextmanager
def fixed_order() -> Iterator[None]:
    """Seed data sets as the runner does. The seed and the random states of Python and numpy are restored on exit."""
    before = config.get_seed(), random.getstate(), np.random.get_state()
    config.set_seed(_SEED)
    try:
        yield
    finally:
        config.set_seed(before[0])
        random.setstate(before[1])
        np.random.set_state(before[2])
