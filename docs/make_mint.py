"""Write `docs/mint.md`: the names of `mindspore.mint`, their implementation, and the source of the compared values.

python docs/make_mint.py            writes the page
python docs/make_mint.py --check    fails if the stored page is out of date
"""

import inspect
import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from msnb import mint  # noqa: E402
from msnb.core.operator.operator_types import FUNCTIONAL  # noqa: E402

_OF_CLASS = {"experimental": "`experimental.optim`"}
PAGE = ROOT / "docs" / "mint.md"
ANSWERS = json.loads((ROOT / "tests" / "golden" / "mint.json").read_text())["answers"]
HEAD = """# mindspore.mint

`from mindspore import mint` is MindSpore 2's second interface: PyTorch's names, order of arguments and defaults. It is
loaded on first use. {count} names. `python docs/make_mint.py` writes this page.

- **Implementation**: the function of `mindspore.ops`, unchanged or with other argument names or integer arguments; or
  `mint`, a function of its own that calls operators. For layers: the class of `mindspore.nn`.
- **Cases** are calls in tests/golden/mint_cases.py. Values, types and gradients are compared with MindSpore 2.7.1,
  or with PyTorch if 2.7.1 has no kernel for the CPU.
- The communication functions of `mint.distributed` and the three steps of a batch normalisation over several devices
  raise errors that name an alternative.

| name | arguments | implementation | cases |
|---|---|---|---|
"""


def homes():
    """Iterate over (path, module) of the modules with public names."""
    yield "mint", mint
    for path in ("nn", "nn.functional", "linalg", "special", "optim"):
        module = mint
        for part in path.split("."):
            module = getattr(module, part)
        yield f"mint.{path}", module


def arguments(target):
    """Return the names of its arguments, with a star before keyword-only ones."""
    found = []
    for p in inspect.signature(target).parameters.values():
        if p.kind is p.KEYWORD_ONLY and "*" not in found and not any(n.startswith("*") for n in found):
            found.append("*")
        found.append({p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name)
    return ", ".join(found)


def implementation_of(name, target):
    """Return the text of the column "implementation"."""
    if hasattr(target, "_later"):
        return "says what to do instead"
    if isinstance(target, type):
        place = target.__module__
        return f"`nn.{target.__name__}`" if place.startswith("msnb.nn") else _OF_CLASS.get(place.split(".")[1], "mint")
    known = next((f"`ops.{n}`" for n in (name, *FUNCTIONAL) if FUNCTIONAL.get(n) is target), None)
    return known or ("`ops`, renamed" if target.__module__ == "msnb.mint._rows" else "mint")


def page():
    """The text."""
    whose = defaultdict(lambda: defaultdict(int))
    for call, by in ANSWERS.items():
        whose[call.partition("(")[0]][by] += 1
    lines = []
    for path, module in homes():
        for name in module.__all__:
            target = getattr(module, name)
            cases = whose[f"{path}.{name}".removeprefix("mint.")]
            told = ", ".join(f"{count} beside {by}" for by, count in sorted(cases.items()))
            lines.append(f"| `{path}.{name}` | {arguments(target)} | {implementation_of(name, target)} | {told} |\n")
    return HEAD.format(count=len(lines)) + "".join(lines)


def main():
    text = page()
    if "--check" in sys.argv[1:]:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == text else f"{PAGE.name} is due: python {sys.argv[0]}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
