"""Gradients at kinks, ends, ties and zeros are MindSpore's (golden/make_kinks.py)."""

import json

import make_kinks
import numpy as np
import pytest
from kink_cases import CASES

import msnb as ms
from msnb import Tensor, context, nn, ops

GOLDEN = json.loads(make_kinks.FILE.read_text())
FIRST = "r1.1: of two equal operands the first has the whole gradient; 2.7.1 halves it"
# Cases in which msnb differs from MindSpore 2.7.1, with the reason.
OTHERWISE = {
    "P.Maximum()(x, y)": FIRST,
    "P.Minimum()(x, y)": FIRST,
    "ops.clip_by_value(x, Tensor(-1.0), Tensor(1.0))": FIRST,
    "ops.hardtanh(x)": FIRST,
    "ops.leaky_relu(x, 0.2)": FIRST,
    "ClipByNorm at its bound": FIRST,
    "ClipByNorm of zeros": "nothing is clipped, so the gradient is 1; 2.7.1 divides 0 by 0",
    "P.Xlogy()(x, y)": "0 * log(y) is 0 for every y; 2.7.1 gives nan at y = 0",
    "P.Mod()(x, y)": "the slope in y is the truncated quotient; 2.7.1 takes the floored one",
    "P.Pow()(x, y)": "0 ** y is 0 for every y > 0; 2.7.1 gives nan there, and 0 where (-1) ** y is undefined",
    "P.CumProd()(x, 1)": "a product's slope in a factor is that of the others, 0 or not; 2.7.1 divides by the factor",
    "P.L2Normalize(1)(x)": "where the sum is below epsilon, x is divided by sqrt(epsilon); 2.7.1's gradient by epsilon",
    "ops.var(x, 1)": "(x - mean) / n is 0 for equal elements; 2.7.1 gives nan",
    "ops.hypot(x, y)": "2.7.1 gives nan at the origin",
    "ops.norm(x, ord=float('inf'), dim=1)": "equal largest magnitudes share the gradient, as in ReduceMax",
}


ANSWERED = [key for key in CASES if key in GOLDEN and key not in OTHERWISE]
TOGETHER = 12  # cases that are one program: to compile each alone takes longer


@pytest.mark.parametrize("start", range(0, len(ANSWERED), TOGETHER))
def test_gradients_at_kinks_are_mindspores(start):
    keys = ANSWERED[start : start + TOGETHER]
    result = ms.ms_function(lambda *inputs: [make_kinks.slopes(ms, k)(*x) for k, x in zip(keys, inputs, strict=True)])(
        *(tuple(map(Tensor, CASES[key][1])) for key in keys)
    )
    for key, gradients in zip(keys, result, strict=True):
        for got, want in zip(gradients, GOLDEN[key], strict=True):
            # MindSpore's tanh on the CPU is an approximation, and so are its users.
            np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-3, atol=3e-5, err_msg=key)


@pytest.mark.parametrize("key", [key for key in OTHERWISE if OTHERWISE[key] is FIRST and "(x, y)" in key])
def test_of_equal_operands_the_first_has_the_complete_gradient(key):
    first, second = make_kinks.gradients(ms, key)
    assert [(first[i], second[i]) for i in (0, 5)] == [(1, 0), (1, 0)]


@pytest.mark.parametrize("key", ["P.CumProd()(x, 1)", "ops.var(x, 1)", "ClipByNorm of zeros"])
def test_a_gradient_that_exists_is_a_number(key):
    assert all(np.isfinite(gradient).all() for gradient in make_kinks.gradients(ms, key))


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
@pytest.mark.parametrize("choose", [max, min])
def test_pythons_max_and_min_give_the_gradient_to_the_first_of_equal_tensors(choose, mode):
    context.set_context(mode=mode)

    class Choose(nn.Cell):
        def construct(self, x, y):
            return choose(x, y)

    first, second = ops.GradOperation(get_all=True)(Choose())(Tensor(2.0), Tensor(2.0))
    assert (float(first), float(second)) == (1, 0)


def test_the_magnitude_of_a_complex_number_keeps_its_gradient():
    x = Tensor(np.array([3 + 4j, -1j], np.complex64))
    np.testing.assert_allclose(ops.Abs()(x).asnumpy(), [5, 1])
    np.testing.assert_allclose(ops.Abs()(Tensor(np.array([-128, 0, 7], np.int8))).asnumpy(), [-128, 0, 7])
    assert np.isnan(ops.Abs()(Tensor(np.nan)).asnumpy()) and ops.Abs()(Tensor(-np.inf)).asnumpy() == np.inf
