"""`context.set_context(save_graphs=True)`: write the graphs of every compiled network to files."""

import itertools
import os
import re
from typing import TYPE_CHECKING

from msnb import context, log
from msnb._util.atomic_file import writing
from msnb.core.state import events

from .graphviz import to_dot
from .printer import to_text
from .stages import Stages

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

_numbers = itertools.count()


def install() -> None:
    """Write the graphs of each compiled program from now on, if ``save_graphs`` is on. Further calls do nothing."""
    if not install.done:
        install.done = True
        events.listen(compiled=_write_graphs, name="save_graphs")


install.done = False


def _write_graphs(program):
    """Write the graphs of a compiled program to files. An error while writing does not stop the training."""
    if not context.get_context("save_graphs"):
        return
    folder = context.get_context("save_graphs_path")
    try:
        save(program, folder)
    except Exception as problem:  # failing to write a graph must not stop the training
        log.warning(f"The graphs of {program.name} were not written to '{folder}': {type(problem).__name__}: {problem}")


def save(program: "Program", folder: str) -> list[str]:
    """Write the stages of a program as ``NNN_name_stage.ir`` and ``.dot``.

    Args:
        program (Program): a traced program of `msnb.core.program.program_cache`.
        folder (str): output folder; it is created if it does not exist.

    Returns:
        list[str], the files.
    """
    os.makedirs(folder, exist_ok=True)
    number, name = next(_numbers), re.sub(r"\W+", "_", program.name)
    files, stages = [], Stages(program, program.name)
    for stage in (stages.main, "optimised"):
        graph = stages[stage]
        for suffix, text in ((".ir", to_text(graph)), (".dot", to_dot(graph))):
            path = os.path.join(folder, f"{number:03d}_{name}_{stage}{suffix}")
            with writing(path, "w", encoding="utf-8") as file:
                file.write(text)
            files.append(path)
    return files
