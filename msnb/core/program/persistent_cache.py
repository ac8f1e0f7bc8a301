"""The compilation cache on disk, shared by processes and by networks with equal programs.

JAX searches the cache before it compiles, and writes each new executable to it. A file contains a checksum and one
executable. It gets its name when it is complete. A crash, a full disk or a second process therefore cannot leave a
damaged file that is used. The code in the files is executed: a folder is used only if no other user can write to it.
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

LIMIT = 1 << 30  # maximum bytes of all files together
_DIGEST = 16
_NOTE = ".note"  # suffix of a file with a JSON value, see `take_note`
_CHECK_INTERVAL = 32 << 20  # bytes that this process writes before it checks the limit again


def default_folder():
    """Return the folder of the cache; None if MSNB_COMPILE_CACHE=0 or if the user's cache folder is unknown."""
    folder = cache_folder() / "compiled"
    return folder if os.environ.get("MSNB_COMPILE_CACHE") != "0" and folder.is_absolute() else None


def _hash_machine_and_versions():
    """Return a hash of everything that an executable depends on: versions and the instruction set of the processor."""
    instructions = platform.processor()
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            instructions = next((line for line in file if line.startswith(("flags", "Features"))), instructions)
    text = "\n".join((__version__, jax.__version__, jaxlib.version.__version__, platform.machine(), instructions))
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


class CompiledFiles:
    """Persistent cache for JAX, in a folder for this machine and the installed versions.

    Args:
        root (Path): The parent folder, created with the first file. Each machine and version has a folder in it.

    Attributes:
        hits (int): Number of programs that were read.
        misses (int): Number of programs that had to be compiled.
    """

    def __init__(self, root: str | Path) -> None:
        self.root: Path = Path(root)
        self.folder: Path = self.root / _hash_machine_and_versions()
        self.hits: int = 0
        self.misses: int = 0
        self._written, self._usable = None, None

    # ------------------------------------------------------------------ interface for JAX
    def get(self, key: str) -> bytes | None:
        """Return the executable stored under `key`, or None if there is none or the file is damaged."""
        content = self._read_file(_make_file_name(key))
        if content is None:
            self.misses += 1
        else:
            self.hits += 1
        return content

    def put(self, key: str, value: bytes) -> None:
        """Store an executable. Nothing is stored if the disk is full or read-only."""
        self._write_file(_make_file_name(key), value)

    # ------------------------------------------------------------------ notes about executables
    def note(self, key: str) -> Any:
        """Return the value that `take_note` stored under `key`, or None."""
        content = self._read_file(_make_file_name(key) + _NOTE)
        return None if content is None else json.loads(content)

    def take_note(self, key: str, value: Any) -> None:
        """Store a JSON value in the folder of the executables."""
        self._write_file(_make_file_name(key) + _NOTE, json.dumps(value).encode())

    # ------------------------------------------------------------------ files
    def _read_file(self, name):
        path = self.folder / name
        try:
            if not self._is_usable():
                return None
            content = path.read_bytes()
            if _compute_checksum(name, content[_DIGEST:]) != content[:_DIGEST]:
                path.unlink(missing_ok=True)
                return None
            with contextlib.suppress(OSError):
                os.utime(path)  # `prune` removes the least recently used files
        except OSError:
            return None
        return content[_DIGEST:]

    def _write_file(self, name, value):
        try:
            if not self._is_usable(make=True):
                return
            with writing(self.folder / name, permissions=0o600, durable=False) as file:
                file.write(_compute_checksum(name, value) + value)
        except OSError:
            return
        if self._written is None or self._written > _CHECK_INTERVAL:
            self.prune()
            self._written = 0
        self._written += len(value)

    @property
    def _path(self):  # JAX reads this attribute of a cache
        return self.folder

    # ------------------------------------------------------------------ maintenance
    def _is_usable(self, make=False):
        """Return True if the folder exists and only the user can write to it; with `make`, create it first."""
        if self._usable is None:
            if make:
                self.root.mkdir(parents=True, exist_ok=True)
                self.folder.mkdir(mode=0o700, exist_ok=True)
            if not self.folder.is_dir():
                return False
            self._usable = _is_private_folder(self.folder)
            if not self._usable:
                log.once(f"Compiled programs are not kept: others may write to {self.folder}.")
        return self._usable

    def files(self) -> list[tuple[float, int, Path]]:
        """Return [(time of last use, bytes, path)] of every cache file, including those of other machines and
        versions.
        """
        files = []
        for path in self.root.glob("*/*"):
            with contextlib.suppress(OSError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode) and _is_cache_file(path):
                    files.append((status.st_mtime, status.st_size, path))
        return files

    def executables(self) -> int:
        """Return the number of stored executables."""
        return sum(path.suffix != _NOTE for *_, path in self.files())

    def prune(self) -> None:
        """Remove the least recently used files until three quarters of the limit are left."""
        files = sorted(self.files())
        total = sum(size for _, size, _ in files)
        target = total if total <= LIMIT else LIMIT * 3 // 4
        for _, size, path in files:
            if total <= target:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size

    def clear(self) -> tuple[int, int]:
        """Remove every file. Returns (number of files, bytes)."""
        count = freed = 0
        for _, size, path in self.files():
            with contextlib.suppress(OSError):
                path.unlink()
                count, freed = count + 1, freed + size
        return count, freed


def _make_file_name(key):
    return hashlib.blake2b(key.encode(), digest_size=24).hexdigest()


def _is_cache_file(path):
    """Return True if this module generates such a file name; other files in the folder are never touched."""
    name = path.name.removesuffix(_NOTE)
    return len(name) == 48 and not set(name) - set("0123456789abcdef")


def _compute_checksum(name, content):
    # The file name is the hash of the key. It is part of the checksum, so that swapped files are detected.
    return hashlib.blake2b(content, digest_size=_DIGEST, key=name.encode()).digest()


def _is_private_folder(folder):
    """Return True if only this user may write to a folder."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


# ------------------------------------------------------------------ the current cache
_current: CompiledFiles | None = None
_compilation = threading.local()


def in_use():
    """Return the `CompiledFiles` that this process uses, or None if a setting of the user replaces it."""
    return _current if _current is not None and jax_compilation.is_cache_installed(_current) else None


def use(root):
    """Store compiled programs below `root` from now on; None disables the cache."""
    global _current
    _current = None if root is None else CompiledFiles(root)
    jax_compilation.install_cache(_current, lambda: getattr(_compilation, "digest", ""))


def _apply_cache_settings(_=None):
    setting = context._state.enable_compile_cache
    if setting is None:
        use(default_folder())
    elif setting in (False, "", "0", "False"):
        use(None)
    else:
        has_path = "compile_cache_path" in context._settings.assigned
        use(os.path.realpath(context._state.compile_cache_path) if has_path else default_folder())


for _setting in ("enable_compile_cache", "compile_cache_path"):
    context.on_change(_setting, _apply_cache_settings)
if jax.config.jax_compilation_cache_dir is None and jax.config.jax_enable_compilation_cache:
    _apply_cache_settings()  # otherwise the user has configured JAX's cache, and msnb does not change it


@contextlib.contextmanager
def compiling(jaxpr):
    """Context manager: mark that this thread compiles a program, and make the Cell paths of its operators part of the
    cache key.
    """
    # Views and profiles show the name stacks of operators, so equal programs with other stacks must not share an
    # executable. JAX's key does not include name stacks.
    paths = "" if _current is None else "\n".join(_iterate_name_stacks(jaxpr, set()))
    _compilation.digest = hashlib.blake2b(paths.encode(), digest_size=16).hexdigest()
    try:
        yield
    finally:
        del _compilation.digest


def is_compiling_program():
    """Return True while this thread compiles a program of GRAPH mode."""
    return hasattr(_compilation, "digest")


def _iterate_name_stacks(jaxpr, visited):
    """Yield the name stack of each equation, including nested jaxprs."""
    if id(jaxpr) in visited:
        return
    visited.add(id(jaxpr))
    for eqn in jaxpr.eqns:
        yield str(eqn.source_info.name_stack)
        for inner in jaxprs_in_params(eqn.params):
            yield from _iterate_name_stacks(inner, visited)
