"""Compiled programs on disk, so that the next process, and the next network of the same text, need not compile them.

JAX looks here before it asks XLA to compile, and brings what XLA made. A file holds one executable behind a checksum
and takes its name when it is whole: a crash, a full disk or a second process leaves nothing that could be read as
something else. What runs is what lies here, so the folder is the user's alone; one that others may write is not used.
"""

import contextlib
import hashlib
import json
import os
import platform
import stat
import threading
from pathlib import Path
from typing import Any

import jax
import jaxlib.version
from jax.extend.core import jaxprs_in_params

from msnb import context, log
from msnb._util.atomic_file import writing
from msnb._util.cache_dir import cache_folder
from msnb._version import __version__
from msnb.core.compat import jax_compilation

LIMIT = 1 << 30  # bytes that all files together may take
_DIGEST = 16
_NOTE = ".note"  # ends the name of a file that holds no executable
_LOOK = 32 << 20  # bytes written by this process after which it looks at the limit again


def default_folder():
    """Where programs are kept; None: nowhere, as MSNB_COMPILE_CACHE=0 asks, or because no folder is known."""
    folder = cache_folder() / "compiled"
    return folder if os.environ.get("MSNB_COMPILE_CACHE") != "0" and folder.is_absolute() else None


def _machine():
    """What makes an executable fit: versions, and the instructions of this processor."""
    instructions = platform.processor()
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            instructions = next((line for line in file if line.startswith(("flags", "Features"))), instructions)
    text = "\n".join((__version__, jax.__version__, jaxlib.version.__version__, platform.machine(), instructions))
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


class CompiledFiles:
    """JAX's persistent cache in a folder of this process's machine and versions.

    Args:
        root (Path): The folder, made with the first file. Those of other machines and versions stand beside this one's.

    Attributes:
        hits (int): Programs that were found.
        misses (int): Programs that had to be compiled.
    """

    def __init__(self, root: str | Path) -> None:
        self.root: Path = Path(root)
        self.folder: Path = self.root / _machine()
        self.hits: int = 0
        self.misses: int = 0
        self._written, self._usable = None, None

    # ------------------------------------------------------------------ what JAX calls
    def get(self, key: str) -> bytes | None:
        """The executable kept under `key`; None where there is none, or none that is whole."""
        content = self._read(_name(key))
        if content is None:
            self.misses += 1
        else:
            self.hits += 1
        return content

    def put(self, key: str, value: bytes) -> None:
        """Keep an executable; where the disk is full or must not be written, nothing is kept."""
        self._write(_name(key), value)

    # ------------------------------------------------------------------ what is known of the executables
    def note(self, key: str) -> Any:
        """What `take_note` was given under `key`; None where that was nothing."""
        content = self._read(_name(key) + _NOTE)
        return None if content is None else json.loads(content)

    def take_note(self, key: str, value: Any) -> None:
        """Keep numbers and texts, in dicts and lists, beside the executables."""
        self._write(_name(key) + _NOTE, json.dumps(value).encode())

    # ------------------------------------------------------------------ files
    def _read(self, name):
        path = self.folder / name
        try:
            if not self._may_use():
                return None
            content = path.read_bytes()
            if _checksum(name, content[_DIGEST:]) != content[:_DIGEST]:
                path.unlink(missing_ok=True)
                return None
            with contextlib.suppress(OSError):
                os.utime(path)  # what is used stays longest
        except OSError:
            return None
        return content[_DIGEST:]

    def _write(self, name, value):
        try:
            if not self._may_use(make=True):
                return
            with writing(self.folder / name, permissions=0o600, durable=False) as file:
                file.write(_checksum(name, value) + value)
        except OSError:
            return
        if self._written is None or self._written > _LOOK:
            self.prune()
            self._written = 0
        self._written += len(value)

    @property
    def _path(self):  # part of what JAX expects of a cache
        return self.folder

    # ------------------------------------------------------------------ care
    def _may_use(self, make=False):
        """Whether the folder is there and the user's alone; with `make`, it is made."""
        if self._usable is None:
            if make:
                self.root.mkdir(parents=True, exist_ok=True)
                self.folder.mkdir(mode=0o700, exist_ok=True)
            if not self.folder.is_dir():
                return False
            self._usable = _own(self.folder)
            if not self._usable:
                log.once(f"Compiled programs are not kept: others may write to {self.folder}.")
        return self._usable

    def files(self) -> list[tuple[float, int, Path]]:
        """[(time of last use, bytes, path)] of everything that is kept, other machines' and versions' included."""
        found = []
        for path in self.root.glob("*/*"):
            with contextlib.suppress(OSError):
                about = path.lstat()
                if stat.S_ISREG(about.st_mode) and _ours(path):
                    found.append((about.st_mtime, about.st_size, path))
        return found

    def executables(self) -> int:
        """How many executables are kept."""
        return sum(path.suffix != _NOTE for *_, path in self.files())

    def prune(self) -> None:
        """Remove what was used longest ago until three quarters of the limit are left."""
        files = sorted(self.files())
        held = sum(size for _, size, _ in files)
        wanted = held if held <= LIMIT else LIMIT * 3 // 4
        for _, size, path in files:
            if held <= wanted:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            held -= size

    def clear(self) -> tuple[int, int]:
        """Remove every file; returns (number, bytes)."""
        count = freed = 0
        for _, size, path in self.files():
            with contextlib.suppress(OSError):
                path.unlink()
                count, freed = count + 1, freed + size
        return count, freed


def _name(key):
    return hashlib.blake2b(key.encode(), digest_size=24).hexdigest()


def _ours(path):
    """Whether a file's name is one that is given here: nothing else in the folder is touched."""
    name = path.name.removesuffix(_NOTE)
    return len(name) == 48 and not set(name) - set("0123456789abcdef")


def _checksum(name, content):
    # The name is that of the key, so that a file under the name of another program is not run for it.
    return hashlib.blake2b(content, digest_size=_DIGEST, key=name.encode()).digest()


def _own(folder):
    """Whether a folder is this user's and nobody else may write to it."""
    if not hasattr(os, "getuid"):
        return True
    about = folder.stat()
    return about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


# ------------------------------------------------------------------ which are in use
_used: CompiledFiles | None = None
_scopes = threading.local()


def in_use():
    """The `CompiledFiles` that this process reads and writes; None where a setting of the user's says otherwise."""
    return _used if _used is not None and jax_compilation.is_cache_installed(_used) else None


def use(root):
    """Keep compiled programs below `root` from now on; None: keep none."""
    global _used
    _used = None if root is None else CompiledFiles(root)
    jax_compilation.install_cache(_used, lambda: getattr(_scopes, "digest", ""))


def _follow_context(_=None):
    asked = context._state.enable_compile_cache
    if asked is None:
        use(default_folder())
    elif asked in (False, "", "0", "False"):
        use(None)
    else:
        given = "compile_cache_path" in context._settings.assigned
        use(os.path.realpath(context._state.compile_cache_path) if given else default_folder())


for _setting in ("enable_compile_cache", "compile_cache_path"):
    context.on_change(_setting, _follow_context)
if jax.config.jax_compilation_cache_dir is None and jax.config.jax_enable_compilation_cache:
    _follow_context()  # else the user's own settings of JAX are left as they are


@contextlib.contextmanager
def scoped(jaxpr):
    """While a program is compiled: JAX's key leaves out where its operators stand, and views and profiles show it."""
    paths = "" if _used is None else "\n".join(_paths(jaxpr, set()))
    _scopes.digest = hashlib.blake2b(paths.encode(), digest_size=16).hexdigest()
    try:
        yield
    finally:
        del _scopes.digest


def compiling_program():
    """Whether what this thread compiles is a program of GRAPH mode."""
    return hasattr(_scopes, "digest")


def _paths(jaxpr, seen):
    """The scope of each equation, those of nested graphs included."""
    if id(jaxpr) in seen:
        return
    seen.add(id(jaxpr))
    for eqn in jaxpr.eqns:
        yield str(eqn.source_info.name_stack)
        for inner in jaxprs_in_params(eqn.params):
            yield from _paths(inner, seen)
