"""Write the table of `docs/which_mindspore.md`: names that MindSpore 2 and r1.1 define differently.

python docs/make_which_mindspore.py            writes it
python docs/make_which_mindspore.py --check    fails if the stored table is out of date
"""

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import msnb as ms  # noqa: E402
import msnb.nn as nn  # noqa: E402
import msnb.numpy  # noqa: E402
import msnb.ops as ops  # noqa: E402
import msnb.train  # noqa: E402, F401  what it declares
from msnb.core.operator.api_generations import (  # noqa: E402
    AT,
    DIFFERENCES,
    REPLACED,
    SHARED,
)
from msnb.core.operator.declare import SPELLINGS  # noqa: E402

PAGE = ROOT / "docs" / "which_mindspore.md"
BEGIN, END = "<!-- differences -->\n", "<!-- end -->"
_HOMES = {"nn.": nn, "ops.": ops, "numpy.": msnb.numpy, "": ms}
_SHARED = "every program shares it"


def rows():
    """Return (name, meaning in MindSpore 2, deciding scope), sorted by name."""
    found = []
    for first in DIFFERENCES:
        if isinstance(first, type) or first in REPLACED:
            found.append((f"`{_home(first)}{first.__name__}`", _said(first), "the namespace"))
    for (module, name), target in AT.items():
        found.append((f"`{f'{module}.'.partition('.')[2]}{name}`", _said(target), "the namespace"))
    found += [(f"`{name}`", says, _SHARED) for name, says in SHARED.items()]
    for kind, name, generation in SPELLINGS:
        if generation == 2 and (kind, name, 1) in SPELLINGS:
            place, where = ("Tensor", _SHARED) if kind == "method" else ("ops", "the namespace")
            found.append((f"`{place}.{name}`", _said(SPELLINGS[kind, name, 2].target), where))
    return sorted(found, key=lambda row: row[0].lower())


def _home(target):
    return next(place for place, module in _HOMES.items() if getattr(module, target.__name__, None) is target)


def _said(target):
    says, order, defaults, *_ = DIFFERENCES[target]
    if order:
        says += f" (`{', '.join(order)}`)"
    if defaults:
        first = inspect.signature(target).parameters
        says += f" ({', '.join(f'`{n}={v!r}`, in r1.1 `{first[n].default!r}`' for n, v in defaults.items())})"
    return says


def table():
    """The table, as Markdown."""
    lines = ["| name | in MindSpore 2 | decided by |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows())]) + "\n"


def main():
    """Write the table, or compare it."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    made = before + BEGIN + table() + END + rest.partition(END)[2]
    if "--check" in sys.argv:
        return int(made != text)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
