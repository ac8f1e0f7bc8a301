"""Names that Python code imports from MindSpore's C++ module: Tensor classes, type classes and build options."""

from typing import Any

import numpy as np

from msnb import log
from msnb._config.ms_context import MSContext as MSContext
from msnb.common import dtype as typing
from msnb.common.missing import asked
from msnb.context import get_context
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.param_info import ParamInfo
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.compiler_hints import disable_multi_thread


class security:  # noqa: N801 - MindSpore's C++ module has a submodule of this name
    """Build options of MindSpore, as its C++ module reports them."""

    @staticmethod
    def enable_security() -> bool:
        """Return False: msnb has no build without dumps, profiles and prints."""
        return False


TensorPy = Tensor  # the name of the class since 2.7

__all__ = ["MetaTensor", "ParamInfo", "Tensor", "TensorPy", "disable_multi_thread", "security", "typing"]


def _empty_instance(size, dtype=None, device=None):
    """Return a Tensor of zeros, on the device of the context."""
    current = get_context("device_target")
    log.unused("_empty_instance", f"Tensors are on the {current}", device=device not in (None, current))
    return Tensor(np.zeros(size, typing.np_dtype(dtype or typing.float32)))


def _random_normal(seed, data, mean, sigma):
    """Fill a numpy array with normally distributed numbers, the same for each `seed`."""
    data[...] = np.random.default_rng(seed).normal(mean, sigma, data.shape)


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
