"""Each example of each operator as an ONNX model: onnxruntime computes the same result, or the reason is listed."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from runtime import require_onnxruntime, run

sys.path.insert(0, str(Path(__file__).parents[2] / "ops"))

from operator_rows import ROWS, answers, boxed
from sweeps import split

from msnb import Tensor, ir
from msnb.core.operator.cases import Written
from msnb.core.tensor.pytree import flatten
from msnb.exchange.onnx import read, write

# Operators without a form in ONNX: gamma and Bessel functions, factorisations and their solvers, Fourier transforms,
# complex numbers, bits, positions in a sorted row.
FORMLESS = re.compile(
    r"its kernel uses (bessel\w+|cholesky\w*|complex|cumlogsumexp|digamma|eigh?|erf_inv|fft|householder\w*|i?gamma\w*"
    r"|igammac|lgamma|lu\w*|next_?after|polygamma|population_count|qr|geqrf|regularized_incomplete_beta|svd|zeta"
    r"|triangular_solve|bitcast_convert_type|schur)\b|complex numbers"
)
# Operators beside those, for what their kernels do with these, with windows of numbers and with steps.
NO_FORM = set("Bucketize CTCLoss DepthwiseConv2dNativeBackpropFilter NextAfter NoRepeatNGram RNNTLoss".split())
# Rows that onnxruntime does not run: its rest of a division by 0 is an error, and a scan of bits.
NOT_RUN = {"Gcd", "Lcm", "NMSWithMask"}
R11_DTYPE = {"ArgMaxWithValue", "ArgMinWithValue"}  # places of another type than those of the MindSpore that answered
FILES = sorted({row.file for row in ROWS})


def network(row):
    """Return a function of the Tensors of an example and these Tensors, or None for an in-place example."""
    inputs = row.inputs()
    leaves, rebuild = flatten([boxed(v) for v in inputs])
    positions = [i for i, v in enumerate(leaves) if isinstance(v, Tensor)]
    if any(isinstance(v, Written) for v in inputs):
        return None

    def net(*tensors):
        filled = list(leaves)
        for place, x in zip(positions, tensors, strict=True):
            filled[place] = x
        return row.call()(*rebuild(filled))

    return net, [leaves[i] for i in positions]


def results(out):
    return [r.asnumpy() for r in flatten(out)[0] if isinstance(r, Tensor)]


def is_complex(row):
    """Return True if an example has complex inputs or results. ONNX does not compute with complex numbers."""
    net, inputs = network(row)
    return any(value.dtype.kind == "c" for value in results([inputs, net(*inputs)]))


def assert_same(actual, expected):
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if b.dtype.kind not in "fV":
            np.testing.assert_array_equal(a, b)
            continue
        tolerance = 1e-2 if b.dtype.itemsize == 2 else 1e-4
        a, b = a.astype(np.float64), b.astype(np.float64)
        size = np.abs(b[np.isfinite(b)]).max(initial=1)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * size)


def expected_of(row, net, inputs):
    """Return the expected results: MindSpore's stored answer, to which test_parity.py compares msnb, or msnb's
    results.
    """
    answer = answers(row)
    stored = [answer[f"out{i}"] for i in range(len(answer)) if f"out{i}" in answer]
    exact = row.case.compared is None and row.case.tolerance is None and row.case.target.__name__ not in R11_DTYPE
    return stored if stored and exact else results(net(*inputs))


def model_of(row):
    """Return Model message, inputs and expected results, or None if the example is no network."""
    function_and_inputs = network(row)
    if function_and_inputs is None:
        return None
    net, inputs = function_and_inputs
    try:
        graph = ir.graph(net, *inputs)
    except (TypeError, ValueError, RuntimeError):  # its results have shapes that depend on values
        return None
    return write.model_of(graph), inputs, expected_of(row, net, inputs)


def check_onnxruntime(row):
    """Check an example with onnxruntime and return the result of `model_of`; None without a network or a form."""
    try:
        model_and_data = model_of(row)
    except NotImplementedError as error:
        refused = set(re.search(r"no form here for (.+?)\. ", str(error))[1].split(", "))
        assert refused <= NO_FORM or FORMLESS.search(str(error)) or is_complex(row), error
        return None
    if model_and_data is not None and row.case.target.__name__ not in NOT_RUN:
        model, inputs, expected = model_and_data
        assert_same(run(model, *(x.asnumpy() for x in inputs)), expected)
    return model_and_data


def kind_of(row):
    """Return an operator that has a lowering, or the file of one that has none."""
    target = row.case.target
    return target if has_lowering(target) else row.file


def has_lowering(target):
    return hasattr(target, "operator") and write.lowerings.get(target) is not None


FIRST, FURTHER = split(ROWS, kind_of)


@pytest.mark.parametrize("file", FILES)
def test_first_examples_run_and_are_read_back(file):
    """The loaded model computes the same, if the operator has a lowering."""
    require_onnxruntime()
    for row in (r for r in FIRST if r.file == file):
        model_and_data = check_onnxruntime(row)
        if model_and_data is not None and has_lowering(row.case.target):
            model, inputs, expected = model_and_data
            assert_same(results(read.cell_of(model)(*inputs)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted({row.file for row in FURTHER}))
def test_further_examples_run(file):
    require_onnxruntime()
    for row in (r for r in FURTHER if r.file == file):
        check_onnxruntime(row)


def test_lists_of_lowerings_and_exceptions_are_disjoint():
    operator_names = write.lowerings.coverage().present
    assert len(operator_names) >= 120 and {"Conv2D", "LSTM", "LayerNorm", "Softmax", "TensorGetItem"} <= {
        name.removeprefix("_") for name in operator_names
    }
    assert not NO_FORM & {name.removeprefix("_") for name in operator_names}
