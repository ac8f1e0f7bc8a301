"""The functions of mindspore.numpy have MindSpore's names and arguments, and give MindSpore's element types."""

import inspect
import json
import re
from pathlib import Path

import jax
import numpy as np
import pytest

from msnb import Tensor
from msnb import numpy as mnp
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import box

GOLDEN = Path(__file__).parents[1] / "golden"
TYPES = json.loads((GOLDEN / "numpy_types.json").read_text(encoding="utf-8"))
ARGUMENTS = json.loads((GOLDEN / "numpy_arguments.json").read_text(encoding="utf-8"))
PUBLIC = json.loads((GOLDEN / "mindspore_names.json").read_text(encoding="utf-8"))["2.7.1"]["mindspore.numpy"].split()
LETTER = dict(
    zip(("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), "?bhilBHIL", strict=True),
    float16="e",
    float32="f",
    float64="d",
)
LETTERS = "".join(LETTER.values())
FLOATS = "efd"

# Where msnb keeps to numpy, and why.
WIDER = "a floating point type stays what it is: MindSpore computes all in float32, and cuts float64"
BOOL = "bool counts as int32; MindSpore gives bool, or int64"
WHOLE = "whole numbers alone have divisors, as in numpy"
UNLIKE = {
    **dict.fromkeys(("cbrt", "ceil", "fix", "trunc", "nanstd", "nanvar", "trapz", "cov", "corrcoef"), WIDER),
    **dict.fromkeys(("gradient", "norm", "unwrap", "divide", "true_divide"), WIDER),
    **dict.fromkeys(("nansum", "fmod", "mod", "remainder", "polyadd", "polysub", "polymul"), BOOL),
    **dict.fromkeys(("digitize", "searchsorted"), BOOL),
    **dict.fromkeys(("gcd", "lcm"), WHOLE),
    "correlate": "integers count as float32, as everywhere; MindSpore has float64 for int64",
}


def given(name, result, *letters):
    """Whether a difference is one of those that have a reason."""
    reason = UNLIKE.get(name)
    if reason is WIDER:  # float64 is kept, float16 is kept, what meets float64 is float64
        return set(letters) & set(FLOATS) or result == "d"
    if reason is BOOL:
        return "?" in letters
    return reason is not None


def first_of(result):
    return result[0] if isinstance(result, (tuple, list)) else result


def letter(call, *arrays):
    """The element type of a result. It is there once the call has been traced; only what cannot be is run."""

    def traced(*given):
        with trace_state.TraceFrame():
            return first_of(call(*map(box, given)))._array

    try:
        return LETTER[jax.eval_shape(traced, *arrays).dtype.name]
    except Exception:  # its shape depends on values, or it refuses, which is for the call itself to say
        return LETTER[str(first_of(call(*map(Tensor, arrays))).dtype).lower()]


X = {t: np.array([1, 0, 1]).astype(t) for t in LETTER}
Y = {t: np.array([1, 1, 1]).astype(t) for t in LETTER}
ONE = [n for n, row in TYPES.items() if len(row) == len(LETTER) and n in mnp.__all__]
TWO = [n for n, row in TYPES.items() if len(row) == len(LETTER) ** 2 and n in mnp.__all__ and n != "promote_types"]


@pytest.mark.parametrize("name", ONE)
def test_a_function_of_one_tensor_gives_mindspores_element_type(name):
    wrong = []
    for dtype, expected in zip(LETTER, TYPES[name], strict=True):
        if expected != "-":
            refused = UNLIKE.get(name) is WHOLE and LETTER[dtype] in FLOATS
            found = "-" if refused else letter(getattr(mnp, name), X[dtype])
            if found != expected and not given(name, found, LETTER[dtype]):
                wrong.append(f"{dtype}: {found}, not {expected}")
    assert not wrong, wrong


def test_a_call_has_the_element_type_that_its_trace_has():
    for name in ("add", "divide", "logical_and", "power"):
        for s, t in PAIRS:
            result = getattr(mnp, name)(Tensor(X[s]), Tensor(Y[t]))
            assert letter(getattr(mnp, name), X[s], Y[t]) == LETTER[str(result.dtype).lower()], (name, s, t)


# Pairs that tell the rules apart: each type with itself, and where kinds and widths meet.
PAIRS = [(t, t) for t in LETTER] + [
    ("bool", "int8"),
    ("int8", "uint8"),
    ("int32", "uint32"),
    ("int32", "float16"),
    ("float16", "float32"),
    ("float32", "float64"),
    ("uint64", "int8"),
]


@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_tensors_gives_mindspores_element_type(name):
    order = list(LETTER)
    wrong = []
    for s, t in PAIRS:
        expected = TYPES[name][order.index(s) * len(order) + order.index(t)]
        if expected == "-":
            continue
        try:
            found = letter(getattr(mnp, name), X[s], Y[t])
        except TypeError:
            found = "-"
        if found != expected and not given(name, found, LETTER[s], LETTER[t]):
            wrong.append(f"{s}, {t}: {found}, not {expected}")
    assert not wrong, wrong


def test_any_two_element_types_meet_where_mindspore_has_them_meet():
    from msnb.common import dtype as mstype
    from msnb.core.operator.array_like import promote_types

    wrong = []
    for i, s in enumerate(LETTER):
        for j, t in enumerate(LETTER):
            a, b = (mstype.from_numpy_dtype(np.dtype(n)) for n in (s, t))
            found = LETTER[str(promote_types(a, b)).lower()]
            if found != TYPES["promote_types"][i * len(LETTER) + j]:
                wrong.append((s, t, found))
    # 2.7.1 cuts float64 where it meets uint16, and no other type
    assert wrong == [("uint16", "float64", "d"), ("float64", "uint16", "d")]


def test_every_public_name_is_there():
    assert not set(PUBLIC) - set(mnp.__all__)


def test_nothing_is_public_that_mindspore_does_not_have():
    more = {"uint", "inf", "PINF", "NINF", "nan", "pi", "numeric_types", "around", "round", "matrix_power", "copy"}
    assert set(mnp.__all__) - set(PUBLIC) <= more


def argued():
    """The functions whose arguments are compared; `empty_like` is `zeros_like` still, whose first one is `a`."""
    for name in sorted(set(ARGUMENTS) & set(mnp.__all__)):
        yield pytest.param(name, marks=[pytest.mark.xfail(strict=True)] if name == "empty_like" else [])


@pytest.mark.parametrize("name", list(argued()))
def test_a_function_takes_mindspores_arguments(name):
    theirs = re.findall(r"(?:^|, )\**(\w+)(?=[=,]|$)", ARGUMENTS[name])
    assert list(inspect.signature(getattr(mnp, name)).parameters) == theirs


@pytest.mark.parametrize(
    "value, dtype, shape",
    [
        (1, "Int32", ()),
        (True, "Bool", ()),
        (2.5, "Float32", ()),
        ([1, 2], "Int32", (2,)),
        ([[1, 2], [3, 4.0]], "Float32", (2, 2)),
        ((True, False), "Bool", (2,)),
        (3 * 10**9, "Int64", ()),
        ([], "Float32", (0,)),
        ([Tensor(np.float32(1)), 2], "Float32", (2,)),
    ],
)
def test_numbers_and_lists_are_narrow(value, dtype, shape):
    found = mnp.positive(value)
    assert (str(found.dtype), found.shape) == (dtype, shape)


@pytest.mark.parametrize(
    "error, says, value",
    [
        (TypeError, "wrap it: Tensor(x)", np.ones(2)),
        (TypeError, "got None", None),
        (TypeError, "should hold numbers", ["a"]),
        (ValueError, "nested unevenly", [[1], [1, 2]]),
        (ValueError, "one shape", [Tensor(np.ones(2)), 1]),
    ],
)
def test_what_is_no_array_is_refused_by_the_functions_name(error, says, value):
    with pytest.raises(error, match=r"^For 'sin', .*'x'") as caught:
        mnp.sin(value)
    assert says in str(caught.value)


@pytest.mark.parametrize("dtype", ["float16", "Float16", np.float16, np.dtype("float16"), mnp.float16])
def test_the_type_of_the_result_is_said_in_any_of_numpys_ways(dtype):
    assert mnp.add(1, [2, 3], dtype).dtype == mnp.float16
    with pytest.raises(TypeError, match="For 'add', 'dtype'"):
        mnp.add(1, 2, dtype=str)


def test_python_types_are_those_of_32_bits():
    assert mnp.add(1, 2.0, int).dtype == mnp.int32 and mnp.add(1, 2, float).dtype == mnp.float32
    assert mnp.int_ == mnp.int32 and mnp.float_ == mnp.float32 and mnp.uint == mnp.uint32
