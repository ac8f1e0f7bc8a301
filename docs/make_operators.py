"""Write `docs/operators.md`: every operator, its functions and methods, and its test cases.

    python docs/make_operators.py            writes the page; half a minute
    python docs/make_operators.py --check    fails if names or cases of the stored page are out of date

Names come from the declarations, cases from the rows at the end of each file of operators
(`msnb/core/operator/cases.py`).
Trials determine the element types: the first row of an operator runs with other types of its first input and of all
inputs with the same type.
"""

import sys
from collections import defaultdict
from pathlib import Path

import jax
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "ops"))

from operator_rows import ROWS, answers, boxed, declared  # noqa: E402

import msnb as ms  # noqa: E402
import msnb.numpy  # noqa: E402
from msnb.core.operator.cases import Written  # noqa: E402
from msnb.core.operator.declare import SPELLINGS  # noqa: E402
from msnb.core.tensor.pytree import flatten  # noqa: E402
from msnb.core.tensor.tensor import (  # noqa: E402
    Tensor,
    box,
)
from msnb.exchange.mindir import operator_mappings as _forms  # noqa: E402, F401 - fills the table
from msnb.exchange.mindir.operators import forms as mindir_forms  # noqa: E402
from msnb.exchange.onnx.write import lowerings as onnx_lowerings  # noqa: E402

PAGE = ROOT / "docs" / "operators.md"
TYPES = {  # the letters of a group -> its element types
    "b": [ms.bool_],
    "i": [ms.int8, ms.int16, ms.int32, ms.int64],
    "u": [ms.uint8, ms.uint16, ms.uint32, ms.uint64],
    "f": [ms.float16, ms.bfloat16, ms.float32, ms.float64],
    "c": [ms.complex64],
}
FILES = {"MINDIR": mindir_forms, "ONNX": onnx_lowerings}  # format -> what its operators become
HEAD = """# Operators

{count} operators, {names} names. XLA compiles them for CPU, GPU and TPU.
`python docs/make_operators.py` writes this page.

- **Written as**: functions, methods of Tensor, and functions of `mindspore.numpy` that call the operator, and no other.
- **Element types** that the first input of the operator's first case accepts: `b` bool, `i` int8 to int64, `u` uint8 to
  uint64, `f` float16, bfloat16, float32, float64, `c` complex64. An incomplete group is listed type by type.
- **Gradient**: yes if a float result has a gradient for the first float input.
- **Cases** run in both modes. The second number counts the cases that are compared with MindSpore 2.7.1 in value, type
  and gradient. The others are compared with numpy, with a formula, or between the modes.
- **Files**: formats that the operator can be exported to. ONNX is listed if the operator has its own ONNX form. Most
  other operators are exported as the operators that their kernels compute.

| operator | written as | element types | gradient | cases | files |
|---|---|---|---|---|---|
"""


def names():
    """{class: [how it may be written]}."""
    found = defaultdict(list)
    for kind, name, _ in sorted(SPELLINGS):
        spelling = next(s for (k, n, _), s in SPELLINGS.items() if (k, n) == (kind, name))
        if len(spelling.operators) == 1 and not name.startswith("_"):
            shown = {"function": f"ops.{name}", "method": f".{name}", "numpy": f"numpy.{name}"}.get(kind)
            if shown and shown not in found[spelling.operators[0]]:
                found[spelling.operators[0]].append(shown)
    return found


def columns(cls, rows, spellings):
    """The cells of one row that a check compares: name, spellings, cases, files."""
    compared = sum(bool(answers(row)) for row in rows)
    said = ", ".join(f"`{s}`" for s in spellings)
    cases = f"{len(rows)}, {compared} beside MindSpore" if rows else "by distribution"
    return f"`{cls.__name__}`", said, cases, ", ".join(name for name, table in FILES.items() if cls in table)


def kinds(row):
    """Groups of element types that the first input may have, as text."""
    leaves, rebuild = flatten([getattr(v, "value", v) for v in row.inputs()])
    first = next((v.dtype for v in leaves if isinstance(v, np.ndarray)), None)
    if first is None or any(isinstance(v, Written) for v in row.inputs()):
        return str(first or "")
    found = []
    for letter, types in TYPES.items():
        fit = [t for t in types if _runs(row, leaves, rebuild, first, t)]
        found += [letter] if len(fit) == len(types) else [str(t).lower() for t in fit]
    return " ".join(found)


def _runs(row, leaves, rebuild, first, kind):
    def run(*arrays):
        given = iter(arrays)
        filled = [box(next(given)) if isinstance(v, np.ndarray) else v for v in leaves]
        return [r._array for r in flatten(row.call()(*rebuild(filled)))[0] if isinstance(r, Tensor)]

    dtype = ms.dtype.dtype_to_nptype(kind) if kind != ms.bfloat16 else jax.numpy.bfloat16
    like = [
        jax.ShapeDtypeStruct(v.shape, dtype if v.dtype == first else v.dtype)
        for v in leaves
        if isinstance(v, np.ndarray)
    ]
    try:
        jax.eval_shape(run, *like)
    except Exception:  # whatever it is, a user gets it, too
        return False
    return True


def differentiable(row):
    """Return True if a gradient reaches the first float input."""
    boxes = [boxed(v) for v in row.inputs()]
    leaves, rebuild = flatten(boxes)
    at = next((i for i, v in enumerate(leaves) if isinstance(v, Tensor) and v._array.dtype.kind == "f"), None)
    if at is None:
        return "-"

    def run(x):
        out = row.call()(*rebuild([*leaves[:at], x, *leaves[at + 1 :]]))
        floats = [r for r in flatten(out)[0] if isinstance(r, Tensor) and r._array.dtype.kind == "f"]
        return sum(r.sum() for r in floats)

    try:
        return "yes" if np.any(ms.grad(run)(leaves[at]).asnumpy()) else "0"
    except Exception:  # no float results, or an error that says that there is none
        return "no"


def table(full):
    """The lines of the page, or with `full` False (operator, spellings, cases, files) of each."""
    rows, spellings = defaultdict(list), names()
    for row in ROWS:
        rows[row.case.target].append(row)
    for _, cls in sorted(declared(), key=lambda found: found[1].__name__):
        if cls.__name__.startswith("_"):
            continue
        own = rows[cls]
        name, said, cases, files = columns(cls, own, spellings[cls])
        if not full:
            yield name, said, cases, files
        else:
            types, gradient = (kinds(own[0]), differentiable(own[0])) if own else ("", "-")
            yield f"| {name} | {said} | {types} | {gradient} | {cases} | {files} |"


def stored():
    """The same of the page as it is."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `"):
            yield cells[0], cells[1], cells[4], cells[5]


def main():
    if "--check" in sys.argv:
        return list(stored()) != list(table(full=False))
    lines = list(table(full=True))
    count = sum(len(found) for found in names().values()) + len(lines)
    PAGE.write_text(HEAD.format(count=len(lines), names=count) + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
