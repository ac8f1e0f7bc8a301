"""Operators: classes as in `mindspore.ops.operations`, functions as in `mindspore.ops.functional`, composites.

This module imports every module of the package that declares operators. Their declarations fill the re-export modules.
"""

# ruff: noqa: E402 - re-export modules list the names that earlier imports declare
import importlib as _importlib
import pkgutil as _pkgutil
import sys as _sys

from msnb.common.missing import asked as _asked
from msnb.core.operator.declare import operator
from msnb.core.operator.operator_types import attributes_of
from msnb.core.operator.primitive import Primitive
from msnb.core.operator.user_primitive import PrimitiveWithCheck, PrimitiveWithInfer, prim_attr_register
from msnb.core.tensor.tensor import Tensor as Tensor  # programs for MindSpore 2 import Tensor from this module too

_REEXPORTS = ("operations", "functional", "composite", "function", "auto_generate", "communication")


def _load_module(path):
    return _importlib.import_module(path)  # import by path, which needs no list of modules here


def _import_declarations(path, package):
    """Import every module of `package` that declares operators. They are listed from the folder of the package."""
    for module in (m.name for m in sorted(_pkgutil.iter_modules(path), key=lambda m: (not m.ispkg, m.name))):
        if not module.startswith("_") and module not in _REEXPORTS:
            imported = _load_module(f"{package}.{module}")
            if hasattr(imported, "__path__"):
                _import_declarations(imported.__path__, imported.__name__)


_import_declarations(__path__, __name__)

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
from msnb.ops.functional import *  # imported after the classes, because `ops.identity` must be the function

_TRANSFORMS = ("jvp", "vjp", "jacfwd", "jacrev", "vmap")


def __getattr__(name):
    if name in _TRANSFORMS:
        return getattr(_sys.modules["msnb"], name)  # msnb imports these modules lazily
    if name in ("auto_generate", "communication"):
        return _load_module(f"msnb.ops.{name}")
    if name == "Tensor":  # some programs import Tensor from here, although it is not in __all__
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
