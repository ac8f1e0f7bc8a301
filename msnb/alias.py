"""Makes `import mindspore` import msnb, for a session or a script, until it is undone.

    import msnb.alias
    msnb.alias.install()
    from mindspore import nn        # is msnb.nn, the very same module object

Every module `mindspore.x` is the module `msnb.x`. Only `mindspore` itself is a separate object: it has all attributes
of msnb, but its own name and the version of the MindSpore whose interface it has.

    msnb.alias.install(api=2)

selects MindSpore 2: then `mindspore.x` is `msnb.mindspore2.x`, which differs where r1.1 and MindSpore 2 disagree. A
module keeps the generation with which it was imported. If neither `api` nor the environment variable MSNB_API
selects a generation, the program does, see `settle`.
"""

import importlib.metadata
import importlib.util
import os
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msnb import log
from msnb.common.missing import missing as missing
from msnb.core.operator import api_generations
from msnb.insight import terminal_traceback
from msnb.mindspore2 import Face, face, module_of, register_shadowed_submodules

if TYPE_CHECKING:  # used only in annotations
    from msnb.check.choosing import Judgement

__all__ = ["install", "uninstall", "installed", "api", "hidden", "mindspore", "mindspore2"]

__version__ = api_generations.VERSIONS[1]  # imported by `from mindspore import __version__`

_HERE, _THERE = "msnb", "mindspore"
_HUB, _HUB_HERE = "mindspore_hub", "msnb.model_zoo.hub"
# Module of MindSpore -> module that it loads. Programs read `PIL.Image` behind `import PIL` alone.
_LOADS = {"mindspore.dataset": "PIL.Image"}
msnb = sys.modules[_HERE]  # loaded before its submodules
_OWN = frozenset(
    ("__name__", "__version__", "__spec__", "__loader__", "__package__", "__path__", "__file__", "__doc__")
)


class _MindSpore(types.ModuleType):
    """msnb under the name and version of MindSpore; attributes set on it are set on msnb.

    Args:
        generation (int): The API generation of the names.
    """

    def __init__(self, generation):
        super().__init__(_THERE, msnb.__doc__)
        own = self.__dict__
        own.update(_generation=generation, __version__=api_generations.VERSIONS[generation], __package__=_THERE)
        own.update(__file__=msnb.__file__, __path__=msnb.__path__)

    @property
    def _namespace(self):
        return msnb if self._generation == 1 else face(msnb)

    def __getattr__(self, name):
        try:
            return getattr(self._namespace, name)
        except AttributeError:
            raise AttributeError(missing(f"{_THERE}.{name}"), name=name, obj=self) from None

    def __setattr__(self, name, value):
        if name in _OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._namespace, name, value)

    def __delattr__(self, name):
        if name in _OWN:
            super().__delattr__(name)
        else:
            delattr(self._namespace, name)

    def __dir__(self):
        return dir(msnb)

    def __repr__(self):
        of = f", as MindSpore {self.__version__}" if self._generation > 1 else ""
        return f"<module '{_THERE}' ({_HERE} {msnb.__version__}{of} from {msnb.__file__!r})>"


class _Distribution(importlib.metadata.Distribution):
    """Metadata of `mindspore` while it is msnb: the name and the version.

    Args:
        version (str): The version of the MindSpore whose interface the program gets.
    """

    def __init__(self, version):
        self._text = f"Metadata-Version: 2.1\nName: {_THERE}\nVersion: {version}\n"

    def read_text(self, filename):
        return self._text if filename == "METADATA" else None

    def locate_file(self, path):
        return Path(msnb.__file__).parent.parent / path


class _Finder:
    """First finder on sys.meta_path; imports `mindspore` and everything below it."""

    generation = 1

    def find_distributions(self, context):
        # Libraries ask `importlib.metadata.version("mindspore")` if MindSpore is there. A list of all distributions has
        # no entry of the alias: nothing is installed under that name.
        if context.name == _THERE:
            yield _Distribution(api_generations.VERSIONS[self.generation])

    def find_spec(self, name, path=None, target=None):
        if name == _THERE:
            return ModuleSpec(name, self, origin=msnb.__file__, is_package=True)
        if name == _HUB and not is_hub_installed():
            module = module_of(_HUB_HERE)
            return ModuleSpec(name, self, loader_state=(module, module.__spec__))
        if not name.startswith(_THERE + "."):
            return None
        if name in _LOADS:
            module_of(_LOADS[name])
        module = _find_msnb_module(name)
        if module is None:
            # `name=` differs from the requested name: `from mindspore import x` tries to import `mindspore.x`, and
            # Python discards an error with exactly that name, including its message.
            raise ModuleNotFoundError(missing(name), name=_HERE + name[len(_THERE) :])
        namespace = module if self.generation == 1 else face(module)
        return ModuleSpec(name, self, loader_state=(namespace, module.__spec__))

    def create_module(self, spec):
        return _TOPS[self.generation] if spec.name == _THERE else spec.loader_state[0]

    def exec_module(self, module):
        # The module has run already, but Python has just replaced its spec by the alias's. Restore the module's own
        # spec: reloading and relative imports must not use the alias.
        if not isinstance(module, _MindSpore):
            package, of_generation = (module._module, face) if isinstance(module, Face) else (module, _itself)
            register_shadowed_submodules(module.__spec__.name, package, of_generation)
            module.__spec__ = module.__spec__.loader_state[1]


def _itself(module):
    return module


def is_hub_installed() -> bool:
    """Return whether the package mindspore_hub is installed. Otherwise `msnb.model_zoo.hub` answers for it."""
    return PathFinder.find_spec(_HUB) is not None


def _find_msnb_module(name):
    """Return the module of msnb for `mindspore.x.y`, or None."""
    parent, _, child = name.rpartition(".")
    # the base is the `__name__` of the parent: a path of MindSpore may lead to a module with another path in msnb
    base = _HERE if parent == _THERE else getattr(sys.modules.get(parent), "__name__", _HERE + parent[len(_THERE) :])
    path = f"{base}.{child}"
    try:
        if path in sys.modules or importlib.util.find_spec(path) is not None:
            return module_of(path)
    except ModuleNotFoundError as error:
        if error.name not in (base, path, _THERE + path[len(_HERE) :]):
            raise  # the module exists, but one of its imports fails
    submodule = getattr(sys.modules.get(base), child, None)
    return submodule if isinstance(submodule, types.ModuleType) and submodule.__name__.startswith(_HERE + ".") else None


class _Explainer:
    """Last finder on sys.meta_path; raises a helpful error for names below msnb that do not exist."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(_HERE + "."):
            return None
        parent = sys.modules.get(name.rpartition(".")[0])
        if getattr(getattr(parent, "__spec__", None), "_initializing", False):
            return None  # a circular import: Python's own message is better
        name = _THERE + name[len(_HERE) :]
        raise ModuleNotFoundError(missing(name), name=name)


mindspore = _MindSpore(1)  # the result of `import mindspore`, also in %%mindspore cells
mindspore2 = _MindSpore(2)  # the result of `import mindspore` in programs for MindSpore 2
_TOPS = {1: mindspore, 2: mindspore2}
_finder, _explainer = _Finder(), _Explainer()
for _top in _TOPS.values():
    _top.__spec__ = ModuleSpec(_THERE, _finder, origin=msnb.__file__, is_package=True)
    _top.__loader__ = _finder
_WAY = "msnb.alias.install(api={0}) or MSNB_API={0}"  # text for messages: how to select a generation


class _Session:
    """The API generation that is selected in this process.

    Attributes:
        generation (Union[int, None]): The requested generation, or that of the first program. None if neither exists.
        is_asked (bool): True if `install(api=...)` has requested the generation.
        is_contradicted (bool): True if a message about a later program of another generation was printed.
    """

    def __init__(self):
        self.generation: int | None = None
        self.is_asked = self.is_contradicted = False


_session = _Session()
_set_aside = {}  # modules of a real MindSpore that was imported earlier


def install(warn: bool = True, api: int | None = None) -> None:
    """Make `import mindspore` import msnb in this process. A second call only changes the generation, see `api`.

    Tracebacks of uncaught errors then omit the frames inside msnb and JAX, unless the program has its own
    `sys.excepthook` or the environment sets MSNB_TRACEBACK=full.

    Args:
        warn (bool): Whether to log once that an installed MindSpore is hidden until :func:`uninstall`. Default: True.
        api (Union[int, None]): The API generation. Where MindSpore r1.1 and MindSpore 2 disagree, names have their
            meaning in r1.1 with 1 and in MindSpore 2 with 2. A module keeps the generation with which it was imported.
            All modules share the methods of Tensors; these follow the last call. With None, the generation is the first
            of these that exists: the environment variable MSNB_API, the generation of an earlier call or program, that
            of the running script (one line on stderr names it), 1. Default: None.

    Raises:
        ValueError: If `api` has another value.

    Examples:
        >>> import msnb.alias
        >>> msnb.alias.install()
        >>> import mindspore
        >>> mindspore.__version__
        '1.1.1'
    """
    if api is not None:
        _session.generation, _session.is_asked = chosen(api), True
    elif not is_settled():
        _select_script_generation()
    generation = chosen(api)
    if not installed():
        real = hidden() if warn else None
        if real:
            log.once(f"import mindspore is msnb from here on; {real} is hidden until msnb.alias.uninstall().")
        for name in _list_alias_names():
            _set_aside[name] = sys.modules.pop(name)
        sys.meta_path.insert(0, _finder)
        explain()
        terminal_traceback.install()
    elif generation != _finder.generation:
        for name in _list_alias_names():
            del sys.modules[name]
    _finder.generation = generation
    api_generations.share(generation)


def chosen(api: Any = None) -> int:
    """Return the generation `api`. If it is None, return the generation in the environment variable MSNB_API, else the
    generation that was selected in this process, else 1.

    Raises:
        ValueError: If there is no such generation.
    """
    value = os.environ.get("MSNB_API", "").strip() or _session.generation or 1 if api is None else api
    if isinstance(value, bool) or str(value) not in ("1", "2"):
        name = "MSNB_API" if api is None else "api"
        raise ValueError(f"'{name}' should be 1 (MindSpore r1.1) or 2 (MindSpore 2), but got {value!r}.")
    return int(value)


def is_asked() -> bool:
    """Return whether a generation was requested, by `install(api=...)` or by the environment variable MSNB_API."""
    return _session.is_asked or bool(os.environ.get("MSNB_API", "").strip())


def is_settled() -> bool:
    """Return whether the generation of this process was requested, or selected by a program."""
    return is_asked() or _session.generation is not None


def settle(judgement: "Judgement", program: str, way: str = _WAY) -> str:
    """Select the generation that a program indicates, if none was requested and no earlier program has selected one.

    Args:
        judgement (Judgement): The generation that the program indicates.
        program (str): Name of the program, such as "train.py".
        way (str): The way to select a generation, with `{0}` for its number.

    Returns:
        str, a message for the user: that the generation was selected, or that the program contradicts it. Otherwise "".
    """
    generation = judgement.generation
    if is_asked() or generation is None:
        return ""
    if _session.generation is None:
        _session.generation = generation
        if installed():
            install(warn=False)
        elif generation != api_generations.shared:
            api_generations.share(generation)
        return judgement.explained(program, way)
    if generation == _session.generation or _session.is_contradicted:
        return ""
    _session.is_contradicted = True
    return judgement.contradicting(program, _session.generation, way)


def forget_program() -> None:
    """Let the next program select the generation again, unless one was requested."""
    if not _session.is_asked:
        _session.generation, _session.is_contradicted = None, False
        if not installed() and api_generations.shared != chosen():
            api_generations.share(chosen())


def _select_script_generation():
    """Infer the API generation from the script that this process runs, select it, and print a message.

    Nothing happens if the process does not run a script of the user.
    """
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None or not path.endswith(".py") or not os.path.isfile(path):
        return
    from msnb.check import choosing  # lazy import: only this inference needs it

    script = Path(path).resolve()
    if choosing.is_installed(script) or script.is_relative_to(Path(msnb.__file__).resolve().parent):
        return
    judgement = choosing.judge_script(script)
    message = settle(judgement, script.name)
    if not message and judgement.is_of_mindspore:
        message = judgement.explained(script.name, _WAY)
    if message:
        print(f"msnb: {message}", file=sys.stderr)


def uninstall() -> None:
    """Undo :func:`install`: `import mindspore` imports the installed MindSpore again. Names that were imported before
    still refer to msnb.
    """
    if not installed():
        return
    sys.meta_path.remove(_finder)
    for name in _list_alias_names():
        del sys.modules[name]
    sys.modules.update(_set_aside)
    _set_aside.clear()
    _finder.generation = 1
    _session.__init__()
    api_generations.share(1)
    explain(False)
    terminal_traceback.uninstall()


def api() -> int:
    """Return the generation of `import mindspore`. Before :func:`install`, return the result of `chosen`."""
    return _finder.generation if installed() else chosen()


def installed() -> bool:
    """Return whether `import mindspore` currently imports msnb."""
    return _finder in sys.meta_path


def hidden() -> str | None:
    """Return the MindSpore that :func:`install` hides or would hide, such as "MindSpore 2.7.1 (/path)", or None."""
    loaded = _set_aside.get(_THERE) or sys.modules.get(_THERE)
    if loaded is not None and not isinstance(loaded, _MindSpore):
        return f"MindSpore {getattr(loaded, '__version__', '')} ({getattr(loaded, '__file__', 'no file')})"
    spec = PathFinder.find_spec(_THERE)
    if spec is None or spec.origin is None:  # without origin it is only a folder of that name
        return None
    for name in (_THERE, "mindspore-gpu", "mindspore-ascend"):
        context = importlib.metadata.DistributionFinder.Context(name=name)
        for distribution in importlib.metadata.MetadataPathFinder.find_distributions(context):  # not the alias's own
            return f"MindSpore {distribution.version} ({spec.origin})"
    return f"another MindSpore ({spec.origin})"


def explain(on: bool = True) -> None:
    """Enable or disable the helpful error for names that msnb lacks."""
    if on and _explainer not in sys.meta_path:
        sys.meta_path.append(_explainer)
    elif not on and _explainer in sys.meta_path:
        sys.meta_path.remove(_explainer)


def _list_alias_names():
    return [name for name in sys.modules if name in (_THERE, _HUB) or name.startswith(_THERE + ".")]
