"""Every window of an image as a column."""

import math

from jax import lax

from msnb.common.kinds import Shape
from msnb.core.cases import F, case
from msnb.core.declare import operator
from msnb.ops import _check


@operator(functional="unfold", generation=2)
def Im2ColExt(input, kernel_size: Shape, dilation: Shape = (1,), padding: Shape = (0,), stride: Shape = (1,)):
    """Every window of an image as a column.

    Inputs:
        - **input** (Tensor) - (N, C, H, W).
        - **kernel_size** (Union[int, tuple[int]]) - height and width of the window.
        - **dilation** (Union[int, tuple[int]]) - spacing of the taps. Default: 1.
        - **padding** (Union[int, tuple[int]]) - zeros at each side. Default: 0.
        - **stride** (Union[int, tuple[int]]) - step of the window. Default: 1.

    Outputs:
        Tensor, (N, C * window, number of windows).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.rank("Im2ColExt", "input", input, 4)
    two = lambda v: tuple(v) * 2 if len(v) == 1 else tuple(v)
    kernel = two(kernel_size)
    patches = lax.conv_general_dilated_patches(
        input, kernel, two(stride), [(p, p) for p in two(padding)], rhs_dilation=two(dilation)
    )
    return patches.reshape(*patches.shape[:2], math.prod(patches.shape[2:]))


CASES = [
    case(Im2ColExt, F(2, 4, 6, 7), 2, 1, 0, 2),
]
