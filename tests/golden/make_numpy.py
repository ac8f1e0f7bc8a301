"""Asks real MindSpore what arguments the functions of `mindspore.numpy` take, and which element types they give, for
numpy_arguments.json and numpy_types.json beside this.

    ORACLE/bin/python tests/golden/make_numpy.py

ORACLE is a virtual environment with mindspore 2 for the CPU. An entry is a string with one letter for each element type
of TYPES, for a function of two Tensors with one for each pair of them, row by row: the letter of the result's type, and
"-" where MindSpore refuses. A last list has the promotion of each pair, as `promote_types` tells it.
"""

import inspect
import json
import pathlib

import numpy as np

import mindspore as ms
from mindspore import numpy as mnp

TYPES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "l",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "L",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}
UNARY = (
    "abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad exp exp2 expm1 fabs fix "
    "floor invert bitwise_not isfinite isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative "
    "positive rad2deg radians reciprocal rint sign signbit sin sinh sqrt square tan tanh trunc around "
    "sum mean std var ptp amax amin average count_nonzero cumsum cumprod nancumsum nanmax nanmin nansum nanmean nanstd "
    "nanvar diff ediff1d trapz cov corrcoef gradient norm polyder polyint unwrap sometrue bincount "
    "argmax histogram sort"
).split()
BINARY = (
    "add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide divmod equal float_power floor_divide fmod gcd "
    "greater greater_equal heaviside hypot lcm less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor "
    "maximum minimum mod multiply not_equal power remainder subtract true_divide isclose "
    "inner dot outer tensordot matmul kron convolve correlate polyadd polysub polymul polyval array_equal array_equiv "
    "digitize searchsorted"
).split()


def letter(result):
    """Return the letter of a result's element type: of the first one of several."""
    result = result[0] if isinstance(result, (tuple, list)) else result
    return TYPES.get(str(result.dtype).lower(), "c") if isinstance(result, ms.Tensor) else "p"


def letter_of(function, *arrays):
    """Return the letter of what `function` gives for arrays."""
    try:
        result = function(*[ms.Tensor(a) for a in arrays])
        output = letter(result)
        (result[0] if isinstance(result, (tuple, list)) else result).asnumpy()
    except Exception:
        return "-"
    return output


def main():
    """Ask, and write the file."""
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)
    x = {t: np.array([1, 0, 1]).astype(t) for t in TYPES}
    y = {t: np.array([1, 1, 1]).astype(t) for t in TYPES}
    results = {n: "".join(letter_of(getattr(mnp, n), x[t]) for t in TYPES) for n in UNARY if hasattr(mnp, n)}
    for name in BINARY:
        results[name] = "".join(letter_of(getattr(mnp, name), x[s], y[t]) for s in TYPES for t in TYPES)
    types = {t: getattr(ms, t if t != "bool" else "bool_") for t in TYPES}
    results["promote_types"] = "".join(
        TYPES[str(mnp.promote_types(types[s], types[t])).lower()] for s in TYPES for t in TYPES
    )
    write("numpy_types.json", results)
    write("numpy_arguments.json", {n: arguments(v) for n, v in sorted(vars(mnp).items()) if inspect.isfunction(v)})


def arguments(function):
    """Return the arguments of a function as one would write them, without annotations."""
    taken = inspect.signature(function).parameters.values()
    return ", ".join(str(p.replace(annotation=p.empty)) for p in taken)


def write(name, result):
    """A JSON file with a line for each entry."""
    lines = ",\n".join(f"  {json.dumps(n)}: {json.dumps(v)}" for n, v in result.items())
    pathlib.Path(__file__).with_name(name).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
