"""NaN and infinity: they reach what depends on their place, and nothing else."""

import jax
import numpy as np
import pytest
from operator_rows import ROWS, boxed
from sweeps import split, swept

from msnb import Parameter, Tensor, context, ops
from msnb.core.operator.cases import Written
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import box
from msnb.ops import operations as P

NAN, INF = float("nan"), float("inf")
OF_TARGETS, _ = split(ROWS, lambda row: row.case.target)
# Operators whose formula multiplies by a 0 that the finite numbers do not show.
MIXING = {
    "FloatStatus": "it looks for NaN and infinity",
    "CholeskyInverse": "a system is solved by substitution",
    "HSVToRGB": "the hue is multiplied by a saturation of 0",
    "ctc_loss": "its second result holds sums over all paths",
    "Conv3DBackpropInput": "its first input is the weight, which meets the zeros between the strides",
    "ResizeBilinearGrad": "a gradient is a product with the matrix of the weights",
    "ROIAlign": "samples without a number are products with matrices",
    "_RegionAlign": "samples for each pixel are products with matrices",
}


def pure_call(row):
    """Return (function of one array, that array): the results of a row for its first float Tensor; None if it has
    none."""
    inputs = [boxed(value) if isinstance(value, Written) else value for value in row.inputs()]
    leaves, rebuild = flatten(inputs)
    positions = [i for i, v in enumerate(leaves) if isinstance(v, np.ndarray) and v.dtype == np.float32 and v.size]
    if not positions or any(isinstance(value, Parameter) for value in inputs):
        return None
    leaves = [Tensor(v) if isinstance(v, np.ndarray) else v for v in leaves]
    array, call = np.asarray(leaves[positions[0]]._array), row.call()

    def results(array):
        filled = list(leaves)
        filled[positions[0]] = box(array)
        with trace_state.TraceFrame([], []):
            out = call(*rebuild(filled))
        return [leaf._array for leaf in flatten(out)[0] if isinstance(leaf, Tensor)]

    return results, array


def is_movable(row):
    return row.case.target.__name__ not in MIXING and "graph" not in row.case.left_out and pure_call(row) is not None


@pytest.mark.parametrize(
    "row", swept(list(filter(is_movable, OF_TARGETS)), lambda row: row.file), ids=lambda row: row.text
)
def test_what_does_not_depend_on_an_element_stays_when_it_is_not_finite(row):
    results, array = pure_call(row)
    compiled = jax.jit(results)

    def with_first(value):
        changed = array.copy()
        changed.flat[0] = value
        return [np.asarray(result) for result in compiled(changed)]

    usual = with_first(array.flat[0])
    finite = [with_first(value) for value in (0.0, 1e3, -1e3, array.flat[0] + 0.01, array.flat[0] - 0.01)]
    special = [with_first(value) for value in (NAN, INF, -INF)]
    for place, result in enumerate(usual):
        if result.dtype.kind not in "fc":
            continue
        independent = np.all([are_equal(other[place], result) for other in finite], 0)
        spread = independent & ~np.all([are_equal(other[place], result) for other in special], 0)
        assert not spread.any(), f"result {place}: {[other[place] for other in special]}"


def are_equal(a, b):
    return (a == b) | (np.isnan(a) & np.isnan(b))


ROW = np.array([[1, NAN, 3, 2], [4, 3, 2, 1]], np.float32)
IMAGE = np.array([1, NAN, 3, 2, 4, 5, 6, 7, 1, 2, 3, 2, 4, 5, 6, 7], np.float32).reshape(1, 1, 4, 4)
REDUCTIONS = {
    "max": (lambda x: ops.max(x, 1)[0], [NAN, 4]),
    "min": (lambda x: ops.min(x, 1)[0], [NAN, 1]),
    "amax": (lambda x: ops.amax(x, 1), [NAN, 4]),
    "ReduceMin": (lambda x: P.ReduceMin()(x, 1), [NAN, 1]),
    "argmax": (lambda x: ops.argmax(x, 1), [1, 0]),
    "argmin": (lambda x: ops.argmin(x, 1), [1, 3]),
    "median": (lambda x: ops.median(x, 1)[0], [NAN, 2]),
    "place of the median": (lambda x: ops.median(x, 1)[1], [1, 2]),
    "nanmedian": (lambda x: ops.nanmedian(x, 1)[0], [2, 2]),
    "quantile": (lambda x: ops.quantile(x, 0.5, 1), [NAN, 2.5]),
    "cummax": (lambda x: ops.cummax(x, 1)[0][:, 3], [NAN, 4]),
    "topk": (lambda x: ops.topk(x, 2, 1)[0], [[NAN, 3], [4, 3]]),
    "sort": (lambda x: ops.sort(x, 1)[0], [[1, 2, 3, NAN], [1, 2, 3, 4]]),
    "norm": (lambda x: ops.norm(x, INF, 1), [NAN, 4]),
    "dist": (lambda x: ops.dist(x[0], x[1]), NAN),
    "cdist": (lambda x: ops.cdist(x, x[1:])[:, 0], [NAN, 0]),
    "cdist of order 3": (lambda x: ops.cdist(x, x[1:], 3.0)[:, 0], [NAN, 0]),
    "cosine": (lambda x: ops.cosine_similarity(x, x), [NAN, 1]),
    "softshrink": (lambda x: ops.softshrink(x)[0], [0.5, NAN, 2.5, 1.5]),
    "threshold": (lambda x: ops.threshold(x, 1.5, 0.0)[0], [0, NAN, 3, 2]),
    "clamp": (lambda x: ops.clamp(x, 1.5, 2.5)[0], [1.5, NAN, 2.5, 2]),
    "relu6": (lambda x: ops.relu6(x)[0], [1, NAN, 3, 2]),
    "xlogy": (lambda x: ops.xlogy(x * 0, x)[0, 1:], [NAN, 0, 0]),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_what_depends_on_a_nan_is_a_nan(name, mode):
    context.set_context(mode=mode)
    call, answer = REDUCTIONS[name]
    np.testing.assert_allclose(call(Tensor(ROW)).asnumpy(), np.array(answer, np.float32), rtol=1e-6)


@pytest.mark.parametrize(
    "pool",
    [
        lambda x: ops.max_pool2d(x, 2),
        lambda x: P.MaxPoolWithArgmax(2, 2)(x)[0],
        lambda x: ops.adaptive_max_pool2d(x, 2),
        lambda x: P.ReLUV2()(x)[0][:, :, ::2, 1::2],
    ],
    ids=["max_pool2d", "MaxPoolWithArgmax", "adaptive_max_pool2d", "ReLUV2"],
)
def test_a_window_with_a_nan_is_a_nan(pool):
    assert np.isnan(pool(Tensor(IMAGE)).asnumpy()).ravel().tolist() == [True, False, False, False]


def test_complex_numbers_keep_an_infinite_part():
    assert ops.polar(Tensor([INF]), Tensor([1.0])).asnumpy()[0] == complex(INF, INF)
    assert P.Complex()(Tensor([1.0]), Tensor([INF])).asnumpy()[0] == complex(1, INF)
