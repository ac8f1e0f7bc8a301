"""The largest number of each window of a volume, and where it stands."""

from math import prod

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, IntOrTuple, OneOf, check
from msnb.core.cases import F, I, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops import _check
from msnb.ops.nn._kinds import Pads3, Window3
from msnb.ops.nn._windows import max_pool, max_with_position, reach, sides, unbatched


def _pool(op, x, kernel, strides, pads, dilation, ceil_mode, pool):
    _check.dtype_in(op, "x", x, _check.FLOAT)

    def of_batch(x):
        found = sides(op, x.shape[2:], reach(kernel, dilation), strides, pads, ceil_mode)
        return pool(x, kernel, strides, found, dilation)

    return unbatched(op, x, 3, of_batch)


@operator
def _MaxPoolVolume(
    x,
    *,
    ksize: Window3,
    strides: Window3,
    pads: Pads3,
    dilation: Window3 = (1, 1, 1),
    ceil_mode: Bool = False,
):
    """The values of MaxPool3DWithArgmax, without their places."""
    return _pool("max_pool3d", x, ksize, strides, pads, dilation, ceil_mode, max_pool)


def _check_places(attributes):
    if attributes["argmax_type"] not in (mstype.int32, mstype.int64):
        raise TypeError(
            f"For 'MaxPool3DWithArgmax', 'argmax_type' should be int32 or int64, but got {attributes['argmax_type']}."
        )


@operator(refuses=_check_places)
def MaxPool3DWithArgmax(
    x,
    *,
    ksize: Window3,
    strides: Window3,
    pads: Pads3,
    dilation: Window3 = (1, 1, 1),
    ceil_mode: Bool = False,
    data_format: OneOf("NCDHW") = "NCDHW",
    argmax_type: DType = mstype.int64,
):
    """The largest number of each window of a volume, and where it stands.

    Args:
        ksize (Union[int, tuple[int]]): depth, height and width of the window.
        strides (Union[int, tuple[int]]): by how much it moves along each.
        pads (Union[int, tuple[int]]): padding at both ends of each.
        dilation (Union[int, tuple[int]]): spacing of the places that a window looks at. Default: (1, 1, 1).
        ceil_mode (bool): whether a last incomplete window counts. Default: False.
        data_format (str): "NCDHW". Default: "NCDHW".
        argmax_type (mindspore.dtype): element type of the places, int32 or int64. Default: mstype.int64.

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W) or (C, D, H, W), float.

    Outputs:
        Tuple of the numbers and their flat places within (D, H, W).

    Raises:
        TypeError: If `argmax_type` is another one, or `x` no float.
        ValueError: If the window does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def pool(x, *window):
        values, where = max_with_position(x, *window)
        return values, (where % prod(x.shape[2:])).astype(mstype.np_dtype(argmax_type))

    return _pool("MaxPool3DWithArgmax", x, ksize, strides, pads, dilation, ceil_mode, pool)


@spelling(MaxPool3DWithArgmax, _MaxPoolVolume, generation=2)
def max_pool3d(
    x: Tensor,
    kernel_size: IntOrTuple,
    stride: IntOrTuple | None = None,
    padding: IntOrTuple = 0,
    dilation: IntOrTuple = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest number of each window of a volume.

    Args:
        x (Tensor): (N, C, D, H, W) or (C, D, H, W), float.
        kernel_size (Union[int, tuple[int]]): Depth, height and width of the window.
        stride (Union[int, tuple[int]]): By how much it moves along each. Default: None, `kernel_size`.
        padding (Union[int, tuple[int]]): Padding at both ends of each. Default: 0.
        dilation (Union[int, tuple[int]]): Spacing of the places that a window looks at. Default: 1.
        ceil_mode (bool): Whether a last incomplete window counts. Default: False.
        return_indices (bool): Whether places within each volume come too, int64. Default: False.

    Returns:
        Tensor of the numbers, or a tuple of numbers and places.

    Raises:
        TypeError: If `x` is no float.
        ValueError: If the window does not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    both = return_indices is not False and check(Bool, return_indices, "return_indices", "max_pool3d")
    pool = MaxPool3DWithArgmax if both else _MaxPoolVolume
    return pool.functional(x, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


_TIES = I(1, 2, 5, 6, 4, low=-2, high=3, dtype="float32")

CASES = [
    case(_MaxPoolVolume, F(1, 2, 4, 4, 6), ksize=2, strides=2, pads=0),
    case(MaxPool3DWithArgmax, F(1, 2, 4, 5, 6), ksize=(2, 3, 2), strides=2, pads=1),
    case(max_pool3d, _TIES, 2, 1),
    case(max_pool3d, _TIES, 3, 2, 1, ceil_mode=True, return_indices=True),
    case(max_pool3d, F(1, 2, 7, 6, 7), (3, 2, 2), 2, (1, 1, 0), dilation=2, return_indices=True),
    refused(ValueError, MaxPool3DWithArgmax, F(1, 2, 4, 4, 6), ksize=0, strides=2, pads=0),
    refused(ValueError, max_pool3d, F(1, 2, 3, 3, 3), 5),
]
