"""How Tensors print: MindSpore's text, on top of numpy's."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.errors import describe


def tensor_repr(array: np.ndarray, dtype: mstype.Type) -> str:
    """``Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])``, as MindSpore prints it."""
    value = _array_text(array)
    gap = "\n" if array.ndim > 1 else " "
    return f"Tensor(shape={list(array.shape)}, dtype={dtype}, value={gap}{value})"


def _array_text(array):
    kind = array.dtype.kind
    if array.dtype.name == "bfloat16":
        array, kind = array.astype(np.float32), "f"
    formats: Any = {"f": {"float_kind": lambda v: f"{v: .8e}"}, "c": {"complex_kind": lambda v: f"{v:.8e}"}}.get(
        kind, {}
    )
    if array.ndim == 0:
        return np.array2string(array, formatter=formats) if kind != "f" else f"{float(array):.8g}".strip()
    return np.array2string(array, separator=", ", formatter=formats or None, threshold=1000)


def traced_text(array: Any) -> str:
    """A traced value has no elements yet: its type and shape stand for them."""
    return f"{describe(array)} traced"
