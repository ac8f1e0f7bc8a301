"""Fix the random draws of tests without a seed. msnb draws them from the operating system, and a test would pass by
chance. Here each test draws the same numbers every time. `get_seed` still says that there is no seed.
"""

import os
import random
import sys

import numpy as np

START = 20210331


class _Os:
    """The module os, whose random bytes are the same each time."""

    urandom = staticmethod(np.random.RandomState(START).bytes)

    def __getattr__(self, name):
        return getattr(os, name)


def without_constants():
    """Hypothesis would read the source of every module that is loaded, and prefer the numbers in them: seconds in each
    process, and another draw where other tests have loaded other modules.
    """
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")
    if hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = lambda: providers._local_constants


def begin():
    """Put all that draws back to the start; what has not been imported draws nothing."""
    random.seed(START)
    np.random.seed(START)
    modules = sys.modules
    if "msnb.core.state.random_stream" in modules:
        modules["msnb.core.state.random_stream"].default.restart(START)
        seeds = modules["msnb.common.seed"]
        seeds._global_seed = None
        seeds._reset_op_seed()
        initializer = modules["msnb.common.initializer"]
        initializer._reset_normal_draw_count(None)
        initializer.get_seed = lambda: START if seeds.get_seed() is None else seeds.get_seed()
    config = modules.get("msnb.dataset.core.config")
    if config is not None:
        _Os.urandom = staticmethod(np.random.RandomState(START).bytes)
        config.os = _Os()
        config.settings.seed = config.UNSEEDED
