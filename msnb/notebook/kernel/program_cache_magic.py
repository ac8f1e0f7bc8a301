"""Compiled programs in a notebook: `%ms_cache` lists them, and each cell boundary checks whether they are outdated."""

from pathlib import Path
from typing import Any

from msnb._util.byte_size import format_bytes
from msnb.core.errors.source_location import format_location
from msnb.core.program import persistent_cache, program_cache
from msnb.core.state import trace_state
from msnb.notebook.display.html import escape, framed


def install(ipython: Any) -> Any:
    """Check compiled programs against redefined names at every cell boundary. Return the undo function."""

    def at_boundary(*_):
        trace_state.epoch.bump()

    def ms_cache(line):
        """List the compiled programs: the line that first called each, why it was compiled, seconds to trace and
        compile, nodes, calls, and the memory each takes while it runs (inputs, Parameters and results included).
        A line below the table describes the cache on disk, which all sessions share.

        `%ms_cache clear` discards the compiled programs, so every Cell and function compiles again at its next call.
        `%ms_cache clear disk` removes the files of the cache on disk as well.
        """
        words = line.split()
        if words in (["clear"], ["clear", "disk"]):
            print(f"{program_cache.forget()} compiled programs forgotten.")
            disk_cache = persistent_cache.in_use()
            if "disk" in words and disk_cache is not None:
                print("{} files removed, {}.".format(*_format_count_and_bytes(*disk_cache.clear())))
            return None
        if words:
            print("Usage: %ms_cache, %ms_cache clear, or %ms_cache clear disk")
            return None
        return Listing(program_cache.all_programs())

    ipython.events.register("pre_run_cell", at_boundary)
    ipython.register_magic_function(ms_cache, "line", "ms_cache")

    def undo():
        ipython.events.unregister("pre_run_cell", at_boundary)
        ipython.magics_manager.magics["line"].pop("ms_cache", None)

    return undo


def _format_compile_seconds(program):
    """Return compile seconds of a program, and of its variant with extra outputs for tools such as `%ms_grad`."""
    forms = {"": program.seconds.get("compile"), " observed": program.seconds.get("observed")}
    return " + ".join(f"{seconds:.3f}{how}" for how, seconds in forms.items() if seconds is not None) or "not run"


def _format_memory(program):
    """Return the memory of a program that has run. The query is cheap, because JAX caches the executable."""
    sizes = program.memory() if program.calls else None
    return "" if sizes is None else format_bytes(sum(sizes.values()))


def _format_count_and_bytes(number, octets):
    return number, format_bytes(octets)


def on_disk() -> str:
    """Return a sentence about the cache on disk and its hits in this session."""
    disk_cache = persistent_cache.in_use()
    if disk_cache is None:
        return "Compiled programs are not kept on disk."
    files = disk_cache.files()
    number, total_size = _format_count_and_bytes(disk_cache.executables(), sum(size for _, size, _ in files))
    folder = str(disk_cache.root).replace(str(Path.home()), "~", 1)
    return (
        f"On disk: {number} executables, {total_size}, in {folder}. In this session {disk_cache.hits} were found "
        f"there, {disk_cache.misses} were compiled."
    )


class Listing:
    """The compiled programs as a table, followed by a sentence about the cache on disk.

    Args:
        programs (list): `Program` objects of `core.program`.
    """

    _HEAD = (
        "program",
        "first called at",
        "compiled because",
        "trace s",
        "compile s",
        "nodes",
        "Parameters",
        "calls",
        "memory",
    )

    def __init__(self, programs: list[Any]) -> None:
        self.disk_note = on_disk()
        self.rows: list[tuple[Any, str, Any, str, str, str, str, str, str]] = [
            (
                p.title,
                format_location(*p.first_line[:2]) if p.first_line else "",
                p.reason,
                f"{p.seconds.get('trace', 0):.3f}",
                _format_compile_seconds(p),
                str(len(p.jaxpr.jaxpr.eqns)),
                str(len(p.params)),
                str(p.calls),
                _format_memory(p),
            )
            for p in programs
        ]

    def __repr__(self) -> str:
        if not self.rows:
            return f"Nothing has been compiled.\n{self.disk_note}"
        rows = (self._HEAD, *self.rows)
        widths = [max(len(r[i]) for r in rows) for i in range(len(self._HEAD))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, self.disk_note])

    def _repr_html_(self):
        if not self.rows:
            return framed(f"Nothing has been compiled.<br>{escape(self.disk_note)}", "compiled programs")
        head = "".join(f"<th>{escape(c)}</th>" for c in self._HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self.rows)
        return framed(f"<table><tr>{head}</tr>{body}</table><div>{escape(self.disk_note)}</div>", "compiled programs")
