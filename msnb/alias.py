"""`import mindspore` means msnb, for a session or a script, until it is undone.

    import msnb.alias
    msnb.alias.install()
    from mindspore import nn        # is msnb.nn, the very same module object

Every module `mindspore.x` is the module `msnb.x`. Only `mindspore` itself is an object of its own: it has all that msnb
has, but answers to its own name and to the version of MindSpore whose interface this is.

    msnb.alias.install(api=2)

makes it MindSpore 2's: then `mindspore.x` is `msnb.mindspore2.x`, which is other where r1.1 and MindSpore 2 disagree.
A module keeps what it was imported under. Where neither `api` nor the environment variable MSNB_API says it, the
program does, see `settle`.
"""

import importlib.metadata
import importlib.util
import os
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msnb
from msnb import log
from msnb.common.missing import missing as missing
from msnb.core.operator import api_generations
from msnb.insight import terminal_traceback
from msnb.mindspore2 import face, module_of

if TYPE_CHECKING:  # named in annotations alone
    from msnb.check.choosing import Judgement

__all__ = ["install", "uninstall", "installed", "api", "hidden", "mindspore", "mindspore2"]

__version__ = api_generations.VERSIONS[1]  # what `from mindspore import __version__` gives

_HERE, _THERE = "msnb", "mindspore"
_OWN = frozenset(
    ("__name__", "__version__", "__spec__", "__loader__", "__package__", "__path__", "__file__", "__doc__")
)


class _MindSpore(types.ModuleType):
    """msnb under the name and version of MindSpore; what is set on it is set on msnb.

    Args:
        generation (int): Whose names these are.
    """

    def __init__(self, generation):
        super().__init__(_THERE, msnb.__doc__)
        own = self.__dict__
        own.update(_generation=generation, __version__=api_generations.VERSIONS[generation], __package__=_THERE)
        own.update(__file__=msnb.__file__, __path__=msnb.__path__)

    @property
    def _all(self):
        return msnb if self._generation == 1 else face(msnb)

    def __getattr__(self, name):
        try:
            return getattr(self._all, name)
        except AttributeError:
            raise AttributeError(missing(f"{_THERE}.{name}"), name=name, obj=self) from None

    def __setattr__(self, name, value):
        if name in _OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._all, name, value)

    def __delattr__(self, name):
        if name in _OWN:
            super().__delattr__(name)
        else:
            delattr(self._all, name)

    def __dir__(self):
        return dir(msnb)

    def __repr__(self):
        of = f", as MindSpore {self.__version__}" if self._generation > 1 else ""
        return f"<module '{_THERE}' ({_HERE} {msnb.__version__}{of} from {msnb.__file__!r})>"


class _Finder:
    """Stands first on sys.meta_path and serves `mindspore` and everything below it."""

    generation = 1

    def find_spec(self, name, path=None, target=None):
        if name == _THERE:
            return ModuleSpec(name, self, origin=msnb.__file__, is_package=True)
        if not name.startswith(_THERE + "."):
            return None
        module = _twin(name)
        if module is None:
            # `name=` differs from what was asked for on purpose: of an import that `from mindspore import x` tries,
            # Python drops the error that carries exactly that name, and with it the sentence.
            raise ModuleNotFoundError(missing(name), name=_HERE + name[len(_THERE) :])
        seen = module if self.generation == 1 else face(module)
        return ModuleSpec(name, self, loader_state=(seen, module.__spec__))

    def create_module(self, spec):
        return _TOPS[self.generation] if spec.name == _THERE else spec.loader_state[0]

    def exec_module(self, module):
        # The module has run already. Python has just put the spec of the alias on it, which would make reloading and
        # relative imports believe in the other name.
        if not isinstance(module, _MindSpore):
            module.__spec__ = module.__spec__.loader_state[1]


def _twin(name):
    """The module of msnb that `mindspore.x.y` is; None where there is none."""
    parent, _, child = name.rpartition(".")
    # By the parent's own name: a path of MindSpore's may lead to a module that stands elsewhere in msnb.
    base = _HERE if parent == _THERE else getattr(sys.modules.get(parent), "__name__", _HERE + parent[len(_THERE) :])
    path = f"{base}.{child}"
    try:
        if path in sys.modules or importlib.util.find_spec(path) is not None:
            return module_of(path)
    except ModuleNotFoundError as error:
        if error.name not in (base, path, _THERE + path[len(_HERE) :]):
            raise  # the module is there and lacks something else
    known = getattr(sys.modules.get(base), child, None)
    return known if isinstance(known, types.ModuleType) and known.__name__.startswith(_HERE + ".") else None


class _Explainer:
    """Stands last on sys.meta_path: a name below msnb that nobody has found gets a sentence that helps."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(_HERE + "."):
            return None
        parent = sys.modules.get(name.rpartition(".")[0])
        if getattr(getattr(parent, "__spec__", None), "_initializing", False):
            return None  # imports that run in a circle: Python says so itself
        name = _THERE + name[len(_HERE) :]
        raise ModuleNotFoundError(missing(name), name=name)


mindspore = _MindSpore(1)  # what `import mindspore` gives, here and in %%mindspore cells
mindspore2 = _MindSpore(2)  # the same for programs that are written for MindSpore 2
_TOPS = {1: mindspore, 2: mindspore2}
_finder, _explainer = _Finder(), _Explainer()
for _top in _TOPS.values():
    _top.__spec__ = ModuleSpec(_THERE, _finder, origin=msnb.__file__, is_package=True)
    _top.__loader__ = _finder
_WAY = "msnb.alias.install(api={0}) or MSNB_API={0}"  # to ask for a generation


class _Session:
    """What this process has settled about generations.

    Attributes:
        generation (Union[int, None]): The one that the first program showed, or that was asked for.
        is_asked (bool): Whether `install(api=...)` asked for it.
        is_contradicted (bool): Whether a later program that shows another one has been told of.
    """

    def __init__(self):
        self.generation: int | None = None
        self.is_asked = self.is_contradicted = False


_session = _Session()
_set_aside = {}  # modules of a real MindSpore that had been imported before


def install(warn: bool = True, api: int | None = None) -> None:
    """Make `import mindspore` mean msnb in this process. Installing twice changes nothing but the generation.

    An error that the program does not catch is then shown without the frames inside msnb and JAX, unless the program
    has a `sys.excepthook` of its own or the environment says MSNB_TRACEBACK=full.

    Args:
        warn (bool): Whether to log once that an installed MindSpore is hidden until :func:`uninstall`. Default: True.
        api (Union[int, None]): 1, names mean what they mean in MindSpore r1.1; 2, what they mean in MindSpore 2, where
            the two disagree. Modules keep what they were imported under, while the methods of Tensors, which all
            modules share, follow the last choice. Default: None, what the environment variable MSNB_API says, else what
            an earlier call or program has settled, else what the script that runs shows (one line on stderr says so),
            else 1.

    Raises:
        ValueError: If `api` is something else.

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
        _settle_script()
    generation = chosen(api)
    if not installed():
        real = hidden() if warn else None
        if real:
            log.once(f"import mindspore is msnb from here on; {real} is hidden until msnb.alias.uninstall().")
        for name in _modules():
            _set_aside[name] = sys.modules.pop(name)
        sys.meta_path.insert(0, _finder)
        explain()
        terminal_traceback.install()
    elif generation != _finder.generation:
        for name in _modules():
            del sys.modules[name]
    _finder.generation = generation
    api_generations.share(generation)


def chosen(api: Any = None) -> int:
    """The generation that `api` asks for, or where it is None the environment variable MSNB_API; else the one that this
    process has settled, or 1, r1.1's.

    Raises:
        ValueError: If there is no such generation.
    """
    wish = os.environ.get("MSNB_API", "").strip() or _session.generation or 1 if api is None else api
    if isinstance(wish, bool) or str(wish) not in ("1", "2"):
        name = "MSNB_API" if api is None else "api"
        raise ValueError(f"'{name}' should be 1 (MindSpore r1.1) or 2 (MindSpore 2), but got {wish!r}.")
    return int(wish)


def is_asked() -> bool:
    """Return whether a generation was asked for, by `install(api=...)` or by the environment variable MSNB_API."""
    return _session.is_asked or bool(os.environ.get("MSNB_API", "").strip())


def is_settled() -> bool:
    """Return whether the generation of this process is asked for, or a program has shown it."""
    return is_asked() or _session.generation is not None


def settle(judgement: "Judgement", program: str, way: str = _WAY) -> str:
    """Let the first program of this process that shows a generation choose it, unless one is asked for.

    Args:
        judgement (Judgement): What the program shows.
        program (str): What it is called, such as "train.py".
        way (str): How a generation is asked for, with `{0}` in the place of its number.

    Returns:
        str, the sentence that is to be said about it; "" where there is none.
    """
    shown = judgement.generation
    if is_asked() or shown is None:
        return ""
    if _session.generation is None:
        _session.generation = shown
        if installed():
            install(warn=False)
        elif shown != api_generations.shared:
            api_generations.share(shown)
        return judgement.explained(program, way)
    if shown == _session.generation or _session.is_contradicted:
        return ""
    _session.is_contradicted = True
    return judgement.contradicting(program, _session.generation, way)


def _settle_script():
    """Judge the script that this process runs, where there is one, and say what follows."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None or not path.endswith(".py") or not os.path.isfile(path):
        return
    from msnb.check import choosing  # spares who asks for a generation

    script = Path(path).resolve()
    if choosing.is_installed(script) or script.is_relative_to(Path(msnb.__file__).resolve().parent):
        return
    judgement = choosing.judge_script(script)
    said = settle(judgement, script.name)
    if not said and judgement.is_of_mindspore:
        said = judgement.explained(script.name, _WAY)
    if said:
        print(f"msnb: {said}", file=sys.stderr)


def uninstall() -> None:
    """Undo :func:`install`: `import mindspore` is again whatever is installed. Names imported before keep msnb."""
    if not installed():
        return
    sys.meta_path.remove(_finder)
    for name in _modules():
        del sys.modules[name]
    sys.modules.update(_set_aside)
    _set_aside.clear()
    _finder.generation = 1
    _session.__init__()
    api_generations.share(1)
    explain(False)
    terminal_traceback.uninstall()


def api() -> int:
    """The generation of what `import mindspore` gives: that of :func:`install`, else what `chosen` says."""
    return _finder.generation if installed() else chosen()


def installed() -> bool:
    """Return whether `import mindspore` means msnb at present."""
    return _finder in sys.meta_path


def hidden() -> str | None:
    """What :func:`install` hides or would hide, such as "MindSpore 2.7.1 (/path)"; None where no other is installed."""
    loaded = _set_aside.get(_THERE) or sys.modules.get(_THERE)
    if loaded is not None and not isinstance(loaded, _MindSpore):
        return f"MindSpore {getattr(loaded, '__version__', '')} ({getattr(loaded, '__file__', 'no file')})"
    spec = PathFinder.find_spec(_THERE)
    if spec is None or spec.origin is None:  # no origin: a folder that merely bears the name
        return None
    for distribution in (_THERE, "mindspore-gpu", "mindspore-ascend"):
        try:
            return f"MindSpore {importlib.metadata.version(distribution)} ({spec.origin})"
        except importlib.metadata.PackageNotFoundError:
            pass
    return f"another MindSpore ({spec.origin})"


def explain(on: bool = True) -> None:
    """Whether importing a name that msnb lacks is answered with a sentence rather than with Python's own words."""
    if on and _explainer not in sys.meta_path:
        sys.meta_path.append(_explainer)
    elif not on and _explainer in sys.meta_path:
        sys.meta_path.remove(_explainer)


def _modules():
    return [name for name in sys.modules if name == _THERE or name.startswith(_THERE + ".")]
