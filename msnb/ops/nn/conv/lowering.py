"""Lowerings (implementations) of a convolution of NCHW images with OIHW weights. All give the same result up to
rounding.

Each takes `(x, w, g)` with `g` a `Geometry`, and is linear in `x` and in `w`: the two gradients are its transposes.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax

from msnb.core.eager import matmul_precision


class Geometry(NamedTuple):
    """Static attributes of a convolution. Each tuple has one entry for each spatial dimension."""

    stride: tuple
    padding: tuple  # of (before, after)
    dilation: tuple
    group: int = 1

    def output(self, image, kernel):
        """Return the spatial shape of the result for the spatial shapes `image` and `kernel`."""
        return tuple(
            (n + sum(p) - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(image, kernel, self.stride, self.padding, self.dilation, strict=True)
        )


def direct(x, w, g):
    """Convolve by XLA's convolution, for any number of spatial dimensions. GPU and TPU use only this lowering."""
    letters = "DHW"[-len(g.stride) :]
    layout = ("NC" + letters, "OI" + letters, "NC" + letters)
    return lax.conv_general_dilated(
        x,
        w,
        g.stride,
        g.padding,
        rhs_dilation=g.dilation,
        dimension_numbers=layout,
        feature_group_count=g.group,
        precision=matmul_precision.of_convolutions(),
    )


def channels_last(x, w, g):
    """Convolve by XLA's convolution in NHWC layout. On CPU it copies less if the neighbouring operators are matrix
    products."""
    y = lax.conv_general_dilated(
        x.transpose(0, 2, 3, 1),
        w.transpose(2, 3, 1, 0),
        g.stride,
        g.padding,
        rhs_dilation=g.dilation,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=g.group,
    )
    return y.transpose(0, 3, 1, 2)


def _yield_shifted_images(x, kernel, g):
    """Yield for every tap (i, j) of the kernel, in row order, the pixels of NCHW `x` that it multiplies."""
    n, c = x.shape[:2]
    ho, wo = g.output(x.shape[2:], kernel)
    if any(map(any, g.padding)):
        x = jnp.pad(x, ((0, 0), (0, 0), *g.padding))
    (sh, sw), (dh, dw) = g.stride, g.dilation
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dh, j * dw
            yield lax.slice(
                x, (0, 0, top, left), (n, c, top + (ho - 1) * sh + 1, left + (wo - 1) * sw + 1), (1, 1, sh, sw)
            )


def columns(x, w, g):
    """Convolve by im2col and one matrix product: (O, C*kh*kw) @ (N, C*kh*kw, Ho*Wo).

    The weights keep their layout. This lowering is chosen if they are larger than the images; transposing them would
    take longer than the product.
    """
    shifted = list(_yield_shifted_images(x, w.shape[2:], g))
    n, c, ho, wo = shifted[0].shape
    o = w.shape[0]
    cols = jnp.stack([t.reshape(n, c, ho * wo) for t in shifted], 2) if len(shifted) > 1 else shifted[0]
    y = lax.dot_general(w.reshape(o, -1), cols.reshape(n, -1, ho * wo), (((1,), (1,)), ((), ())))
    return y.reshape(o, n, ho, wo).transpose(1, 0, 2, 3)


def rows(x, w, g):
    """Convolve by im2col with pixels as rows and one matrix product: (N*Ho*Wo, C*kh*kw) @ (C*kh*kw, O)."""
    cols = [t.transpose(0, 2, 3, 1) for t in _yield_shifted_images(x, w.shape[2:], g)]
    n, ho, wo, _ = cols[0].shape
    o = w.shape[0]
    cols = jnp.concatenate(cols, axis=-1) if len(cols) > 1 else cols[0]
    y = lax.dot_general(cols.reshape(n * ho * wo, -1), w.transpose(0, 2, 3, 1).reshape(o, -1), (((1,), (1,)), ((), ())))
    return y.reshape(n, ho, wo, o).transpose(0, 3, 1, 2)


def taps(x, w, g):
    """Convolve by one matrix product for each tap of the kernel, and sum the products."""
    total = None
    for index, t in enumerate(_yield_shifted_images(x, w.shape[2:], g)):
        t = t.transpose(0, 2, 3, 1)
        n, ho, wo, c = t.shape
        y = lax.dot_general(
            t.reshape(-1, c), w[:, :, index // w.shape[3], index % w.shape[3]], (((1,), (1,)), ((), ()))
        )
        total = y if total is None else total + y
    return total.reshape(n, ho, wo, -1).transpose(0, 3, 1, 2)


def _wrap_in_batch_loop(way):
    """Return the lowering `way` as a loop over two or more slices of the batch.

    XLA fuses sums of many shifted images into every consumer and recomputes the sum for each consumer. The result of a
    loop is computed once.
    """

    def parts(x, w, g):
        n = x.shape[0]
        count = next((k for k in (2, 3, 5, 7) if n % k == 0), n)
        if count <= 1:
            return way(x, w, g)
        y = lax.map(lambda part: way(part, w, g), x.reshape(count, n // count, *x.shape[1:]))
        return y.reshape(n, *y.shape[2:])

    return parts


taps_in_parts, rows_in_parts = _wrap_in_batch_loop(taps), _wrap_in_batch_loop(rows)


def depthwise(x, w, g):
    """Convolve by a fused sum of shifted images, without a matrix product, for groups of one image channel."""
    multiplier = w.shape[0] // g.group
    if multiplier > 1:
        x = jnp.repeat(x, multiplier, axis=1)
    total = None
    for index, t in enumerate(_yield_shifted_images(x, w.shape[2:], g)):
        y = t * w[:, 0, index // w.shape[3], index % w.shape[3]][:, None, None]
        total = y if total is None else total + y
    return total


def grouped_columns(x, w, g):
    """Convolve by im2col and one matrix product that has the groups as a batch dimension."""
    o, n, groups = w.shape[0], x.shape[0], g.group
    cols = [t.reshape(n, groups, -1, t.shape[2] * t.shape[3]) for t in _yield_shifted_images(x, w.shape[2:], g)]
    ho, wo = g.output(x.shape[2:], w.shape[2:])
    cols = jnp.concatenate(cols, axis=2) if len(cols) > 1 else cols[0]
    weights = w.transpose(0, 2, 3, 1).reshape(groups, o // groups, -1)
    return jnp.einsum("gok,ngkp->ngop", weights, cols).reshape(n, o, ho, wo)
