"""The orthonormal discrete cosine transform and its inverse, along one or several axes."""

import jax.scipy.fft

from msnb.common.kinds import Bool, Ints, Optional
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops._check import axes_in, some
from msnb.ops._upcast import widened


@operator
def _CosineTransform(x, *, inverse: Bool = False, lengths: Optional(Ints) = None, axes: Ints = (-1,)):
    """Orthonormal cosine transform of type II along axes.

    Args:
        inverse (bool): True for the inverse transform. Default: False.
        lengths (tuple[int]): Numbers of elements to which the axes are cropped or padded with zeros. Default: None, no
            change.
        axes (tuple[int]): The axes. Default: (-1,).

    Inputs:
        - **x** (Tensor) - Real or complex numbers.

    Outputs:
        Tensor, complex if `x` is complex.
    """
    name = "idct" if inverse else "dct"
    x, axes = widened(x), axes_in(name, axes, x.ndim)
    if lengths is None:
        some(name, "x", x, *axes)
    transform = jax.scipy.fft.idct if inverse else jax.scipy.fft.dct
    for axis, length in zip(axes, lengths or [None] * len(axes), strict=True):
        x = transform(x, n=length, axis=axis, norm="ortho")
    return x


_ALONE = "MindSpore has it in scipy.fft alone"
CASES = [
    case(_CosineTransform, F(2, 4)).without("mindspore", _ALONE),
    case(_CosineTransform, F(2, 4), inverse=True, lengths=(3, 5), axes=(0, 1)).without("mindspore", _ALONE),
]
