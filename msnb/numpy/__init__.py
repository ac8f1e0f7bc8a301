"""`mindspore.numpy`: numpy's functions for Tensors, with MindSpore's element types.

A function that calls one operator of `msnb/ops` is declared there, next to the operator. The modules of this package
have the functions that exist in `mindspore.numpy` only.
"""

import importlib as _importlib
import pkgutil as _pkgutil

from msnb.common.dtype import (
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from msnb.core.operator.declare import NUMPY as _NUMPY

# MindSpore distributes its functions over these modules; here each of them has all names
_FACES = ("array_creations", "array_ops", "dtypes", "logic_ops", "math_ops")
for _room in _pkgutil.iter_modules(__path__):
    if _room.name not in _FACES:
        _importlib.import_module(f"{__name__}.{_room.name}")

int_, uint, float_ = int32, uint32, float32
inf = PINF = float("inf")
NINF = float("-inf")
nan = float("nan")
pi = 3.141592653589793
numeric_types: list[str] = [
    *("int_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float_", "float16", "float32", "float64", "bool_"),
]

globals().update(_NUMPY)
__all__ = sorted({*_NUMPY, *numeric_types, "uint", "inf", "PINF", "NINF", "nan", "pi", "numeric_types"})
_ = bool_, float16, float64, int8, int16, int64, uint8, uint16, uint64
