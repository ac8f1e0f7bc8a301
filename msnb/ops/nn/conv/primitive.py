"""Convolution and its two gradients as JAX primitives, closed under differentiation of any order.

    conv(x, w) -> y        input_grad(dy, w) -> dx        filter_grad(x, dy) -> dw

Each is bilinear and its transposes are the other two, so forward mode, reverse mode and every mix of them work. On CPU
each of the three chooses its lowering (`lowering_choice`) when it is lowered and the platform is known. A graph that is
exported, moved to GPU or TPU, or partitioned over several devices by XLA, gets XLA's convolution from the same jaxpr.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from msnb.core.compat.jax_private import is_partitioned
from msnb.ops.nn.conv import lowering, lowering_choice
from msnb.ops.nn.conv.lowering import Geometry, direct


def conv(x, w, geometry):
    """Convolution (cross-correlation) of `x` (N, C, H, W) with `w` (O, C / group, kh, kw)."""
    return _conv_p.bind(x, w, image=x.shape, kernel=w.shape, geometry=geometry)


def conv_input_grad(dy, w, image, geometry):
    """Gradient of `conv` with respect to its image, which has shape `image`."""
    return _input_grad_p.bind(dy, w, image=tuple(image), kernel=w.shape, geometry=geometry)


def conv_filter_grad(x, dy, kernel, geometry):
    """Gradient of `conv` with respect to its weights, which have shape `kernel`."""
    return _filter_grad_p.bind(x, dy, image=x.shape, kernel=tuple(kernel), geometry=geometry)


# One function for each primitive: its computation by a given lowering of a convolution.


def _compute_forward(x, w, *, way, geometry, **_):
    return way(x, w, geometry)


def _compute_input_grad(dy, w, *, way, image, geometry, **_):
    return lowering.compute_input_grad(way, dy, w, image, geometry)


def _compute_filter_grad(x, dy, *, way, kernel, geometry, **_):
    return lowering.compute_filter_grad(way, x, dy, kernel, geometry)


# CPU: a grouped convolution is split into its groups, and a lowering is chosen for each. `axes` are the axes of
# the two operands and of the result along which they are split.


def _make_cpu_computation(compute, choose, axes):
    def lowered(a, b, *, image, kernel, geometry):
        sizes = (*image, *kernel)
        if a.dtype != jnp.float32 or not all(isinstance(n, int) for n in sizes) or 0 in sizes:
            return compute(a, b, way=direct, image=image, kernel=kernel, geometry=geometry)
        if not lowering_choice.group_by_group(image, geometry):
            way = choose(image, kernel, geometry)
            return compute(a, b, way=way, image=image, kernel=kernel, geometry=geometry)
        n, groups = image[0], geometry.group
        image = (n, image[1] // groups, *image[2:])
        kernel = (kernel[0] // groups, *kernel[1:])
        geometry = geometry._replace(group=1)
        results = [
            lowered(*pair, image=image, kernel=kernel, geometry=geometry)
            for pair in zip(jnp.split(a, groups, axes[0]), jnp.split(b, groups, axes[1]), strict=True)
        ]
        return jnp.concatenate(results, axes[2])

    return lowered


def _make_abstract_eval(shape_of):
    def rule(a, b, *, image, kernel, geometry):
        shape = shape_of(image, kernel, geometry)
        varying = frozenset(getattr(a, "vma", ())) | frozenset(getattr(b, "vma", ()))  # over shard_map's mesh axes
        return ShapedArray(shape, a.dtype, vma=varying) if varying else ShapedArray(shape, a.dtype)

    return rule


def _compute_output_shape(image, kernel, geometry):
    return (image[0], kernel[0], *geometry.output(image[2:], kernel[2:]))


def _define_primitive(name, shape_of, compute, choose, axes):
    primitive = Primitive(name)
    anywhere = partial(compute, way=direct)
    primitive.def_impl(lambda a, b, **attributes: jax.jit(partial(primitive.bind, **attributes))(a, b))
    primitive.def_abstract_eval(_make_abstract_eval(shape_of))
    xla_lowering = mlir.lower_fun(anywhere, multiple_results=False)
    cpu_lowering = mlir.lower_fun(_make_cpu_computation(compute, choose, axes), multiple_results=False)

    def on_cpu(context, *operands, **attributes):
        # The lowerings for one device loop over slices of the batch, which would move images between devices.
        return (xla_lowering if is_partitioned(context) else cpu_lowering)(context, *operands, **attributes)

    mlir.register_lowering(primitive, xla_lowering)
    mlir.register_lowering(primitive, on_cpu, platform="cpu")

    def batch(operands, dims, **attributes):  # vmap uses XLA's convolution: its batching rule handles every case
        return jax.vmap(partial(anywhere, **attributes), dims)(*operands), 0

    batching.primitive_batchers[primitive] = batch
    return primitive


_conv_p = _define_primitive("conv", _compute_output_shape, _compute_forward, lowering_choice.forward, (1, 0, 1))
_input_grad_p = _define_primitive(
    "conv_input_grad", lambda image, kernel, geometry: image, _compute_input_grad, lowering_choice.input_grad, (1, 0, 1)
)
_filter_grad_p = _define_primitive(
    "conv_filter_grad",
    lambda image, kernel, geometry: kernel,
    _compute_filter_grad,
    lowering_choice.filter_grad,
    (1, 1, 0),
)

ad.defbilinear(
    _conv_p, lambda dy, x, w, **k: _input_grad_p.bind(dy, w, **k), lambda dy, x, w, **k: _filter_grad_p.bind(x, dy, **k)
)
ad.defbilinear(
    _input_grad_p,
    lambda ct, dy, w, **k: _conv_p.bind(ct, w, **k),
    lambda ct, dy, w, **k: _filter_grad_p.bind(ct, dy, **k),
)
ad.defbilinear(
    _filter_grad_p,
    lambda ct, x, dy, **k: _input_grad_p.bind(dy, ct, **k),
    lambda ct, x, dy, **k: _conv_p.bind(x, ct, **k),
)

__all__ = ["Geometry", "conv", "conv_filter_grad", "conv_input_grad"]
