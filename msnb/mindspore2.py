"""The namespace of MindSpore 2: `import msnb.mindspore2 as ms` is MindSpore 2.10's `import mindspore as ms`.

Its modules are proxies of msnb's modules. Names whose meaning differs between r1.1 and MindSpore 2 have MindSpore 2's
meaning here; all other names are msnb's. A program gets this namespace as `mindspore` with `%%mindspore --api 2`,
`%mindspore on --api 2`, `msnb.alias.install(api=2)`, `python -m msnb run --api 2` or the environment variable
MSNB_API=2. Both namespaces can be used together: they share the classes Tensor and Cell, and checkpoints.
"""

import importlib
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

from msnb.core.operator.api_generations import VERSIONS, api2_meaning

__version__ = VERSIONS[2]

_ROOT = "msnb"
msnb = sys.modules[_ROOT]  # loaded before its submodules
_NAME = __name__
_FIXED = (type, types.FunctionType, types.BuiltinFunctionType)  # types of values that are cached in the module


class Face(types.ModuleType):
    """Proxy of a module of msnb, with names as in MindSpore 2. Attributes set on it are set on the original module.

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
            return [attribute for attribute in dir(module) if not attribute.startswith("_")]
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            return face(value) if _is_module_of_msnb(value) else value
        api2_value = api2_meaning(name, value, self.__name__)
        if isinstance(api2_value, _FIXED):
            self.__dict__[name] = api2_value  # the next access does not call this function
        return api2_value

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or isinstance(value, Face):  # importing a submodule sets it on its package
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
    """Return the `Face` of a module of msnb: the module with names as in MindSpore 2. It is cached."""
    if isinstance(module, Face):
        return module
    cached = _faces.get(module)
    if cached is None:
        cached = _faces[module] = Face(module)
    return cached


def module_of(path: str) -> types.ModuleType:
    """Return the module of msnb at `path`, such as "msnb.nn", and import it if necessary."""
    return importlib.import_module(path)  # lazy: a module is imported when it is first used


def register_shadowed_submodules(name: str, package: types.ModuleType, of_generation: Any) -> None:
    """Register those submodules of a package whose name stands for a function or class in the package.

    Python sets a submodule on its package when it imports it. The package has imported these submodules already and
    then put the function of the same name in their place, so an import by the path in MindSpore has to leave it there.

    Args:
        name (str): Path of the package in MindSpore.
        package (ModuleType): The package of msnb.
        of_generation (Callable): Returns the module to register for a module of msnb.
    """
    for child, value in list(vars(package).items()):
        submodule = sys.modules.get(f"{package.__name__}.{child}")
        if submodule is not None and submodule is not value:
            sys.modules.setdefault(f"{name}.{child}", of_generation(submodule))


def _is_module_of_msnb(module):
    return module.__name__.split(".", 1)[0] == _ROOT


class _Finder:
    """Finder on sys.meta_path; imports `msnb.mindspore2.x.y`, for which there are no files.

    It is the first entry of `sys.meta_path`: Python's own finder would find the files of packages in the `__path__` of
    a face and load them a second time.
    """

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(f"{_NAME}."):
            return None
        module = module_of(_ROOT + name[len(_NAME) :])
        return ModuleSpec(name, self, loader_state=(face(module), module.__spec__))

    def create_module(self, spec):
        return spec.loader_state[0]

    def exec_module(self, module):
        """Restore the spec that Python has replaced. The module has run already."""
        package = module.__dict__["_module"]
        register_shadowed_submodules(module.__spec__.name, package, face)
        module.__dict__["__spec__"] = package.__spec__


__path__: list[str] = []  # marks this module as a package
sys.meta_path.insert(0, _Finder())


def __getattr__(name: str) -> Any:
    return getattr(face(msnb), name)


def __dir__() -> list[str]:
    return dir(msnb)
