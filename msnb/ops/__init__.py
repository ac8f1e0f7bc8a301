"""Operators: classes as in `mindspore.ops.operations`, functions as in `mindspore.ops.functional`, composites.

Every module beside this file that declares operators is imported here; what they declare fills the faces.
"""

# ruff: noqa: E402 - the faces are filled by what was imported before
import importlib as _importlib
import pkgutil as _pkgutil
import sys as _sys

from msnb.common.missing import asked as _asked
from msnb.core.operator.declare import operator
from msnb.core.operator.operator_types import attributes_of
from msnb.core.operator.primitive import Primitive
from msnb.core.operator.user_primitive import PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register
from msnb.core.tensor.tensor import Tensor as Tensor  # which programs of 2.x find here, too

_FACES = ("operations", "functional", "composite", "function", "auto_generate")


def _module(path):
    return _importlib.import_module(path)  # spares a list of them, and a face that few ask for


def _load(path, package):
    """Import what declares operators, so that a new file is in no list."""
    for module in (m.name for m in sorted(_pkgutil.iter_modules(path), key=lambda m: (not m.ispkg, m.name))):
        if not module.startswith("_") and module not in _FACES:
            loaded = _module(f"{package}.{module}")
            if hasattr(loaded, "__path__"):
                _load(loaded.__path__, loaded.__name__)


_load(__path__, __name__)

from msnb.core.transforms.grad import GradOperation, get_grad, grad, stop_gradient, value_and_grad
from msnb.ops import (
    composite,
    functional,
    operations,
)
from msnb.ops import function as function
from msnb.ops.composite import *  # noqa: F403
from msnb.ops.custom import Custom
from msnb.ops.op_info_register import (
    AiCPURegOp,
    AkgAscendRegOp,
    AkgGpuRegOp,
    CpuRegOp,
    CustomRegOp,
    DataType,
    TBERegOp,
    custom_info_register,
    op_info_register,
)
from msnb.ops.operations import *  # noqa: F403

# isort: split
from msnb.ops.functional import *  # noqa: F403 - behind the classes: ops.identity is the function

_TRANSFORMS = ("jvp", "vjp", "jacfwd", "jacrev", "vmap")


def __getattr__(name):
    if name in _TRANSFORMS:
        return getattr(_sys.modules["msnb"], name)  # which loads them when they are asked for
    if name == "auto_generate":
        return _module("msnb.ops.auto_generate")
    if name == "Tensor":  # not listed, but some programs take it from here
        return _sys.modules["msnb"].Tensor
    return _asked(__name__, name)


__all__ = [
    *_TRANSFORMS,
    "Primitive",
    "PrimitiveWithCheck",
    "PrimitiveWithInfer",
    "prim_attr_register",
    "operations",
    "functional",
    "composite",
    "GradOperation",
    "get_grad",
    "grad",
    "stop_gradient",
    "value_and_grad",
    "AiCPURegOp",
    "AkgAscendRegOp",
    "AkgGpuRegOp",
    "CpuRegOp",
    "Custom",
    "CustomRegOp",
    "DataType",
    "TBERegOp",
    "custom_info_register",
    "op_info_register",
    *operations.__all__,
    *functional.__all__,
    *composite.__all__,
]
