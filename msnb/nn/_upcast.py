"""Half precision in layers of several operators: computed in float32, rounded once (see msnb/ops/_upcast.py)."""

from msnb.common import dtype as mstype
from msnb.core.tensor.tensor import Tensor
from msnb.ops import operations as P

_cast = P.Cast()


def widen(x):
    """`x`, in float32 if it is in half precision."""
    return _cast(x, mstype.float32) if x.dtype in (mstype.float16, mstype.bfloat16) else x


def widen_to_float(x):
    """`widened`, where whole numbers become float32, too: their quotients and roots are none."""
    return widen(x) if x.is_floating_point() else _cast(x, mstype.float32)


def round_to_inputs(x, *inputs):
    """`x` in the floating element type of `inputs`, where those that are Tensors have one; else as it is."""
    dtypes = {i.dtype for i in inputs if isinstance(i, Tensor) and i.is_floating_point()}
    return _cast(x, dtypes.pop()) if len(dtypes) == 1 and x.dtype not in dtypes else x


def widen_if_mixed(x, *others):
    """`x`, widened where one of `others` is a Tensor of another type: the result then is in float32, as MindSpore's is
    when it multiplies by that."""
    return widen(x) if any(isinstance(o, Tensor) and o.dtype != x.dtype for o in others) else x
