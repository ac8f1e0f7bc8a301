"""Methods of Dataset that the modules of its operators declare."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import msnb.dataset as ds
from msnb.dataset.engine import dataset as home
from msnb.dataset.engine.dataset import Dataset, fluent


def listed():
    """Yield (name of a method, the function) as the stub lists them for editors and type checkers."""
    tree = ast.parse(Path(home.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Dataset").body
    own = ast.parse(Path(home.__file__).read_text(encoding="utf-8"))
    written = {node.name for node in ast.walk(own) if isinstance(node, ast.FunctionDef)}
    for line in body:
        if isinstance(line, ast.FunctionDef) and line.name not in written:
            yield line.name, getattr(Dataset, line.name)
        elif isinstance(line, ast.ImportFrom):
            module = importlib.import_module(line.module)
            yield from ((alias.asname or alias.name, getattr(module, alias.name)) for alias in line.names)


def test_methods_listed_for_editors_equal_the_attached_ones():
    attached = {
        name: f
        for name, f in vars(Dataset).items()
        if inspect.isfunction(f) and f.__module__ != home.__name__ and name != "_mime_"
    }
    assert dict(listed()) == attached


@pytest.mark.parametrize("name", ["batch", "map", "zip", "split", "to_device", "build_vocab"])
def test_a_method_is_defined_in_the_module_of_its_data_set(name):
    method = getattr(Dataset, name)
    source = Path(inspect.getsourcefile(inspect.unwrap(method)))
    assert method.__qualname__ == f"Dataset.{name}" and method.__doc__
    assert source.name != "dataset.py" and source.is_relative_to(Path(ds.__file__).parent)


def test_every_method_has_annotations():
    bare = []
    for name, function in listed():
        signature = inspect.signature(function)
        accepted = ("do_copy", "max_rowsize", "offload")  # anything, without effect
        bare += [
            f"{name}({p})" for p in signature.parameters.values() if p.annotation is p.empty and p.name not in accepted
        ]
        bare += [name] if signature.return_annotation is signature.empty else []
    assert not bare


def test_a_method_is_declared_with_its_own_name_or_another():
    @fluent
    def thrice(self):
        return self.repeat(3)

    @fluent("twofold")
    def two(self):
        return self.repeat(2)

    try:
        data = ds.NumpySlicesDataset([1, 2], shuffle=False)
        assert data.thrice().get_dataset_size() == 6 and data.twofold().get_dataset_size() == 4
        assert two.__qualname__ == "Dataset.twofold"
    finally:
        del Dataset.thrice, Dataset.twofold
