"""Every name that MindSpore r1.1 has is here (tests/golden/r1_1_names.json), and none but those of a few rooms says
that it comes later."""

import ast
import functools
import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import trees

import msnb
from msnb import Tensor, context, nn
from msnb.train import amp

HERE = Path(__file__).parent
PLACES = {p: n.split() for p, n in json.loads((HERE / "golden" / "r1_1_names.json").read_text("utf-8")).items()}

# Settings are names of r1.1 too: who keeps them, for each function that sets them.
SETTINGS = {
    "mindspore.context.set_context": context.get_context,
    "mindspore.context.set_auto_parallel_context": context.get_auto_parallel_context,
    "mindspore.context.set_ps_context": context.get_ps_context,
}

# Attributes of the object, not of its class.
MADE = {
    "RowTensor": lambda: msnb.RowTensor(Tensor([0], msnb.int32), Tensor([[1.0]], msnb.float32), (2, 1)),
    "SparseTensor": lambda: msnb.SparseTensor(Tensor([[0, 1]], msnb.int32), Tensor([1.0], msnb.float32), (1, 2)),
    "Parameter": lambda: msnb.Parameter(np.zeros(2, np.float32), "p"),
    "Cell": nn.ReLU,
}

_OWN = "a part of how MindSpore works inside, which works otherwise here"
ELSEWHERE = {
    "mindspore.ops.operations.comm_ops": ("target_dtypes check_hcom_group_valid mirror virtual_div", _OWN),
    "mindspore.ops": ("vm_impl_registry get_vm_impl_fn tensor_operator_registry", _OWN),
    "mindspore.nn.wrap.grad_reducer": ("reduce_opt", _OWN),
    "mindspore.nn.wrap.loss_scale": ("tensor_grad_scale tensor_grad_scale_row_tensor", _OWN),
    "mindspore.Tensor": ("set_cast_dtype", _OWN),
    "mindspore.nn.BatchNorm1d": ("list_group", _OWN),
    "mindspore.nn.BatchNorm2d": ("list_group", _OWN),
    "mindspore.nn.GlobalBatchNorm": ("list_group", _OWN),
    "mindspore.ops.ScalarToArray": ("infer_value", _OWN),
    "mindspore.ops.ScalarToTensor": ("infer_value", _OWN),
    "mindspore.ops.Eye": ("infer_value", _OWN),
    "mindspore.dataset.vision.c_transforms.RandomColorAdjust": ("expand_values", _OWN),
    "mindspore.dataset.engine.datasets.Dataset": ("create_ir_tree parse_tree iterator_bootstrap", _OWN),
    "mindspore.dataset.engine.datasets.BatchDataset": ("iterator_bootstrap", _OWN),
    "mindspore.dataset.engine.datasets.MapDataset": ("iterator_bootstrap", _OWN),
}

# Modules with functions that say "not available in msnb yet"; each is the subject of a later version.
ROOMS = {
    "_c_expression/amp.py": {"create_amp_strategy", "push_amp_strategy", "pop_amp_strategy"},
    "common/__init__.py": {""},  # a class with a gradient of its own, from which libraries derive
    "_util/placeholders.py": {"refuse", "__call__", "__getattr__"},
    "_config/settings_table.py": {"judge"},
    "common/missing.py": None,  # names of several processes, Ascend and the compiler
    "core/transforms/jit.py": {""},  # a class of MindSpore's compiler, from which libraries derive
    "exchange/api.py": {"_check_options", "load"},  # networks that are encrypted or made unreadable
    "nn/_autograd_function.py": {"mark_dirty", "mark_non_differentiable", "set_materialize_grads"},
    "ops/_refused_operators.py": {"__call__"},  # kernels of an Ascend, of clusters, of gradients
    "ops/python_function.py": {"__init__"},  # a gradient function of Morph
    "mint/__init__.py": {""},  # a batch normalisation over several devices
    "mint/distributed.py": None,
    "parallel/_ps_context.py": None,
    "rewrite/__init__.py": None,  # what changes the source of Cells
    "train/_utils.py": {""},  # which device holds what
    "train/_merge_checkpoints.py": {"_join_slices"},  # slices of fields
    "train/model.py": {"infer_train_layout"},
}
_REFUSALS = {"not_yet", "placeholder", "fill"}


def resolve(place):
    """Return the object at one of r1.1's places: a module, what is in one, or what has a class's attributes."""
    components = ["msnb", *place.split(".")[1:]]
    if components[-1] in MADE:
        return MADE[components[-1]]()
    for end in range(len(components), 0, -1):
        try:
            here = importlib.import_module(".".join(components[:end]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, components[end:], here)
    raise ModuleNotFoundError(place)


def has(place, name):
    if place in SETTINGS:
        SETTINGS[place](name)
        return True
    if place == "mindspore.train.amp" and name.startswith("level:"):
        return name.removeprefix("level:") in {*amp._config_level, "auto"}
    here = resolve(place)
    if hasattr(here, name):
        return True
    try:
        importlib.import_module(f"{here.__name__}.{name}")
    except (ImportError, AttributeError):
        return False
    return True


def left_out(place):
    return set(ELSEWHERE.get(place, ("", ""))[0].split())


@pytest.mark.parametrize("place", PLACES)
def test_every_name_of_r1_1_is_there(place):
    missing = {name for name in PLACES[place] if name not in left_out(place) and not has(place, name)}
    assert not missing, f"r1.1 has {place}.{{{', '.join(sorted(missing))}}}"


@pytest.mark.parametrize("place", ELSEWHERE)
def test_what_is_said_to_be_missing_is_r1_1s_and_missing(place):
    assert left_out(place) <= set(PLACES[place])
    assert not {name for name in left_out(place) if has(place, name)}


def refusing_functions(tree):
    """Return the names of the functions that refuse, "" for the module itself."""

    def walk(node, inside):
        if isinstance(node, ast.FunctionDef):
            inside = node.name
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in _REFUSALS:
            yield inside
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    return set(walk(tree, ""))


def test_only_a_few_rooms_come_later():
    package = HERE.parent / "msnb"
    refusing = {}
    for path in sorted(package.rglob("*.py")):
        imported = [n for n in ast.walk(trees.tree_of(path)) if isinstance(n, ast.ImportFrom)]
        if path.name == "placeholders.py" or any(n.module == "msnb._util.placeholders" for n in imported):
            refusing[path.relative_to(package).as_posix()] = refusing_functions(trees.tree_of(path))
    assert refusing.keys() == ROOMS.keys()
    for path, functions in refusing.items():
        allowed = ROOMS[path]
        assert allowed is None or functions - {"fill"} <= allowed, f"{path}: {functions}"
