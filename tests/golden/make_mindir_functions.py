"""Writes msnb/exchange/mindir/functions.json: the arguments of each of MindSpore's operators that is a function.

    python tests/golden/make_mindir_functions.py FOLDER_OF_THE_PACKAGE_MINDSPORE

In a MINDIR file of MindSpore 2 such an operator has all its arguments as inputs, in one order: those of a call, then
those of the class. Beside a name stands what becomes of a value on its way: `enum` (a text as a number), `dtype` (an
element type as a number), `pair` (one number or four as two), `ints` (one number as a tuple of it). Only the sources
are read, by their syntax.
"""

import ast
import json
import re
import sys
from pathlib import Path

SOURCES = ("ops/auto_generate/gen_ops_prim.py", "ops/operations/manually_defined/ops_def.py")
TARGET = Path(__file__).resolve().parents[2] / "msnb" / "exchange" / "mindir" / "functions.json"
KINDS = {"str_to_enum": "enum", "dtype_to_type_id": "dtype", "to_kernel_size": "pair", "to_strides": "pair",
         "to_dilations": "pair", "to_rates": "pair", "to_output_padding": "pair"}  # fmt: skip
WHOLE = {"BatchNorm": ["input_x", "scale", "bias", "mean", "variance"]}  # calls that take *args


def method(cls, name):
    return next((n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == name), None)


def arguments(cls):
    """Return text such as "x axis:ints | keep_dims" of a class; None when it is no function."""
    call, init = method(cls, "__call__"), method(cls, "__init__")
    if call is None:
        return None
    text = ast.unparse(cls)
    kinds = {name: KINDS[kind] for kind, name in re.findall(r"(\w+)\('\w+', '(\w+)'", text) if kind in KINDS}
    kinds.update({n: KINDS[k] for n, k in re.findall(r"_with_handler\('(\w+)', \w+, (\w+)\)", text) if k in KINDS})

    kinds.update({n: "ints" for n in re.findall(r"type_it\('\w+', '(\w+)', .*?(?<!\()OpDtype\.DT_TUPLE_INT\)", text)})

    def told(names):
        return " ".join(f"{name}:{kinds[name]}" if name in kinds else name for name in names)

    inputs = WHOLE.get(cls.name) or [a.arg for a in call.args.args[1:]]
    settings = [a.arg for a in init.args.args[1:]] if init else []
    passed = max((ast.unparse(n) for n in ast.walk(call) if isinstance(n, ast.Call)), key=len, default="")
    given = [name for name in re.findall(r"self\.(\w+)", passed) if name in settings]
    if given != settings:
        return None  # another order than the usual one
    return f"{told(inputs)} | {told(settings)}".strip()


def main(package):
    """See the module."""
    results = {}
    for source in SOURCES:
        for node in ast.parse((Path(package) / source).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(getattr(b, "id", "") == "Primitive" for b in node.bases):
                names = arguments(node)
                if names is not None:
                    results[node.name] = names
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(names)}" for name, names in sorted(results.items()))
    TARGET.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(len(results), "functions")


if __name__ == "__main__":
    main(sys.argv[1])
