"""msnb's operators beside real MindSpore's, on the cases of tests/golden/ops_cases.py."""

import numpy as np
import pytest
from conftest_ops import boxed, run
from ops_cases import CASES

import msnb as ms
from msnb import Tensor, ops
from msnb.ops import operations as P

# Where MindSpore 2.7.1, which gave the answers, and r1.1, which decides, differ in the element type of a result.
R11_DTYPE = {"ArgMaxWithValue": {0: np.int32}, "ArgMinWithValue": {0: np.int32}}


def cotangent(shape):
    return (np.arange(int(np.prod(shape))).reshape(shape) % 5 * 0.5 - 0.75).astype(np.float32)


def tolerance(array):
    return {"rtol": 2e-3, "atol": 2e-3} if array.dtype == np.float16 else {"rtol": 2e-5, "atol": 2e-6}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.key)
def test_an_operator_gives_what_mindspore_gives(case, golden):
    if f"{case.key}/out0" not in golden:
        pytest.skip("MindSpore 2.7.1 has no CPU kernel for this case")
    for i, got in enumerate(run(case)):
        want = golden[f"{case.key}/out{i}"]
        dtype = R11_DTYPE.get(case.op, {}).get(i, want.dtype)
        assert got.shape == want.shape
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, **tolerance(want))


@pytest.mark.parametrize("case", [c for c in CASES if c.grad], ids=lambda c: c.key)
def test_a_gradient_is_what_mindspore_gives(case, golden):
    if f"{case.key}/grad0" not in golden:
        pytest.skip("MindSpore 2.7.1 gave no gradient for this case")
    primitive = getattr(P, case.op)(**case.attributes)
    inputs = [boxed(v) for v in case.inputs]
    places = [i for i, v in enumerate(case.inputs) if isinstance(v, np.ndarray) and v.dtype.kind == "f"]

    def total(*variables):
        args = list(inputs)
        if places:
            for place, variable in zip(places, variables, strict=True):
                args[place] = variable
        else:
            args[0] = tuple(variables)
        out = primitive(*args)
        result = 0
        for o in out if isinstance(out, tuple) else (out,):
            if o.dtype in (ms.float16, ms.float32, ms.float64):
                result = result + (ops.cast(o, ms.float32) * Tensor(cotangent(o.shape))).sum()
        return result

    variables = [inputs[i] for i in places] if places else inputs[0]
    for i, got in enumerate(ops.GradOperation(get_all=True)(total)(*variables)):
        want = golden[f"{case.key}/grad{i}"]
        np.testing.assert_allclose(got.asnumpy(), want, **tolerance(want))
