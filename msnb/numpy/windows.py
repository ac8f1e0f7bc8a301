"""Window functions."""

from collections.abc import Callable

import numpy as np

from msnb.common.kinds import Int, check
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor


def _make_window(by_numpy: Callable[[int], np.ndarray], name: str, count: int) -> Tensor:
    """Return a window function of `count` points as float32. numpy computes it in double precision."""
    return Tensor(by_numpy(check(Int, count, "M", name)).astype(np.float32))


@spelling(numpy="bartlett")
def bartlett(M: int) -> Tensor:
    """Return Bartlett's window, which rises linearly from 0 to 1 and falls linearly to 0.

    Args:
        M (int): Number of points; for 0 and less the result is empty.

    Returns:
        Tensor of float32, of shape (M,).

    Raises:
        TypeError: If `M` is not an int.
    """
    return _make_window(np.bartlett, "bartlett", M)


@spelling(numpy="blackman")
def blackman(M: int) -> Tensor:
    """Return Blackman's window: a sum of three cosine terms.

    Args:
        M (int): Number of points; for 0 and less the result is empty.

    Returns:
        Tensor of float32, of shape (M,).

    Raises:
        TypeError: If `M` is not an int.
    """
    return _make_window(np.blackman, "blackman", M)


@spelling(numpy="hamming")
def hamming(M: int) -> Tensor:
    """Return Hamming's window: a cosine that begins and ends at 0.08.

    Args:
        M (int): Number of points; for 0 and less the result is empty.

    Returns:
        Tensor of float32, of shape (M,).

    Raises:
        TypeError: If `M` is not an int.

    Examples:
        >>> print(mindspore.numpy.hamming(3))
        [0.08 1.   0.08]
    """
    return _make_window(np.hamming, "hamming", M)


@spelling(numpy="hanning")
def hanning(M: int) -> Tensor:
    """Return Hann's window: a cosine that begins and ends at 0.

    Args:
        M (int): Number of points; for 0 and less the result is empty.

    Returns:
        Tensor of float32, of shape (M,).

    Raises:
        TypeError: If `M` is not an int.
    """
    return _make_window(np.hanning, "hanning", M)
