"""Names of r1.1 whose feature comes in a later version: they import, and say so in one line when they are used."""

import sys
from types import ModuleType
from typing import Any


def not_yet(what, instead=None):
    """The NotImplementedError of what comes in a later version.

    Args:
        what (str): What was asked for.
        instead (str): What to do instead, or why. Default: None, nothing to say.
    """
    return NotImplementedError(f"{what} is not available in msnb yet{f'; {instead}' if instead else ''}.")


def placeholder(name, path, why):
    """A class that raises NotImplementedError when it is called or derived from.

    Args:
        name (str): Name of the class or function.
        path (str): MindSpore's path of it.
        why (str): What is missing and what to do instead.
    """

    def refuse(*args, **kwargs):
        raise not_yet(f"{path}.{name}", why.rstrip("."))

    members = {
        "__init__": refuse,
        "__init_subclass__": classmethod(refuse),
        "__module__": path.replace("mindspore", "msnb", 1),
        "__doc__": f"{name}: not available yet, raises NotImplementedError.",
        "_later": why.rstrip("."),  # for who asks without calling
    }
    return type(name, (), members)


class _Refusing(type):
    """Of a class that may be derived from: making one of it, or asking it for a method, raises."""

    def __call__(cls, *args, **kwargs):
        raise not_yet(cls._path, cls._later)

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}", name=name, obj=cls)
        raise not_yet(f"{cls._path}.{name}", cls._later)


def derivable(name: str, path: str, why: str) -> type:
    """As :func:`placeholder`, but a program may derive classes from it, and raises when it uses one of them."""
    members = {"__module__": path.replace("mindspore", "msnb", 1), "_path": f"{path}.{name}", "_later": why.rstrip(".")}
    members["__doc__"] = f"{name}: not available, raises NotImplementedError when it is used."
    return _Refusing(name, (), members)


def fill(namespace, names, why):
    """Put a placeholder for each of `names` (a string of names) into a module's namespace, and its `__all__`."""
    path = namespace["__name__"].replace("msnb", "mindspore", 1)
    for name in names.split():
        namespace[name] = placeholder(name, path, why)
    namespace["__all__"] = [*namespace.get("__all__", ()), *names.split()]


def submodules(namespace: dict[str, Any], modules: dict[str, str], why: str) -> None:
    """Make submodules of a package that hold nothing but placeholders.

    Args:
        namespace (dict): Of the package.
        modules (dict): Path below the package -> names in it.
        why (str): What is missing and what to do instead.
    """
    package = namespace["__name__"]
    for path, names in modules.items():
        module = ModuleType(f"{package}.{path}", "Names whose feature comes in a later version.")
        module.__path__ = []
        fill(module.__dict__, names, why)
        sys.modules[module.__name__] = module
        parent, _, last = module.__name__.rpartition(".")
        setattr(sys.modules[parent], last, module)
