"""Convolution: every lowering computes the same, at every order of differentiation; bad arguments are refused."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params

import msnb
from msnb import ops
from msnb.core.tensor.tensor import Tensor
from msnb.ops.nn.conv import lowering as ways
from msnb.ops.nn.conv import lowering_choice, primitive
from msnb.ops.nn.conv.lowering import Geometry
from msnb.ops.operations import _grad_ops

SHAPES = {
    "strided": ((2, 4, 9, 9), (6, 4, 3, 3), Geometry((2, 2), ((1, 1), (0, 1)), (1, 1))),
    "dilated": ((1, 3, 9, 8), (2, 3, 3, 2), Geometry((1, 1), ((2, 2), (0, 0)), (2, 1))),
    "one channel": ((2, 1, 8, 8), (3, 1, 5, 5), Geometry((1, 1), ((0, 0), (0, 0)), (1, 1))),
    "small and deep": ((1, 64, 2, 2), (8, 64, 3, 3), Geometry((1, 1), ((1, 1), (1, 1)), (1, 1))),
    "pointwise": ((2, 3, 8, 8), (4, 3, 1, 1), Geometry((2, 2), ((0, 0), (0, 0)), (1, 1))),
    "depthwise": ((2, 4, 9, 9), (8, 1, 3, 3), Geometry((1, 1), ((1, 1), (1, 1)), (1, 1), 4)),
    "strided depthwise": ((2, 4, 9, 8), (4, 1, 5, 3), Geometry((2, 3), ((2, 1), (0, 1)), (1, 2), 4)),
    "padded depthwise": ((2, 3, 4, 6), (6, 1, 2, 3), Geometry((2, 1), ((3, 2), (4, 5)), (1, 1), 3)),
    "grouped": ((2, 8, 5, 5), (6, 4, 3, 3), Geometry((1, 1), ((1, 1), (1, 1)), (2, 2), 2)),
    "many groups": ((1, 66, 3, 3), (66, 2, 2, 2), Geometry((1, 1), ((0, 0), (0, 0)), (1, 1), 33)),
}


def operands(x, w):
    r = np.random.RandomState(0)
    return jnp.asarray(r.randn(*x), jnp.float32), jnp.asarray(r.randn(*w), jnp.float32)


def close(got, want):
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-4 * float(jnp.max(jnp.abs(w))))


def scalar(conv, geometry):
    return lambda x, w: jnp.sum(jnp.sin(conv(x, w, geometry)))


@pytest.mark.parametrize("name", SHAPES)
def test_convolution_and_its_gradients_equal_those_of_xla(name):
    xs, ws, geometry = SHAPES[name]
    x, w = operands(xs, ws)
    run = lambda conv: jax.jit(jax.value_and_grad(scalar(conv, geometry), (0, 1)))(x, w)
    close(run(primitive.conv), run(ways.direct))


@pytest.mark.parametrize("name", ["strided", "strided depthwise"])
def test_derivatives_of_higher_order_and_forward_mode_equal_those_of_xla(name):
    xs, ws, geometry = SHAPES[name]
    x, w = operands(xs, ws)

    def run(conv):
        f = scalar(conv, geometry)

        def second(x, w):
            return sum(jnp.sum(g * g) for g in jax.grad(f, (0, 1))(x, w))

        def forward_over_reverse(x, w):
            return jax.jvp(lambda w: jax.grad(f)(x, w), (w,), (w,))[1]

        return jax.jit(lambda x, w: (jax.grad(second, (0, 1))(x, w), forward_over_reverse(x, w)))(x, w)

    close(run(primitive.conv), run(ways.direct))


def test_every_lowering_gives_the_same_numbers():
    xs, ws, geometry = SHAPES["strided"]
    x, w = operands(xs, ws)
    want = ways.direct(x, w, geometry)
    for way in (ways.channels_last, ways.columns, ways.rows, ways.taps, ways.taps_in_parts, ways.rows_in_parts):
        close(jax.jit(way, static_argnums=2)(x, w, geometry), want)


def test_the_choice_goes_by_shape():
    stem = (1, 3, 224, 224), (64, 3, 7, 7), Geometry((2, 2), ((3, 3), (3, 3)), (1, 1))
    assert lowering_choice.forward(*stem) is ways.direct
    assert lowering_choice.forward(*SHAPES["pointwise"]) is ways.columns
    assert lowering_choice.forward(*SHAPES["one channel"]) is ways.taps_in_parts
    assert lowering_choice.forward(*SHAPES["depthwise"]) is ways.depthwise
    assert lowering_choice.forward((8, 512, 2, 2), (512, 512, 3, 3), SHAPES["small and deep"][2]) is not ways.direct
    more_pixels_than_channels = (1, 64, 56, 56), (64, 64, 3, 3), SHAPES["small and deep"][2]
    for choose in (lowering_choice.forward, lowering_choice.input_grad, lowering_choice.filter_grad):
        assert choose(*more_pixels_than_channels) is ways.direct


def test_weights_larger_than_the_images_are_multiplied_as_they_lie():
    xs, ws = (2, 32, 3, 3), (64, 32, 3, 3)
    geometry = SHAPES["small and deep"][2]
    x, w = operands(xs, ws)

    def transposed(jaxpr):
        for eqn in jaxpr.eqns:
            if eqn.primitive.name == "transpose":
                yield eqn.outvars[0].aval.size
            for inner in jaxprs_in_params(eqn.params):
                yield from transposed(inner)

    for choose in (lowering_choice.forward, lowering_choice.input_grad, lowering_choice.filter_grad):
        way = choose(xs, ws, geometry)
        graph = jax.make_jaxpr(jax.value_and_grad(scalar(way, geometry), (0, 1)))(x, w)
        sizes = list(transposed(graph.jaxpr))
        assert way is ways.columns and sizes and w.size not in sizes


def test_a_batch_of_convolutions_under_vmap_equals_a_loop():
    x, w = operands((3, 2, 4, 6, 6), (5, 4, 3, 3))
    geometry = Geometry((1, 1), ((1, 1), (1, 1)), (1, 1))
    got = jax.vmap(lambda x: primitive.conv(x, w, geometry))(x)
    close(got, jnp.stack([ways.direct(a, w, geometry) for a in x]))


def test_the_primitive_is_exported_without_choosing():
    xs, ws, geometry = SHAPES["pointwise"]
    x, w = operands(xs, ws)
    traced = jax.jit(lambda x, w: primitive.conv(x, w, geometry)).trace(x, w)
    assert "stablehlo.convolution" in traced.lower(lowering_platforms=("tpu",)).as_text()


def test_half_precision_convolution_keeps_its_type():
    x, w = operands((1, 2, 5, 5), (3, 2, 3, 3))
    y = ops.Conv2D(3, 3)(Tensor(np.asarray(x, np.float16)), Tensor(np.asarray(w, np.float16)))
    assert y.dtype == msnb.float16
    np.testing.assert_allclose(
        y.asnumpy(), np.asarray(ways.direct(x, w, Geometry((1, 1), ((0, 0),) * 2, (1, 1)))), rtol=2e-2, atol=2e-2
    )


def test_nhwc_equals_nchw():
    x, w = operands((2, 3, 6, 6), (4, 3, 3, 3))
    want = ops.Conv2D(4, 3, pad_mode="same")(Tensor(np.asarray(x)), Tensor(np.asarray(w))).asnumpy()
    last = [Tensor(np.ascontiguousarray(np.moveaxis(np.asarray(v), 1, -1))) for v in (x, w)]
    got = ops.Conv2D(4, 3, pad_mode="same", data_format="NHWC")(*last).asnumpy()
    np.testing.assert_allclose(np.moveaxis(got, -1, 1), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "attributes, error",
    [
        ({"out_channel": 0, "kernel_size": 3}, ValueError),
        ({"out_channel": 4.0, "kernel_size": 3}, TypeError),
        ({"out_channel": 4, "kernel_size": (3, 3, 3)}, ValueError),
        ({"out_channel": 4, "kernel_size": 3, "pad_mode": "x"}, ValueError),
        ({"out_channel": 4, "kernel_size": 3, "pad": -1}, ValueError),
        ({"out_channel": 4, "kernel_size": 3, "mode": 2}, ValueError),
        ({"out_channel": 4, "kernel_size": "3"}, TypeError),
        ({"out_channel": 4, "kernel_size": 3, "pad": 1}, ValueError),
    ],
)
def test_bad_attributes_are_refused_when_the_operator_is_constructed(attributes, error):
    with pytest.raises(error, match="For 'Conv2D'"):
        ops.Conv2D(**attributes)


def test_inputs_that_do_not_fit_are_refused_with_their_shapes():
    x, w = (Tensor(np.zeros(s, np.float32)) for s in ((1, 3, 8, 8), (4, 2, 3, 3)))
    with pytest.raises(ValueError, match="3 channels"):
        ops.Conv2D(4, 3)(x, w)
    with pytest.raises(ValueError, match="larger than the padded image"):
        ops.Conv2D(4, 9)(x, Tensor(np.zeros((4, 3, 9, 9), np.float32)))
    with pytest.raises(TypeError, match="Conv2D"):
        ops.Conv2D(4, 3)(Tensor(np.zeros((1, 3, 8, 8), np.int32)), w)


def test_same_padding_puts_the_extra_pixel_after():
    x = Tensor(np.ones((1, 1, 4, 4), np.float32))
    y = ops.Conv2D(1, 2, pad_mode="same")(x, Tensor(np.ones((1, 1, 2, 2), np.float32))).asnumpy()
    assert y[0, 0].tolist() == [[4, 4, 4, 2]] * 3 + [[2, 2, 2, 1]]


def test_transposed_convolution_undoes_the_shape_of_the_forward_one():
    for stride, mode in itertools.product((1, 2), ("same", "valid")):
        x, w = Tensor(np.ones((1, 3, 7, 8), np.float32)), Tensor(np.ones((5, 3, 3, 3), np.float32))
        y = ops.Conv2D(5, 3, pad_mode=mode, stride=stride)(x, w)
        assert ops.Conv2DBackpropInput(5, 3, pad_mode=mode, stride=stride)(y, w, (1, 3, 7, 8)).shape == x.shape


def test_gradients_of_a_convolution_take_the_kernel_from_the_weights():
    """MindSpore's kernels read the shape of the weights alone; r1.1's programs give a `kernel_size` that is another."""
    rng = np.random.default_rng(0)
    x, w, dy = (Tensor(rng.normal(size=s).astype(np.float32)) for s in ((1, 1, 6, 6), (1, 1, 3, 3), (1, 1, 4, 4)))
    for size, channels in ((3, 1), (1, 4)):
        dx = ops.Conv2DBackpropInput(channels, size, pad_mode="valid")(dy, w, (1, 1, 6, 6))
        dw = _grad_ops.Conv2DBackpropFilter(channels, size, pad_mode="valid")(dy, x, (1, 1, 3, 3))
        if size == 3:
            expected = dx.asnumpy(), dw.asnumpy()
    np.testing.assert_array_equal(dx.asnumpy(), expected[0])
    np.testing.assert_array_equal(dw.asnumpy(), expected[1])


@pytest.mark.parametrize("name", ["Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose"])
def test_an_empty_batch_gives_an_empty_result(name):
    layer, sizes = getattr(msnb.nn, name)(2, 3, 2), (4,) * int(name[4])
    x = Tensor(np.zeros((0, 2, *sizes), np.float32))
    assert layer(x).shape == (0, 3, *sizes)
    gradient = ops.GradOperation(get_by_list=True)(layer, [layer.weight])(x)[0]
    assert gradient.shape == layer.weight.shape and not gradient.asnumpy().any()
