"""Functions on arrays in one compiled program each: numpy's values, and the gradient that finite differences give."""

import numpy as np
import pytest
from np_face.arrays import numbers

import msnb as ms
from msnb import Tensor, context
from msnb import numpy as mnp

# f(m, x, y) with m numpy or mindspore.numpy, x of shape (2, 3), y of shape (3,).
FUNCTIONS = {
    "transpose": lambda m, x, y: m.transpose(x),
    "swapaxes": lambda m, x, y: m.swapaxes(x, 0, 1),
    "rollaxis": lambda m, x, y: m.rollaxis(x, 1),
    "moveaxis": lambda m, x, y: m.moveaxis(x, 0, -1),
    "reshape": lambda m, x, y: m.reshape(x, (3, -1)),
    "ravel": lambda m, x, y: m.ravel(x),
    "expand_dims": lambda m, x, y: m.expand_dims(x, (0, -1)),
    "squeeze": lambda m, x, y: m.squeeze(m.expand_dims(x, 1)),
    "flip": lambda m, x, y: m.flip(x) + m.flipud(x) + m.fliplr(x),
    "rot90": lambda m, x, y: m.rot90(x, 3),
    "roll": lambda m, x, y: m.roll(x, (1, 2), (0, 1)),
    "tile": lambda m, x, y: m.tile(x, (2, 1, 2)),
    "repeat": lambda m, x, y: m.repeat(x, [1, 0, 2], 1),
    "broadcast_to": lambda m, x, y: m.broadcast_to(y, (2, 3)),
    "broadcast_arrays": lambda m, x, y: m.broadcast_arrays(x, y)[1],
    "atleast_3d": lambda m, x, y: m.atleast_3d(x) + m.atleast_2d(y)[..., None] + m.atleast_1d(y[0]),
    "tril": lambda m, x, y: m.tril(x, 1) + m.triu(x),
    "diag": lambda m, x, y: m.diag(y, 1)[:3, :3] + m.diagflat(y) + m.diag(x, 1)[0],
    "diagonal": lambda m, x, y: m.diagonal(x, 1),
    "trace": lambda m, x, y: m.trace(x),
    "split": lambda m, x, y: m.split(x, [1], 1)[1] * 2 + m.hsplit(x, 3)[0] + m.array_split(x, 2, 1)[0],
    "vander": lambda m, x, y: m.vander(y, 4),
    "copy": lambda m, x, y: m.copy(x),
    "array": lambda m, x, y: m.array([y, y * 2]) + m.asarray(x),
    "concatenate": lambda m, x, y: m.concatenate((x, x * y), -1),
    "stack": lambda m, x, y: m.stack((x, x * y), 1),
    "hstack": lambda m, x, y: m.hstack((y, y[:1])),
    "vstack": lambda m, x, y: m.vstack((x, y)),
    "dstack": lambda m, x, y: m.dstack((x, x * 2)),
    "column_stack": lambda m, x, y: m.column_stack((y, m.transpose(x))),
    "append": lambda m, x, y: m.append(x, y),
    "pad": lambda m, x, y: m.pad(x, 1, "reflect") + m.pad(x, 1, constant_values=2) + m.pad(x, 1, "mean"),
    "meshgrid": lambda m, x, y: m.meshgrid(y, x[0])[1] * 2,
    "where": lambda m, x, y: m.where(x > y, x, y * 2),
    "select": lambda m, x, y: m.select([x < 1, x > 3], [x * 3, x * x]),
    "choose": lambda m, x, y: m.choose(np.array([1, 0, 1]) if m is np else [1, 0, 1], (y, y * 3)),
    "piecewise": lambda m, x, y: m.piecewise(y, [y < 2, y >= 2], [lambda v: v * 3, lambda v: v * v]),
    "take": lambda m, x, y: m.take(x, m.asarray([0, 2, 0]), 1),
    "take_along_axis": lambda m, x, y: m.take_along_axis(x, m.asarray([[0, 0], [2, 1]]), 1),
    "apply_along_axis": lambda m, x, y: m.apply_along_axis(lambda v: v[:2] * v[-1], 1, x),
    "linspace": lambda m, x, y: m.linspace(x, y, 4, axis=-1),
    "logspace": lambda m, x, y: m.logspace(x / 9, y / 9, 3, base=2.0),
    "geomspace": lambda m, x, y: m.geomspace(x + 1, y + 2, 3, endpoint=False),
    "full": lambda m, x, y: m.full((2, 3), y),
    "made of the shape": lambda m, x, y: m.arange(x.shape[1]) * y + m.zeros(x.shape) + m.ones_like(x) + m.eye(*x.shape),
    "constants": lambda m, x, y: y * m.hamming(y.shape[0]) + m.mgrid[0:2, 0:3][0] + m.linspace(0, 1, y.shape[0]),
    "index arrays": lambda m, x, y: x[m.ix_(m.asarray([1, 0]), m.asarray([0, 2]))] + m.tri(2) + m.indices((2, 2))[1],
    "full_like": lambda m, x, y: x * m.full_like(x, 2.5) + m.zeros_like(y) + m.empty_like(y) * 0,
}


def values():
    return numbers((2, 3)).astype("float64") + 0.25, numbers((3,), start=2).astype("float64") + 0.5


def slopes(function, weights, inputs):
    """Return the gradient of the weighted sum of numpy's results, by central differences."""
    results = []
    for place, x in enumerate(inputs):
        slope = np.zeros(x.shape)
        for at in np.ndindex(x.shape):
            sides = []
            for step in (1e-5, -1e-5):
                moved = [v.copy() for v in inputs]
                moved[place][at] += step
                sides.append((np.asarray(function(np, *moved), "float64") * weights).sum())
            slope[at] = (sides[0] - sides[1]) / 2e-5
        results.append(slope)
    return results


TOGETHER = 8  # functions that are one program: to compile each alone takes longer
PARTS = [list(FUNCTIONS)[i : i + TOGETHER] for i in range(0, len(FUNCTIONS), TOGETHER)]


@pytest.mark.parametrize("names", PARTS, ids=lambda names: names[0])
def test_graphs_give_numpys_values_and_the_right_gradients(names):
    inputs = values()
    expected = {name: np.asarray(FUNCTIONS[name](np, *inputs), "float64") for name in names}
    weights = {name: np.cos(np.arange(want.size)).reshape(want.shape) for name, want in expected.items()}

    def summed(name):
        def run(x, y):
            result = FUNCTIONS[name](mnp, x, y)
            return (result * Tensor(weights[name].astype("float32"))).sum(), result

        return ms.value_and_grad(run, (0, 1), has_aux=True)

    context.set_context(mode=context.GRAPH_MODE)
    boxes = [Tensor(v.astype("float32")) for v in inputs]
    output = ms.jit(lambda x, y: [summed(name)(x, y) for name in names])(*boxes)
    context.set_context(mode=context.PYNATIVE_MODE)
    for name, ((_, result), gradients) in zip(names, output, strict=True):
        assert result.shape == expected[name].shape and result.dtype == ms.float32, name
        np.testing.assert_allclose(result.asnumpy(), expected[name], rtol=1e-5, atol=1e-5, err_msg=name)
        for got, slope in zip(gradients, slopes(FUNCTIONS[name], weights[name], inputs), strict=True):
            np.testing.assert_allclose(got.asnumpy(), slope, rtol=2e-4, atol=2e-4, err_msg=name)
        plain = FUNCTIONS[name](mnp, *boxes).asnumpy()
        np.testing.assert_allclose(plain, result.asnumpy(), rtol=1e-6, atol=1e-6, err_msg=name)


def test_pynative_gradients_are_those_of_the_graph():
    context.set_context(mode=context.PYNATIVE_MODE)
    function, inputs = FUNCTIONS["select"], values()
    gradients = ms.grad(lambda x, y: function(mnp, x, y).sum(), (0, 1))(*(Tensor(v.astype("float32")) for v in inputs))
    for got, slope in zip(gradients, slopes(function, 1.0, inputs)):
        np.testing.assert_allclose(got.asnumpy(), slope, rtol=2e-4, atol=2e-4)
