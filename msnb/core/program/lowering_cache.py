"""Skip lowering and XLA for a program whose graph was compiled before.

The key of JAX's cache is a hash of the lowered program. If the executable is on disk, lowering therefore takes more
than half of the time of a first call. This module stores an index beside the executables: from the fingerprint of a
graph to the location of its executable. The fingerprint includes the settings and the code that lowering depends on.
An entry of the index has one location for each state: a hash of compile options, devices and XLA flags. A call uses the
executable that was compiled for the call's own state.
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


class _GraphIndex:
    """Index from the fingerprint of a graph to its executable, for `lower_when_needed`."""

    def __init__(self):
        self._files, self._notes = None, {}  # the cache; its entries, key -> {state: location of the executable}

    def _get_notes_of_current_cache(self):
        files = persistent_cache.in_use()
        if files is not self._files:
            self._files, self._notes = files, {}
        return self._notes

    def key(self, name, graph, settings):
        """Return the fingerprint of a graph for one device, or None if the graph must be lowered."""
        files = persistent_cache.in_use()
        if files is None or graph.effects or not jax.config.jax_enable_compilation_cache:
            return None
        settings, backend = dict(settings), settings.get("backend")
        if getattr(backend, "platform", None) != "cpu" or tuple(settings.get("platforms", ())) != ("cpu",):
            return None
        if getattr(settings.get("lowering_parameters"), "for_export", True):  # an export needs the text
            return None
        del settings["backend"]
        config = jax_compilation.lowering_settings()
        if config is None or (code := _fingerprint_code()) is None:
            return None
        effort = context._state.compile_effort
        return fingerprint(code, config, effort, persistent_cache.is_compiling_program(), name, settings, graph)

    def has(self, key):
        """Return True if an executable exists for a graph with this key."""
        notes, files = self._get_notes_of_current_cache(), self._files
        if key not in notes:
            note = None if files is None else files.note(key)
            if note is None:
                return False
            notes[key] = note
        return True

    def find(self, key, state):
        """Return the location of the executable that was compiled for `key` under the conditions `state`, or None."""
        return self._get_notes_of_current_cache().get(key, {}).get(state)

    def remember(self, key, state, entry):
        """Store `entry`, the location of the executable that was compiled for `key` under the conditions `state`."""
        notes, files = self._get_notes_of_current_cache(), self._files
        if files is not None:
            notes[key] = {**notes.get(key, {}), state: entry}
            files.take_note(key, notes[key])


@functools.cache
def _fingerprint_code():
    """Return a fingerprint of the code of operators and of their compilation, from sizes and modification times of the
    files.
    """
    facts: list[Any] = [__version__]
    try:
        for folder in ("core", "ops", "common"):
            for path, _, names in sorted(os.walk(os.path.join(PACKAGE, folder))):
                for name in sorted(names):
                    if name.endswith(".py"):
                        status = os.stat(os.path.join(path, name))
                        facts.append((name, status.st_size, status.st_mtime_ns))
    except OSError:
        return None
    return fingerprint(facts) if len(facts) > 1 else None


jax_compilation.lower_when_needed(_GraphIndex())
