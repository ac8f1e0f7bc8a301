"""Every row of every operator as a network of its own: onnxruntime computes what msnb does, or it is known why not."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from runtime import needed, run

sys.path.insert(0, str(Path(__file__).parents[2] / "ops"))

from operator_rows import ROWS, answers, boxed
from sweeps import split

from msnb import Tensor, ir
from msnb.core.cases import Written
from msnb.core.tree import flatten
from msnb.exchange.onnx import read, write

# What ONNX has no form for: functions of gamma and Bessel's, factorisations and what is solved by them, transforms of
# Fourier's and complex numbers, bits, places in a sorted row.
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
    """(function of the Tensors of a row, these Tensors), or None for one that is written in place."""
    inputs = row.inputs()
    leaves, rebuild = flatten([boxed(v) for v in inputs])
    places = [i for i, v in enumerate(leaves) if isinstance(v, Tensor)]
    if any(isinstance(v, Written) for v in inputs):
        return None

    def net(*tensors):
        filled = list(leaves)
        for place, x in zip(places, tensors, strict=True):
            filled[place] = x
        return row.call()(*rebuild(filled))

    return net, [leaves[i] for i in places]


def results(out):
    return [r.asnumpy() for r in flatten(out)[0] if isinstance(r, Tensor)]


def is_complex(row):
    """Whether a row takes or gives complex numbers, with which ONNX does not compute."""
    net, inputs = network(row)
    return any(value.dtype.kind == "c" for value in results([inputs, net(*inputs)]))


def same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if b.dtype.kind not in "fV":
            np.testing.assert_array_equal(a, b)
            continue
        tolerance = 1e-2 if b.dtype.itemsize == 2 else 1e-4
        a, b = a.astype(np.float64), b.astype(np.float64)
        size = np.abs(b[np.isfinite(b)]).max(initial=1)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * size)


def expected_of(row, net, inputs):
    """What a row gives: the answer of MindSpore, to which test_parity.py holds msnb, or else what msnb computes."""
    answer = answers(row)
    found = [answer[f"out{i}"] for i in range(len(answer)) if f"out{i}" in answer]
    exact = row.case.compared is None and row.case.tolerance is None and row.case.target.__name__ not in R11_DTYPE
    return found if found and exact else results(net(*inputs))


def model_of(row):
    """(Model message, inputs, what it has to compute), or None where the row is no network."""
    made = network(row)
    if made is None:
        return None
    net, inputs = made
    try:
        graph = ir.graph(net, *inputs)
    except (TypeError, ValueError, RuntimeError):  # its results have shapes that depend on values
        return None
    return write.model_of(graph), inputs, expected_of(row, net, inputs)


def computed(row):
    """What `model_of` gives for a row, once onnxruntime has computed it; None where there is no network or no form."""
    try:
        made = model_of(row)
    except NotImplementedError as error:
        refused = set(re.search(r"no form here for (.+?)\. ", str(error))[1].split(", "))
        assert refused <= NO_FORM or FORMLESS.search(str(error)) or is_complex(row), error
        return None
    if made is not None and row.case.target.__name__ not in NOT_RUN:
        model, inputs, expected = made
        same(run(model, *(x.asnumpy() for x in inputs)), expected)
    return made


def kind_of(row):
    """An operator that has a lowering of its own, and else the file, whose operators and functions are made of such."""
    target = row.case.target
    return target if has_lowering(target) else row.file


def has_lowering(target):
    return hasattr(target, "operator") and write.lowerings.get(target) is not None


FIRST, FURTHER = split(ROWS, kind_of)


@pytest.mark.parametrize("file", FILES)
def test_onnxruntime_computes_the_first_row_of_each_lowering_and_of_each_file_which_comes_back(file):
    """Read again it computes the same, where it has a lowering of its own."""
    needed()
    for row in (r for r in FIRST if r.file == file):
        made = computed(row)
        if made is not None and has_lowering(row.case.target):
            model, inputs, expected = made
            same(results(read.cell_of(model)(*inputs)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted({row.file for row in FURTHER}))
def test_onnxruntime_computes_the_further_rows_of_a_file(file):
    needed()
    for row in (r for r in FURTHER if r.file == file):
        computed(row)


def test_what_has_a_lowering_is_an_operator_and_what_has_no_form_is_listed_for_a_reason():
    known = write.lowerings.coverage().known
    assert len(known) >= 120 and {"Conv2D", "LSTM", "LayerNorm", "Softmax", "TensorGetItem"} <= {
        name.removeprefix("_") for name in known
    }
    assert not NO_FORM & {name.removeprefix("_") for name in known}
