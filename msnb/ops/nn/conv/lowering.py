"""Lowerings (implementations) of a convolution of NCHW images with OIHW weights. All give the same result up to
rounding.

Each takes `(x, w, g)` with `g` a `Geometry`, and is linear in `x` and in `w`: the two gradients are its transposes.
Those of `depthwise` are written out, because XLA compiles them to fewer and faster kernels.
"""

from typing import NamedTuple

import jax
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
    total = None
    for index, t in enumerate(_yield_shifted_images(_repeat_channels(x, w.shape, g), w.shape[2:], g)):
        y = t * w[:, 0, index // w.shape[3], index % w.shape[3]][:, None, None]
        total = y if total is None else total + y
    return total


def _repeat_channels(x, kernel, g):
    multiplier = kernel[0] // g.group
    return jnp.repeat(x, multiplier, axis=1) if multiplier > 1 else x


def _depthwise_input_grad(dy, w, image, g):
    """Convolve `dy` with the mirrored weights: one fused sum. The transpose adds one padded image for each tap."""
    before = [d * (k - 1) - p for k, (p, _), d in zip(w.shape[2:], g.padding, g.dilation, strict=True)]
    after = [
        n + d * (k - 1) - first - (m - 1) * s - 1
        for n, k, first, m, s, d in zip(image[2:], w.shape[2:], before, dy.shape[2:], g.stride, g.dilation, strict=True)
    ]
    edges = [(0, 0, 0), (0, 0, 0), *((b, a, s - 1) for b, a, s in zip(before, after, g.stride, strict=True))]
    dy = lax.pad(dy, jnp.zeros((), dy.dtype), edges)
    dx = depthwise(dy, w[:, :, ::-1, ::-1], Geometry((1, 1), ((0, 0), (0, 0)), g.dilation, w.shape[0]))
    return dx if dx.shape == image else dx.reshape(image[0], image[1], -1, *image[2:]).sum(2)


def _depthwise_filter_grad(x, dy, kernel, g):
    """Sum the products of `dy` and each shifted image, the rows of all taps in one kernel.

    Adding the sums of rows afterwards rounds less than adding all pixels in order.
    """
    products = [t * dy for t in _yield_shifted_images(_repeat_channels(x, kernel, g), kernel[2:], g)]
    zeros = [jnp.zeros((), dy.dtype)] * len(products)
    rows = lax.reduce(products, zeros, lambda a, b: [p + q for p, q in zip(a, b, strict=True)], (3,))
    return jnp.stack(rows, -1).sum((0, 2)).reshape(kernel)


def grouped_columns(x, w, g):
    """Convolve by im2col and one matrix product that has the groups as a batch dimension."""
    o, n, groups = w.shape[0], x.shape[0], g.group
    cols = [t.reshape(n, groups, -1, t.shape[2] * t.shape[3]) for t in _yield_shifted_images(x, w.shape[2:], g)]
    ho, wo = g.output(x.shape[2:], w.shape[2:])
    cols = jnp.concatenate(cols, axis=2) if len(cols) > 1 else cols[0]
    weights = w.transpose(0, 2, 3, 1).reshape(groups, o // groups, -1)
    return jnp.einsum("gok,ngkp->ngop", weights, cols).reshape(n, o, ho, wo)


def compute_input_grad(way, dy, w, image, g):
    """Return the gradient of the lowering `way` with respect to its image, which has shape `image`."""
    if way is depthwise:
        return _depthwise_input_grad(dy, w, image, g)
    return jax.linear_transpose(lambda x: way(x, w, g), jax.ShapeDtypeStruct(image, dy.dtype))(dy)[0]


def compute_filter_grad(way, x, dy, kernel, g):
    """Return the gradient of the lowering `way` with respect to its weights, which have shape `kernel`."""
    if way is depthwise:
        return _depthwise_filter_grad(x, dy, kernel, g)
    return jax.linear_transpose(lambda w: way(x, w, g), jax.ShapeDtypeStruct(kernel, dy.dtype))(dy)[0]
