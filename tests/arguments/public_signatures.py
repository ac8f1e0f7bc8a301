"""All functions that users can call with arguments: of modules, of classes, and what operators are declared with."""

import importlib
import inspect
import pkgutil
import re
import types

from argument_uses import definition, does_nothing

import msnb
from msnb.common.callback import Callback
from msnb.core.operator.operator_types import FUNCTIONAL, REGISTRY, Operator

# Functions without a name in MindSpore, which msnb calls itself.
INNER = re.compile(r"msnb\.(core|ir|formats|insight|notebook|alias|dataset\.(core|engine|callback\.watching))\b|.*\._")


def modules():
    """Yield every module of msnb that programs import."""
    yield msnb
    for result in pkgutil.walk_packages(msnb.__path__, "msnb."):
        if not INNER.match(result.name):
            yield importlib.import_module(result.name)


def functions():
    """Return {function: public name} of plain functions, constructors and methods, each once, first name first."""
    results = {}

    def add(thing, name):
        thing = getattr(thing, "__func__", thing)
        if isinstance(thing, types.FunctionType):
            results.setdefault(inspect.unwrap(thing), name)

    for module in modules():
        own = [n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", "") == module.__name__]
        for name in sorted({*getattr(module, "__all__", own)}):
            thing = inspect.getattr_static(module, name, None) or getattr(module, name)
            add(thing, f"{module.__name__.removeprefix('msnb.')}.{name}")
            if isinstance(thing, type) and thing.__module__.startswith("msnb"):
                for member in dir(thing):
                    if member == "__init__" or not member.startswith("_") and not is_hook(thing, member):
                        full = thing.__name__ if member == "__init__" else f"{thing.__name__}.{member}"
                        add(inspect.getattr_static(thing, member), full)
    for name, form in sorted(FUNCTIONAL.items()):
        add(form, f"ops.{name}")
    return results


def is_hook(cls, member):
    """Check that other code chooses the arguments of a method: inputs of a computation, or calls of a base class."""
    bases = [vars(base)[member] for base in cls.__mro__ if member in vars(base)]
    if issubclass(cls, Callback) and hasattr(Callback, member):
        return True  # a moment of a training, which tells each callback the same
    return member == "construct" or any(does_nothing(node) for node in map(definition, bases[1:]) if node is not None)


def operators():
    """Return every declared operator, once."""
    return {op.name: op for op in REGISTRY.values() if isinstance(op, Operator)}
