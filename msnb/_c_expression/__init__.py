"""Names that Python code imports from MindSpore's C++ module: Tensor classes, type classes and build options."""

from typing import Any

import numpy as np

from msnb._config.ms_context import MSContext as MSContext
from msnb.common import dtype as typing
from msnb.common.missing import asked
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.compiler_hints import disable_multi_thread


class security:  # noqa: N801 - MindSpore's C++ module has a submodule of this name
    """Build options of MindSpore, as its C++ module reports them."""

    @staticmethod
    def enable_security() -> bool:
        """Return False: msnb has no build without dumps, profiles and prints."""
        return False


__all__ = ["MetaTensor", "Tensor", "disable_multi_thread", "security", "typing"]


def _random_normal(seed, data, mean, sigma):
    """Fill a numpy array with normally distributed numbers, the same for each `seed`."""
    data[...] = np.random.default_rng(seed).normal(mean, sigma, data.shape)


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
