"""Float32 computation for float16 and bfloat16 inputs of layers that call several operators (see
msnb/ops/_upcast.py)."""

from msnb.common import dtype as mstype
from msnb.core.operator.autocast import is_constant
from msnb.core.state.trace_state import thread
from msnb.core.tensor.tensor import Tensor
from msnb.ops import operations as P

_cast = P.Cast()


def widen(x):
    """Return `x`, cast to float32 if it is float16 or bfloat16."""
    return _cast(x, mstype.float32) if x.dtype in (mstype.float16, mstype.bfloat16) else x


def widen_to_float(x):
    """Return `x` as `widen` does, with integers cast to float32 too: quotients and roots need fractions."""
    return widen(x) if x.is_floating_point() else _cast(x, mstype.float32)


def round_to_inputs(x, *inputs):
    """Return `x` cast to the one floating dtype of the Tensors in `inputs`. If they have no floating dtype or several,
    return `x` unchanged."""
    dtypes = {i.dtype for i in inputs if isinstance(i, Tensor) and i.is_floating_point()}
    return _cast(x, dtypes.pop()) if len(dtypes) == 1 and x.dtype not in dtypes else x


def widen_if_mixed(x, *others):
    """Return `widen(x)` if one of `others` is a Tensor of another dtype. Otherwise return `x`.

    The layer then computes in float32, as MindSpore does for operands of mixed dtypes. In a Cell with `to_float`,
    constants are ignored, because operators cast them to the dtype of the Cell.
    """
    is_cast = is_constant if thread.compute_dtype is not None else lambda _: False
    return widen(x) if any(isinstance(o, Tensor) and o.dtype != x.dtype and not is_cast(o) for o in others) else x
