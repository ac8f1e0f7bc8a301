"""Search for the best quantisation scale of an activation (input feature map reconstruction)."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Between, Bool, Kind, Static, StrictFloat
from msnb.core.operator.cases import F16, F, I, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import widened

_FLOATS = frozenset(map(np.dtype, (np.float16, np.float32)))
_INT32 = frozenset((np.dtype(np.int32),))
_LEAST = float(np.finfo(np.float32).eps)  # a scale below it is replaced by 1


def _accept_search_range(value):
    low, high = value
    if not all(type(v) is float for v in (low, high)):
        raise TypeError
    if not 0 < low <= high:
        raise ValueError
    return low, high


SearchRange = Kind("two positive floats, the smaller one first", _accept_search_range, examples=((0.7, 1.3),))
Step = Static(Between(StrictFloat, 0, float("inf"), low_in=False, high_in=False))


@operator
@shapes("data_min data_max: 1, cumsum: _")
def IFMR(
    data,
    data_min,
    data_max,
    cumsum,
    *,
    min_percentile: StrictFloat = 0.999999,
    max_percentile: StrictFloat = 0.999999,
    search_range: SearchRange = (0.7, 1.3),
    search_step: Step = 0.01,
    with_offset: Bool = True,
):
    """Searches for the int8 scale that minimizes the mean squared error of quantising and dequantising an activation.

    The lower and upper end of the range are quantiles from the histogram, at 1 - min_percentile and max_percentile. The
    search then multiplies the upper end by each factor of the search range.

    Args:
        min_percentile (float): Share of the numbers that are above the lower end. Default: 0.999999.
        max_percentile (float): Share of the numbers that are below the upper end. Default: 0.999999.
        search_range (Union[list(float), tuple(float)]): First and last factor to try for the upper end of the range.
            Default: (0.7, 1.3).
        search_step (float): Difference of adjacent factors. Default: 0.01.
        with_offset (bool): Whether to compute a zero point; otherwise the range is symmetric. Default: True.

    Inputs:
        - **data** (Tensor) - The activation, float16 or float32.
        - **data_min**, **data_max** (Tensor) - Smallest and largest number of `data`, (1,), float16 or float32.
        - **cumsum** (Tensor) - Cumulative histogram of `data` with bins of equal width, (B,), int32.

    Outputs:
        Tuple of scale and offset, (1,), float32: a number x is stored as round(x / scale) + offset, within [-128, 127].

    Raises:
        TypeError: If an element type or an attribute is not supported.
        ValueError: If `search_range` is not ascending, or a shape does not fit.

    Examples:
        >>> from mindspore.ops.operations import _quant_ops as Q
        >>> data = Tensor([[0.1, 0.2, 0.5]], mindspore.float32)
        >>> low, high = Tensor([0.1], mindspore.float32), Tensor([0.5], mindspore.float32)
        >>> ifmr = Q.IFMR(0.2, 0.9, (1.0, 2.0), 1.0, False)
        >>> scale, offset = ifmr(data, low, high, Tensor([1, 2, 2, 3], mindspore.int32))
        >>> print(scale, offset)
        [0.00629921] [0.]
    """
    for name, value in (("data", data), ("data_min", data_min), ("data_max", data_max)):
        _check.dtype_in("IFMR", name, value, _FLOATS)
    _check.dtype_in("IFMR", "cumsum", cumsum, _INT32)
    _check.some("IFMR", "data", data)
    _check.some("IFMR", "cumsum", cumsum)
    x, low, high = widened(data), widened(data_min)[0], widened(data_max)[0]
    share = cumsum.astype(jnp.float32) / x.size
    ends = [jnp.mean(share < p) * (high - low) + low for p in (1 - min_percentile, max_percentile)]
    first, last = search_range
    factors = first + search_step * jnp.arange(int((last - first) // search_step + 1), dtype=jnp.float32)
    if with_offset:
        bottom = jnp.minimum(ends[0], 0)
        scales = (jnp.maximum(ends[1], 0) * factors - bottom) / 255
        scales = jnp.where(scales < _LEAST, 1, scales)
        offsets = -(jnp.round(bottom / scales) + 128)
    else:
        scales = jnp.maximum(*map(jnp.abs, ends)) * factors / 127
        scales = jnp.where(scales < _LEAST, 1, scales)
        offsets = jnp.zeros_like(scales)

    def lost(candidate):
        scale, offset = candidate
        stored = jnp.clip(jnp.round(x / scale) + offset, -128, 127)
        return jnp.sum(jnp.square((stored - offset) * scale - x))

    best = jnp.argmin(lax.map(lost, (scales, offsets)))
    return tuple(jax.lax.stop_gradient(v[best][None]) for v in (scales, offsets))


_STOPPED = "no gradient reaches scale and offset"
_BINS = Values([1, 3, 6, 10, 12], "int32")
CASES = [
    case(IFMR, F(3, 4), Values([-1.7]), Values([1.7]), _BINS).without("differences", _STOPPED),
    case(IFMR, F(3, 4), Values([-1.7]), Values([1.7]), _BINS, with_offset=False).without("differences", _STOPPED),
    case(IFMR, F16(3, 4), Values([-1.7], "float16"), Values([1.7], "float16"), _BINS, search_step=0.1)
    .without("half", "its scale is a step of the search, which rounding moves")
    .without("differences", _STOPPED),
    refused(TypeError, IFMR, I(3, 4), Values([-1.7]), Values([1.7]), _BINS),
    refused(ValueError, IFMR, F(3, 4), Values([-1.7, 1.0]), Values([1.7]), _BINS),
    refused(ValueError, IFMR, search_range=(1.3, 0.7)),
    refused(TypeError, IFMR, search_step=1),
]
