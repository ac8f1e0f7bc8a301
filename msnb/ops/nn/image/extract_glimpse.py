"""Extract windows of images at given offsets."""

from typing import Any

import jax.numpy as jnp

from msnb.common.kinds import Bool, OneOf, PositiveInt, Shape, check, checked
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._shapes import shapes
from msnb.ops.array.create import Zeros
from msnb.ops.random.normal import StandardNormal
from msnb.ops.random.uniform import UniformReal


@operator
@shapes("x: n _ _ c, offsets: n 2, noise: n _ _ c")
def _Glimpse(x, offsets, noise, *, centered: Bool, normalized: Bool):
    """Extract windows of images at given offsets.

    Args:
        centered (bool): Whether offsets are relative to the centre of an image.
        normalized (bool): Whether offsets are fractions of the image size.

    Inputs:
        - **x** (Tensor) - Images, float32 of shape (N, H, W, C).
        - **offsets** (Tensor) - Positions of the centres of the windows, float32 of shape (N, 2).
        - **noise** (Tensor) - Values of pixels outside the image, (N, height, width, C) of the windows.

    Outputs:
        Tensor of the shape of `noise`.
    """
    size, window = jnp.array(x.shape[1:3], jnp.float32), jnp.array(noise.shape[1:3], jnp.float32)
    centre = offsets.astype(jnp.float32)
    if centered:
        centre = (centre + 1) * size / 2 if normalized else centre / 2 + size / 2
    elif normalized:
        centre = centre * size
    begin = jnp.trunc(centre - window / 2).astype(int)
    rows, columns = (begin[:, d, None] + jnp.arange(noise.shape[1 + d]) for d in (0, 1))
    inside = ((rows >= 0) & (rows < x.shape[1]))[:, :, None] & ((columns >= 0) & (columns < x.shape[2]))[:, None]
    rows, columns = (jnp.clip(i, 0, n - 1) for i, n in ((rows, x.shape[1]), (columns, x.shape[2])))
    images = jnp.arange(x.shape[0])[:, None, None]
    return jnp.where(inside[..., None], x[images, rows[:, :, None], columns[:, None]], noise)


@host_operator()
class ExtractGlimpse(HostPrimitive):
    """Extract windows of images at given offsets, with noise outside the images.

    Args:
        centered (bool): Whether offsets are relative to the centre of an image. Default: True.
        normalized (bool): Whether offsets are fractions of the image, from -1 to 1, or from 0 to 1 without `centered`.
            Default: True.
        uniform_noise (bool): Whether the noise is uniform. Default: True.
        noise (str): The noise if `uniform_noise` is False: "uniform", "gaussian" or "zero". Default: "uniform".

    Inputs:
        - **x** (Tensor) - Images, float32 of shape (N, H, W, C).
        - **size** (Union[Tensor, tuple[int]]) - Height and width of the windows; in a graph two ints.
        - **offsets** (Tensor) - Positions (y, x) of the centres of the windows, float32 of shape (N, 2).

    Outputs:
        Tensor of float32, (N, height, width, C).

    Raises:
        TypeError: If an input has the wrong type.
        ValueError: If the shapes do not fit, or `noise` is "zero" and `uniform_noise` True.

    Examples:
        >>> x = Tensor([[[[0.0], [1.0]], [[2.0], [3.0]]]], mindspore.float32)
        >>> glimpse = ops.ExtractGlimpse(False, False, False, "zero")
        >>> print(glimpse(x, Tensor([1, 2], mindspore.int32), Tensor([[0.5, 1.0]], mindspore.float32)))
        [[[[0.]
           [1.]]]]
    """

    @checked
    def __init__(
        self,
        centered: Bool = True,
        normalized: Bool = True,
        uniform_noise: Bool = True,
        noise: OneOf("uniform", "gaussian", "zero") = "uniform",
    ) -> None:
        super().__init__()
        if noise == "zero" and uniform_noise:
            raise ValueError("For 'ExtractGlimpse', 'uniform_noise' should be False where 'noise' is 'zero'.")
        self.centered, self.normalized, self.uniform_noise, self.noise = centered, normalized, uniform_noise, noise

    def __call__(self, x: Tensor, size: Tensor | tuple[int, int], offsets: Tensor) -> Tensor:
        op = "ExtractGlimpse"
        tensor_argument(op, "x", x)
        tensor_argument(op, "offsets", offsets)
        sides: Any = (
            tuple(self.values_of(size)[0].tolist()) if isinstance(size, Tensor) else check(Shape, size, "size", op)
        )
        if len(sides) != 2 or x.ndim != 4:
            raise ValueError(
                f"For '{op}', 'x' should have 4 dimensions and 'size' two numbers, but got {x.shape} and "
                f"{describe(size)}."
            )
        for side in sides:
            check(PositiveInt, side, "size", op)
        shape = (x.shape[0], *sides, x.shape[3])
        kind = "uniform" if self.uniform_noise else self.noise
        if kind == "zero":
            noise = Zeros()(shape, x.dtype)
        else:
            noise = (UniformReal if kind == "uniform" else StandardNormal)()(shape)
        return _Glimpse(self.centered, self.normalized)(x, offsets, noise)


_X, _SIZE = F(2, 5, 6, 2), Values([3, 4], "int32")
CASES = [
    *(
        case(
            ExtractGlimpse,
            _X,
            _SIZE,
            Values([[0.5, -0.5], [2.0, 3.0]], "float32"),
            centered=centered,
            normalized=normalized,
            uniform_noise=False,
            noise="zero",
        )
        .without("graph", "the size is a Tensor")
        .without("gradient", "2.7.1 has none")
        for centered in (True, False)
        for normalized in (True, False)
    ),
    case(_Glimpse, _X, F(2, 2), F(2, 3, 4, 2), centered=True, normalized=True)
    .wrt(0, 2)
    .without("mindspore", "the class is asked"),
    refused(ValueError, ExtractGlimpse, noise="zero", says="uniform_noise"),
]
