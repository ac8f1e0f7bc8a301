"""Operators of neural networks give MindSpore's outputs, types, gradients and in-place updates."""

import importlib.util
import pathlib

import numpy as np
import pytest

import msnb
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor

_path = pathlib.Path(__file__).parents[1] / "golden" / "make_nn_ops.py"
_spec = importlib.util.spec_from_file_location("make_nn_ops", _path)
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)

STORE = dict(np.load(golden.FILE))
KNOWN = {key.split("/")[0] for key in STORE}


def operator_of(case):
    if case.cls.startswith("ops."):
        form = getattr(msnb.ops, case.cls[4:])
        return lambda *args: form(*args, **case.attrs)
    return getattr(msnb.ops, case.cls)(**case.attrs)


def boxes_of(case):
    boxes = [Tensor(v) if isinstance(v, np.ndarray) else v for v in case.inputs()]
    for i in case.writes:
        boxes[i] = Parameter(boxes[i], name=f"p{i}")
    return boxes


def compare(case, name, got):
    want = STORE[f"{case.key}/{name}"]
    got = got.asnumpy()
    assert got.shape == want.shape, name
    assert got.dtype == want.dtype, name
    scale = max(np.abs(want[np.isfinite(want)]).max(initial=1.0), 1.0) if want.dtype.kind == "f" else 1
    np.testing.assert_allclose(got, want, rtol=case.tol, atol=case.tol * scale, err_msg=name)


@pytest.mark.parametrize("case", [c for c in golden.CASES if c.key in KNOWN], ids=lambda c: c.key)
def test_operator_equals_mindspore(case):
    op = operator_of(case)
    boxes = boxes_of(case)
    out = op(*boxes)
    single = not isinstance(out, tuple)
    outs = (out,) if single else out
    for name in STORE:
        key, _, part = name.partition("/")
        if key == case.key and part.startswith("out"):
            compare(case, part, outs[int(part[3:])])
        elif key == case.key and part.startswith("written"):
            compare(case, part, boxes[int(part[7:])])
    if case.wrt is None:
        return
    fixed = boxes_of(case)

    def fn(*args):
        full = list(fixed)
        for i, a in zip(case.wrt, args, strict=True):
            full[i] = a
        result = op(*full)
        return result if single else result[case.of]

    sens = Tensor(case.cotangent(outs[case.of].shape, outs[case.of].asnumpy().dtype))
    grads = msnb.ops.GradOperation(get_all=True, sens_param=True)(fn)(*[fixed[i] for i in case.wrt], sens)
    for i, g in zip(case.wrt, grads, strict=True):
        compare(case, f"grad{i}", g)
