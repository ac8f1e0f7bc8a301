"""The cases of tests/golden/ops_cases.py, and how msnb runs one."""

import pathlib
import sys

import numpy as np

import msnb as ms
from msnb import Parameter, Tensor
from msnb.ops import operations as P

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))

from ops_cases import Written  # noqa: E402


def boxed(value):
    """An input of a case as msnb takes it."""
    if isinstance(value, Written):
        return Parameter(Tensor(value.array), name="written")
    if isinstance(value, (np.ndarray, np.generic)):
        return Tensor(np.asarray(value))
    if isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
        return tuple(map(Tensor, value))
    if isinstance(value, str) and hasattr(ms, value):
        return getattr(ms, value)
    return value


def run(case):
    """Outputs of a case, a list of numpy arrays."""
    out = getattr(P, case.op)(**case.attributes)(*map(boxed, case.inputs))
    return [o.asnumpy() for o in (out if isinstance(out, (tuple, list)) else (out,))]
