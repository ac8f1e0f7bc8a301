"""Extraction of all windows of a volume."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Each, OneOf, PositiveInt
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.ops import _check
from msnb.ops.nn.conv._shared import same_pads

Five = Each(PositiveInt, 5)


@operator
def ExtractVolumePatches(x, *, kernel_size: Five, strides: Five, padding: OneOf("SAME", "VALID", fold=True)):
    """Extract all windows of a volume. The elements of a window become the channels of one position of the result.

    Args:
        kernel_size (tuple[int]): (1, 1, depth, height, width) of the window.
        strides (tuple[int]): (1, 1, depth, height, width) of the step of the window.
        padding (str): "SAME" or "VALID".

    Inputs:
        - **x** (Tensor) - (N, C, D, H, W).

    Outputs:
        Tensor, (N, C * depth * height * width, D_out, H_out, W_out); the channel of the volume varies fastest.

    Raises:
        ValueError: If `x` does not have 5 dimensions, or the window does not fit.
    """
    op = "ExtractVolumePatches"
    _check.tensor_only(op, "x", x)
    _check.rank(op, "x", x, 5)
    kernel, step = kernel_size[2:], strides[2:]
    if padding == "SAME":
        pads = [same_pads(n, k, s) for n, k, s in zip(x.shape[2:], kernel, step, strict=True)]
        x = jnp.pad(x, ((0, 0), (0, 0), *pads))
    outs = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], kernel, step, strict=True)]
    if min(outs) < 1:
        raise ValueError(f"For '{op}', the window {kernel} does not fit the volume {x.shape[2:]}.")
    patches = []
    for tap in np.ndindex(kernel):
        stops = [t + (o - 1) * s + 1 for t, o, s in zip(tap, outs, step, strict=True)]
        patches.append(lax.slice(x, (0, 0, *tap), (*x.shape[:2], *stops), (1, 1, *step)))
    return jnp.stack(patches, 1).reshape(x.shape[0], x.shape[1] * len(patches), *outs)


CASES = [
    *(
        case(ExtractVolumePatches, F(2, 2, 3, 4, 3), kernel_size=(1, 1, 2, 2, 2), strides=(1, 1, 1, 2, 1), padding=p)
        for p in ("VALID", "SAME")
    ),
    refused(
        ValueError,
        ExtractVolumePatches,
        F(1, 1, 2, 2, 2),
        kernel_size=(1, 1, 3, 1, 1),
        strides=(1,) * 5,
        padding="VALID",
    ),
]
