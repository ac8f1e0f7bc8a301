"""The namespace of MindSpore 2: `import msnb.mindspore2 as ms` is MindSpore 2.7's `import mindspore as ms`.

Everything in it is msnb's own; only what r1.1 and MindSpore 2 disagree about is MindSpore 2's here. A program gets it
as `mindspore` by `%%mindspore --api 2`, `%mindspore on --api 2`, `msnb.alias.install(api=2)`, `python -m msnb run
--api 2` or the environment variable MSNB_API=2. Both namespaces may be used side by side: a Tensor, a Cell, a
checkpoint of the one is a Tensor, a Cell, a checkpoint of the other.
"""

import importlib
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

import msnb
from msnb.core.operator.api_generations import VERSIONS, api2_meaning

__version__ = VERSIONS[2]

_ROOT = "msnb"
_NAME = __name__
_FIXED = (type, types.FunctionType, types.BuiltinFunctionType)  # what a module keeps under its name


class Face(types.ModuleType):
    """A module of msnb as MindSpore 2 means it. What is set on it is set on the module.

    Args:
        module (ModuleType): The module of msnb.
    """

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        own = self.__dict__
        own["_module"] = module
        for name in ("__file__", "__path__", "__package__"):
            if hasattr(module, name):
                own[name] = getattr(module, name)

    def __getattr__(self, name: str) -> Any:
        module = self.__dict__["_module"]
        if name == "__all__" and not hasattr(module, name):
            return [known for known in dir(module) if not known.startswith("_")]
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            return face(value) if _is_ours(value) else value
        seen = api2_meaning(name, value, self.__name__)
        if isinstance(seen, _FIXED):
            self.__dict__[name] = seen  # the next time without this function
        return seen

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or isinstance(value, Face):  # importing a module puts it on its package
            super().__setattr__(name, value)
        else:
            self.__dict__.pop(name, None)
            setattr(self.__dict__["_module"], name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__.pop(name, None)
        delattr(self.__dict__["_module"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_module"])

    def __repr__(self) -> str:
        return f"<module '{self.__name__}' as MindSpore 2 means it>"


_faces: dict[types.ModuleType, Face] = {}


def face(module: types.ModuleType) -> Face:
    """The face of a module of msnb; the same one each time."""
    if isinstance(module, Face):
        return module
    known = _faces.get(module)
    if known is None:
        known = _faces[module] = Face(module)
    return known


def module_of(path: str) -> types.ModuleType:
    """The module of msnb at `path`, such as "msnb.nn", which is imported if need be."""
    return importlib.import_module(path)  # spares what nobody imports


def _is_ours(module):
    return module.__name__.split(".", 1)[0] == _ROOT


class _Finder:
    """Serves the modules below this one, of which none is a file."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(f"{_NAME}."):
            return None
        module = module_of(_ROOT + name[len(_NAME) :])
        return ModuleSpec(name, self, loader_state=(face(module), module.__spec__))

    def create_module(self, spec):
        return spec.loader_state[0]

    def exec_module(self, module):
        """It has run; the spec that Python has put on it is given back."""
        module.__dict__["__spec__"] = module.__dict__["_module"].__spec__


__path__: list[str] = []  # it has modules below it
sys.meta_path.insert(0, _Finder())


def __getattr__(name: str) -> Any:
    return getattr(face(msnb), name)


def __dir__() -> list[str]:
    return dir(msnb)
