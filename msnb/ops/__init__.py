"""Operators: classes as in `mindspore.ops.operations`, functions as in `mindspore.ops.functional`, composites.

Every module beside this file that declares operators is imported here; what they declare fills the faces.
"""

# ruff: noqa: E402 - the faces are filled by what was imported before
import importlib as _importlib
import pkgutil as _pkgutil

from msnb.core.primitive import (
    Primitive,
    PrimitiveWithCheck,
    PrimitiveWithInfer,
    attributes_of,
    operator,
    prim_attr_register,
)

_FACES = ("operations", "functional", "composite")
for _module in sorted(m.name for m in _pkgutil.iter_modules(__path__)):
    if not _module.startswith("_") and _module not in _FACES:
        _importlib.import_module(f"{__name__}.{_module}")

from msnb.core.grad import GradOperation, grad, stop_gradient, value_and_grad
from msnb.ops import (
    composite,
    functional,
    operations,
)
from msnb.ops.composite import *  # noqa: F403
from msnb.ops.functional import *  # noqa: F403
from msnb.ops.op_info_register import (
    AiCPURegOp,
    AkgAscendRegOp,
    AkgGpuRegOp,
    DataType,
    TBERegOp,
    op_info_register,
)
from msnb.ops.operations import *  # noqa: F403

__all__ = [
    "Primitive",
    "PrimitiveWithCheck",
    "PrimitiveWithInfer",
    "attributes_of",
    "operator",
    "prim_attr_register",
    "operations",
    "functional",
    "composite",
    "GradOperation",
    "grad",
    "stop_gradient",
    "value_and_grad",
    "AiCPURegOp",
    "AkgAscendRegOp",
    "AkgGpuRegOp",
    "DataType",
    "TBERegOp",
    "op_info_register",
    *operations.__all__,
    *functional.__all__,
    *composite.__all__,
]
