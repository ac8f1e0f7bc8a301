"""Store the public names of the installed MindSpore 2, with their arguments, in names/VERSION.json.

    ORACLE/bin/python tests/golden/make_names.py [R1_1.json]

ORACLE is a virtual environment with mindspore 2. R1_1.json lists what r1.1 has, as objects with `module` and `name`; it
is stored in r1_1_names.json, members of classes included. tests/test_names_of_2.py walks the files. The next version is
a run of this script and the difference of two files. It writes the names that MindSpore calls deprecated, with their
successors, in msnb/check/deprecated.json, too: the newest version goes last.
"""

import importlib
import inspect
import json
import pathlib
import sys
import types

import mindspore

HERE = pathlib.Path(__file__).parent
# Paths that users import from. Others, such as the generators of MindSpore's sources, are insides.
MODULES = """mindspore mindspore.amp mindspore.boost mindspore.common mindspore.common.api mindspore.common.dtype
mindspore.common.initializer mindspore.common.parameter mindspore.common.tensor mindspore.communication
mindspore.communication.comm_func mindspore.communication.management mindspore.context mindspore.dataset
mindspore.dataset.audio mindspore.dataset.debug mindspore.dataset.text mindspore.dataset.transforms
mindspore.dataset.vision mindspore.device_context.ascend mindspore.device_context.ascend.op_debug
mindspore.device_context.ascend.op_precision mindspore.device_context.ascend.op_tuning
mindspore.device_context.cpu
mindspore.device_context.cpu.op_tuning mindspore.device_context.gpu mindspore.device_context.gpu.op_precision
mindspore.device_context.gpu.op_tuning mindspore.device_manager mindspore.experimental mindspore.experimental.optim
mindspore.experimental.optim.lr_scheduler mindspore.graph mindspore.hal mindspore.mindrecord mindspore.mint
mindspore.mint.distributed mindspore.mint.linalg mindspore.mint.nn mindspore.mint.nn.functional mindspore.mint.optim
mindspore.mint.special mindspore.multiprocessing mindspore.nn mindspore.nn.layer mindspore.nn.loss mindspore.nn.optim
mindspore.nn.probability.bijector mindspore.nn.probability.distribution mindspore.nn.wrap mindspore.numpy
mindspore.onnx mindspore.ops mindspore.ops.auto_generate mindspore.ops.communication mindspore.ops.composite
mindspore.ops.function mindspore.ops.functional mindspore.ops.operations mindspore.ops.operations._grad_ops
mindspore.ops.operations._inner_ops mindspore.ops.operations._quant_ops mindspore.parallel mindspore.parallel.nn
mindspore.parallel.distributed mindspore.profiler mindspore.rewrite mindspore.runtime mindspore.safeguard
mindspore.scipy mindspore.scipy.linalg mindspore.scipy.optimize mindspore.tools mindspore.train
mindspore.train.callback mindspore.train.metrics mindspore.utils""".split()
_HELPERS = ("RuntimeConf", "args_type_check", "function_status")  # modules of settings import them
# Classes whose methods users call. A class lists what a class above it in this list does not have.
CLASSES = """mindspore.Generator mindspore.Model mindspore.Parameter mindspore.ParameterTuple mindspore.Tensor
mindspore.dataset.Dataset mindspore.mindrecord.FileReader mindspore.mindrecord.FileWriter mindspore.nn.Cell
mindspore.nn.Optimizer mindspore.ops.Primitive mindspore.profiler.profile mindspore.train.Metric""".split()


def find(path):
    """Return the module or class at a path, None if this version has none."""
    try:
        return importlib.import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(find(module), name, None) if "." in module else getattr(mindspore, name, None)


def list_members(home):
    """Return {name: value} of the public names: those of `__all__`, or those that MindSpore itself defines."""
    listed = getattr(home, "__all__", None) if isinstance(home, types.ModuleType) else None
    public = [n for n in sorted({*(listed or dir(home))}) if n[0] != "_" and n not in _HELPERS and hasattr(home, n)]
    values = {n: getattr(home, n) for n in public}
    if isinstance(home, type):
        return values
    ours = {n: v for n, v in values.items() if str(getattr(v, "__module__", "mindspore")).startswith("mindspore")}
    return {n: v for n, v in ours.items() if not isinstance(v, types.ModuleType)}


def list_arguments(value):
    """Return the arguments as text, `dim keepdim`; empty if a value is not called, or has no readable signature. `*`
    and `**` stand for arguments of any number and name."""
    if not callable(value):
        return ""
    try:
        signature = inspect.signature(getattr(value, "__wrapped__", value))
    except (TypeError, ValueError):
        return ""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return " ".join(stars.get(p.kind, p.name) for p in signature.parameters.values() if p.name != "self")


def read_deprecations(values):
    """Return {name: (version, successor)} of the values that MindSpore calls deprecated since version 2."""
    found = {name: read_deprecation(value) for name, value in values.items()}
    return {name: said for name, said in found.items() if said is not None and said[0] >= "2"}


def read_deprecation(value):
    """Return (version, successor) if MindSpore says of a function or class that it is deprecated, else None."""
    function = vars(value).get("__init__") if isinstance(value, type) else value
    while function is not None:
        code = getattr(function, "__code__", None)
        if code is not None and {"substitute", "version"} <= {*code.co_freevars}:
            variables = inspect.getclosurevars(function).nonlocals
            return variables["version"], variables["substitute"] or ""
        function = getattr(function, "__wrapped__", None)
    return None


def drop_inherited(homes, members):
    """Return `members` without what a class inherits from another class of `homes`."""
    classes = {path: home for path, home in homes.items() if isinstance(home, type)}
    for path, home in classes.items():
        above = [members[p] for p, other in classes.items() if p != path and issubclass(home, other)]
        members[path] = {n: v for n, v in members[path].items() if not any(n in names for names in above)}
    return members


def store_r1_1(path):
    """Write the names that r1.1 has at each address: of modules, of classes, and the settings of functions."""
    places = {}
    for entry in json.loads(pathlib.Path(path).read_text(encoding="utf-8")):
        places.setdefault(entry["module"], set()).add(entry["name"])
    _write(HERE / "r1_1_names.json", {place: " ".join(sorted(names)) for place, names in sorted(places.items())})


def main():
    """Write the names of this version, and the deprecated ones."""
    for path in sys.argv[1:]:
        store_r1_1(path)
    homes = {path: home for path in (*MODULES, *CLASSES) if (home := find(path)) is not None}
    members = drop_inherited(homes, {path: list_members(home) for path, home in homes.items()})
    names = {path: {n: list_arguments(v) for n, v in values.items()} for path, values in members.items() if values}
    _write(HERE / "names" / f"{mindspore.__version__}.json", names)
    public = {f"{path}.{n}": v for path, values in members.items() for n, v in values.items() if "._" not in path}
    _write(HERE.parents[1] / "msnb" / "check" / "deprecated.json", read_deprecations(public))
    print(f"{mindspore.__version__}: {sum(map(len, names.values()))} names of {len(names)} modules and classes")


def _write(path, value):
    path.write_text(json.dumps(value, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
