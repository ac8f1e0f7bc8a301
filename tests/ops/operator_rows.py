"""Collects the rows of all operators' files (msnb/core/operator/cases.py), and draws what they are given.

The tests here and tests/golden/make_operators.py share it. A row's numbers depend on its own text and its file alone,
so that another row changes none of them.
"""

import functools
import inspect
import json
import pathlib
import sys
import zlib
from typing import Any, NamedTuple

import numpy as np

from msnb import Parameter, Tensor
from msnb.core.operator.cases import Case, F, RandomSpec, Refusal, Values, Written, case
from msnb.core.operator.declare import SPELLINGS
from msnb.core.operator.operator_types import _ABSENT, REGISTRY, Operator

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "operators"
# The file name that seeds the numbers of a renamed file, so that its golden results stay valid.
SEED_NAMES = json.loads((GOLDEN / "seed_names.json").read_text(encoding="utf-8"))
LONGEST = 120  # letters of a row's key


class Row(NamedTuple):
    """A case or a refusal, and where it stands.

    Attributes:
        file (str): The operator's file, "math.sum".
        case (Union[Case, Refusal]): The entry of the file.
        text (str): The row as one would write it.
    """

    file: str
    case: Any
    text: str

    @property
    def key(self):
        """Its name in a golden file and among the tests: the text, and where that is long a digest of it."""
        if len(self.text) <= LONGEST:
            return self.text
        return f"{self.text[:LONGEST]}~{zlib.crc32(self.text.encode()):08x}"

    def inputs(self):
        """Return its inputs: numpy arrays for Tensors, `Written` of an array for Parameters, tuples, Python values."""
        seed = zlib.crc32(f"{SEED_NAMES.get(self.file, self.file)}/{self.text}".encode())
        results = [drawn(value, (seed, place)) for place, value in enumerate(self.case.inputs)]
        return [
            Written(value) if place in self.in_place and isinstance(value, np.ndarray) else value
            for place, value in enumerate(results)
        ]

    @property
    def in_place(self):
        """Places of the inputs that the operator always writes."""
        return getattr(getattr(self.case.target, "operator", None), "written", ())

    @property
    def parameters(self):
        """Places of the inputs that are written in this row."""
        return [place for place, value in enumerate(self.inputs()) if isinstance(value, Written)]

    @property
    def wanted(self):
        """Places of the inputs that get a gradient: None for all floats, () for none, as where some are written."""
        return () if self.in_place or "gradient" in self.case.left_out else self.case.variables

    @property
    def differentiated(self):
        """Places of the results that the gradient is taken of; None for all floats."""
        return self.case.compared if self.case.of is None else (self.case.of,)

    def keywords(self):
        """Return its keyword arguments, drawn as the inputs are."""
        seed = zlib.crc32(f"{SEED_NAMES.get(self.file, self.file)}/{self.text}".encode())
        return {
            name: drawn(value, (seed, len(self.case.inputs) + place))
            for place, (name, value) in enumerate(self.case.attributes.items())
        }

    def call(self):
        """Return the function of the inputs: an instance of the class, or the spelling with its keywords."""
        target, attributes = self.case.target, {name: boxed(value) for name, value in self.keywords().items()}
        return target(**attributes) if inspect.isclass(target) else functools.partial(target, **attributes)


def drawn(spec, seed):
    """Return the array for a spec; a tuple of them for a tuple, and everything else as it is."""
    if isinstance(spec, RandomSpec):
        return numbers(spec, np.random.default_rng(seed), seed[-1])
    if isinstance(spec, Values):
        array = np.array(spec.values, spec.dtype)
        narrow = {"int64": "int32", "float64": "float32"}.get(array.dtype.name)
        return array.astype(narrow) if spec.dtype is None and narrow else array
    if isinstance(spec, Written):
        return Written(drawn(spec.value, seed))
    if isinstance(spec, tuple):
        return tuple(drawn(value, (*seed, place)) for place, value in enumerate(spec))
    return spec


def numbers(spec, rng, place):
    """Whole numbers, or points of a grid in another order: no two are equal, nor those of two inputs of a row."""
    if spec.maker in ("I", "Flags"):
        return rng.integers(spec.low, spec.high, spec.shape).astype(spec.dtype)
    count = int(np.prod(spec.shape))
    step = (spec.high - spec.low) / (count + 1)
    points = spec.low + step * (np.arange(1, count + 1) + 0.4 * np.sin(1 + place))
    return rng.permutation(points).reshape(spec.shape).astype(spec.dtype)


def names_of(target):
    """Return pairs (kind, name) under which MindSpore may have a class or a spelling, the likeliest first."""
    forms = (target, getattr(target, "functional", target))
    results = [(s.kind, s.name) for s in SPELLINGS.values() if s.target in forms and s.kind != "numpy"]
    if inspect.isclass(target):
        results.insert(0, ("class", target.__name__))
    return list(dict.fromkeys(results))


def text_of(row):
    """Return a row as it would be written, without what only says how results are compared."""
    said = [*map(_word, row.inputs), *(f"{k}={_word(v)}" for k, v in row.attributes.items())]
    return f"{row.target.__name__}({', '.join(said)})"


def _word(value):
    if type(value) is tuple:
        return f"({', '.join(map(_word, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def boxed(value):
    """Return an input as msnb takes it."""
    if isinstance(value, Written):
        return Parameter(Tensor(value.value), name="written")
    if isinstance(value, np.ndarray):
        return Tensor(value)
    return tuple(map(boxed, value)) if type(value) is tuple else value


# ---------------------------------------------------------------------- collecting
def declared():
    """Yield (module, class) of every operator that is declared with `@operator`, once."""
    for name, op in REGISTRY.items():
        if isinstance(op, Operator) and op.primitive.__name__ == name and op.fn.__module__.startswith("msnb.ops."):
            yield op.fn.__module__, op.primitive


def grid(cls):
    """Return the row of an operator that has none: F(2, 3) for a Tensor, the example of its Kind for what has no
    default."""
    op = cls.operator
    inputs = []
    for place in op.inputs:
        if place.many:
            inputs.append((F(2, 3), F(2, 3)))
        elif place.kind is None and place.default is _ABSENT:
            inputs.append(F(2, 3))
        elif place.default is _ABSENT:
            inputs.append(place.kind.example)
        else:
            break  # what follows has a default, too
    return case(cls, *inputs, **{k: kind.example for k, (kind, default) in op.attributes.items() if default is _ABSENT})


def files():
    """Return {file: list of what stands in its CASES} of everything below msnb.ops."""
    return {
        name.removeprefix("msnb.ops."): list(vars(module)["CASES"])
        for name, module in sorted(sys.modules.items())
        if name.startswith("msnb.ops.") and "CASES" in vars(module)
    }


def collected():
    """Return (rows, refusals): all Rows with a case, those of the grid included, and all with a refusal."""
    written = files()
    seen = {c.target for cases in written.values() for c in cases if isinstance(c, Case)}
    for module, cls in declared():
        if cls not in seen and not cls.operator.random:
            written.setdefault(module.removeprefix("msnb.ops."), []).append(grid(cls))
    results = [Row(file, c, text_of(c)) for file, cases in sorted(written.items()) for c in cases]
    return (
        [row for row in results if isinstance(row.case, Case)],
        [row for row in results if isinstance(row.case, Refusal)],
    )


ROWS, REFUSALS = collected()


# ---------------------------------------------------------------------- what MindSpore answered
@functools.cache
def stored(file):
    """Return {row: {name: array}} of the golden file of a file of operators."""
    path = GOLDEN / f"{file}.npz"
    if not path.exists():
        return {}
    results = {}
    with np.load(path) as store:
        for name in store:
            key, _, part = name.rpartition("/")
            results.setdefault(key, {})[part] = store[name]
    return results


def answers(row):
    """Return {name: array} of what MindSpore gave for a row; nothing where it cannot run it."""
    return {} if "mindspore" in row.case.left_out else stored(row.file).get(row.key, {})
