"""Compiled programs in a notebook: what a cell redefines is seen by the next call, and `%ms_cache` lists them."""

from pathlib import Path
from typing import Any

from msnb.core.errors.source_location import format_location
from msnb.core.program import persistent_cache, program_cache
from msnb.core.state import trace_state
from msnb.notebook.display.html import escape, framed, size


def install(ipython: Any) -> Any:
    """Check at every cell boundary whether compiled programs still fit; returns what undoes it."""

    def at_boundary(*_):
        trace_state.epoch.bump()

    def ms_cache(line):
        """List the compiled programs: the line that first called each, why it was compiled, seconds to trace and
        compile, nodes, calls, and the memory each takes while it runs (inputs, Parameters and results included).
        Below, what is kept on disk, where other sessions find it.

        `%ms_cache clear` forgets them, so that every Cell and function compiles again at its next call; `%ms_cache
        clear disk` removes the files as well.
        """
        words = line.split()
        if words in (["clear"], ["clear", "disk"]):
            print(f"{program_cache.forget()} compiled programs forgotten.")
            kept = persistent_cache.in_use()
            if "disk" in words and kept is not None:
                print("{} files removed, {}.".format(*_counted(*kept.clear())))
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


def _compiling(program):
    """Seconds, of the program's own form and of the one that a tool such as `%ms_grad` looks into."""
    forms = {"": program.seconds.get("compile"), " observed": program.seconds.get("observed")}
    return " + ".join(f"{seconds:.3f}{how}" for how, seconds in forms.items() if seconds is not None) or "not run"


def _memory(program):
    """What a program that has run takes while it runs; asking costs nothing then, as JAX keeps what it compiled."""
    found = program.memory() if program.calls else None
    return "" if found is None else size(sum(found.values()))


def _counted(number, held):
    return number, size(held)


def on_disk() -> str:
    """What is kept on disk, and what it has spared this session, in a sentence."""
    kept = persistent_cache.in_use()
    if kept is None:
        return "Compiled programs are not kept on disk."
    files = kept.files()
    number, held = _counted(kept.executables(), sum(size for _, size, _ in files))
    folder = str(kept.root).replace(str(Path.home()), "~", 1)
    return (
        f"On disk: {number} executables, {held}, in {folder}. In this session {kept.hits} were found there, "
        f"{kept.misses} were compiled."
    )


class Listing:
    """The compiled programs as a table, and below it what is kept on disk.

    Args:
        programs (list): `core.compile.Program`s.
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
        self.kept = on_disk()
        self.rows: list[tuple[Any, str, Any, str, str, str, str, str, str]] = [
            (
                p.title,
                format_location(*p.first_line[:2]) if p.first_line else "",
                p.reason,
                f"{p.seconds.get('trace', 0):.3f}",
                _compiling(p),
                str(len(p.jaxpr.jaxpr.eqns)),
                str(len(p.params)),
                str(p.calls),
                _memory(p),
            )
            for p in programs
        ]

    def __repr__(self) -> str:
        if not self.rows:
            return f"Nothing has been compiled.\n{self.kept}"
        rows = (self._HEAD, *self.rows)
        widths = [max(len(r[i]) for r in rows) for i in range(len(self._HEAD))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, self.kept])

    def _repr_html_(self):
        if not self.rows:
            return framed(f"Nothing has been compiled.<br>{escape(self.kept)}", "compiled programs")
        head = "".join(f"<th>{escape(c)}</th>" for c in self._HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self.rows)
        return framed(f"<table><tr>{head}</tr>{body}</table><div>{escape(self.kept)}</div>", "compiled programs")
