"""A program that was compiled before is found by its graph: neither lowering nor XLA runs again.

JAX finds what it kept by the text of the lowered program, and lowering is the larger half of a first call whose
program is on disk. Beside each executable stands under which fingerprint of its graph it was made; what else lowering
depends on, settings and the code of operators, is part of that name, what XLA depends on is compared.
"""

import functools
import os
from typing import Any

import jax

from msnb import context
from msnb._util.package_path import PACKAGE
from msnb._version import __version__
from msnb.core.compat import jax_compilation
from msnb.core.jaxpr.fingerprint import fingerprint
from msnb.core.program import persistent_cache


class _Known:
    """What `lower_when_needed` asks."""

    def __init__(self):
        self._files, self._notes = None, {}  # key -> {state: what was kept}, of these files

    def _found(self):
        files = persistent_cache.in_use()
        if files is not self._files:
            self._files, self._notes = files, {}
        return self._notes

    def key(self, name, graph, settings):
        """The name of a graph for one device, None for one that is always lowered."""
        files = persistent_cache.in_use()
        if files is None or graph.effects or not jax.config.jax_enable_compilation_cache:
            return None
        settings, backend = dict(settings), settings.get("backend")
        if getattr(backend, "platform", None) != "cpu" or tuple(settings.get("platforms", ())) != ("cpu",):
            return None
        if getattr(settings.get("lowering_parameters"), "for_export", True):  # whose text is what is wanted
            return None
        del settings["backend"]
        config = jax_compilation.lowering_settings()
        if config is None or (code := _code()) is None:
            return None
        effort = context._state.compile_effort
        return fingerprint(code, config, effort, persistent_cache.compiling_program(), name, settings, graph)

    def has(self, key):
        """Whether an executable was made for a graph of this name."""
        found, files = self._found(), self._files
        if key not in found:
            told = None if files is None else files.note(key)
            if told is None:
                return False
            found[key] = told
        return True

    def find(self, key, state):
        """What was kept for a graph under the same conditions."""
        return self._found().get(key, {}).get(state)

    def remember(self, key, state, kept):
        """Keep where the executable of a graph is."""
        found, files = self._found(), self._files
        if files is not None:
            found[key] = {**found.get(key, {}), state: kept}
            files.take_note(key, found[key])


@functools.cache
def _code():
    """What tells this code of operators, and of how they are compiled, from any other: sizes and times of its files."""
    told: list[Any] = [__version__]
    try:
        for folder in ("core", "ops", "common"):
            for path, _, names in sorted(os.walk(os.path.join(PACKAGE, folder))):
                for name in sorted(names):
                    if name.endswith(".py"):
                        about = os.stat(os.path.join(path, name))
                        told.append((name, about.st_size, about.st_mtime_ns))
    except OSError:
        return None
    return fingerprint(told) if len(told) > 1 else None


jax_compilation.lower_when_needed(_Known())
