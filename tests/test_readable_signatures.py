"""Signatures show Python types: `kernel_size: int | tuple[int, int]`, and no Kind."""

import importlib
import inspect
import pickle
import pkgutil
import warnings

import pytest

import msnb
from msnb import nn, ops
from msnb.common.kinds import Bool, PositiveInt, checked, kind_of, readable

INNER = ("msnb.notebook", "msnb.__main__")


def public_modules():
    """Return the names of all modules that a user may import."""
    names = ["msnb", *(info.name for info in pkgutil.walk_packages(msnb.__path__, "msnb."))]
    return [n for n in names if not n.startswith(INNER) and not any(p.startswith("_") for p in n.split("."))]


def public_callables():
    """Return (path, object) of all public functions, classes and their public methods, each once."""
    seen = {}
    for path in public_modules():
        module = importlib.import_module(path)
        for name in getattr(module, "__all__", ()) or (n for n in dir(module) if not n.startswith("_")):
            value = getattr(module, name, None)
            if not callable(value) or not str(getattr(value, "__module__", "")).startswith("msnb"):
                continue
            seen.setdefault(id(value), (f"{path}.{name}", value))
            for member in vars(value) if isinstance(value, type) else ():
                method = None if member.startswith("_") else getattr(value, member, None)
                if callable(method):
                    seen.setdefault(id(method), (f"{path}.{name}.{member}", method))
    return seen.values()


def test_no_public_signature_shows_a_kind():
    shown = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, value in public_callables():
            try:
                shown[path] = str(inspect.signature(value))
            except ValueError:  # built in
                continue
    assert len(shown) > 5000
    assert not {path: text for path, text in shown.items() if "Annotated[" in text or "Kind(" in text}


@pytest.mark.parametrize(
    ("value", "start"),
    [
        (nn.Conv2d, "(in_channels: int, out_channels: int, kernel_size: int | tuple[int, int], stride: int | tuple"),
        (ops.ReduceSum, "(keep_dims: bool = False"),
        (ops.reduce_sum, "(x, axis: int | tuple[int, ...] | list[int] | None = (), keep_dims: bool = False"),
        (ops.ReduceSum.kernel, "(x, axis: int | tuple[int, ...] | list[int] | None = (), *, keep_dims: bool = False"),
        (msnb.Tensor.sum, "(self: Tensor, axis: int | tuple[int, ...] | list[int] | None = None"),
    ],
)
def test_a_signature_shows_python_types(value, start):
    assert str(inspect.signature(value)).startswith(start)


def test_question_mark_shows_python_types():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.user_ns["nn"] = nn
    shown = shell.object_inspect("nn.Conv2d", detail_level=0)
    assert "kernel_size: int | tuple[int, int]" in shown["init_definition"]
    assert "Annotated" not in str(shown["init_definition"]) + str(shown["docstring"])


def test_an_annotation_keeps_its_kind():
    @checked
    def make(size: PositiveInt, *, fast: Bool | None = None) -> int:
        return size

    parameters = inspect.signature(make).parameters
    assert str(inspect.signature(make)) == "(size: int, *, fast: bool | None = None) -> int"
    assert repr(kind_of(parameters["size"].annotation)) == "Kind(a positive int)"
    assert repr(kind_of(parameters["fast"].annotation)) == "Kind(bool or None)"
    assert inspect.signature(make).bind(3).arguments == {"size": 3}


def test_a_readable_signature_of_a_function_in_a_function():
    width = 3

    @readable
    def make(size: PositiveInt):
        return size * width

    assert str(inspect.signature(make)) == "(size: int)"


def test_a_readable_signature_is_a_signature():
    @readable
    def make(size: PositiveInt = 3, *rest, **more):
        return size

    signature = inspect.signature(make)
    assert str(signature) == "(size: int = 3, *rest, **more)"
    assert str(signature.replace(return_annotation=int)) == "(size: int = 3, *rest, **more) -> int"
    assert signature == signature.replace() and hash(signature) == hash(signature.replace())
    assert list(inspect.signature(lambda: 0).parameters) == []
    assert str(pickle.loads(pickle.dumps(inspect.signature(nn.ReLU)))) == str(inspect.signature(nn.ReLU))


def test_a_subclass_has_the_signature_of_its_own_constructor():
    class Twice(nn.Dense):
        def __init__(self, width):
            super().__init__(width, 2 * width)

    class Same(nn.Dense):
        pass

    assert str(inspect.signature(Twice)) == "(width)"
    assert inspect.signature(Same).parameters.keys() == inspect.signature(nn.Dense).parameters.keys()
