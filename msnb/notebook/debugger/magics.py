"""The magic `%%ms_debug`: pause the training of a cell."""

import linecache
import sys
from collections.abc import Callable
from typing import Any

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from msnb.insight.debugger.pause import Breakpoint, debugger
from msnb.insight.watchpoints.conditions import as_watchpoints
from msnb.notebook.debugger.controls import Controls
from msnb.notebook.graph import cell_breakpoints
from msnb.notebook.graph.watch import ViewedWatch
from msnb.notebook.kernel import cell_scope
from msnb.notebook.kernel.magic_options import parse
from msnb.notebook.kernel.magic_registration import register_magics

MAGIC = "%%ms_debug"


@magics_class
class DebugMagics(Magics):
    """The magic `%%ms_debug`."""

    @no_var_expand
    @magic_arguments("%ms_debug")
    @argument(
        "conditions", nargs="*", help="Watchpoints at which to pause, such as TO or weight_too_large:abs_mean_gt=10."
    )
    @argument("--at", choices=("pause", "raise", "record"), default="pause", help="What a hit does (default pause).")
    @argument("-l", "--line", type=int, action="append", help="Pause at each step that runs this line of the cell.")
    @argument(
        "-b",
        "--node",
        action="append",
        metavar="QUERY",
        help="Pause at each step with these nodes: -b 'op:ReLU line:12'.",
    )
    @argument("-r", "--run", action="store_true", help="Run until the Pause button is pressed.")
    @cell_magic("ms_debug")
    def ms_debug(self, line: str, cell: str | None) -> None:
        """Run a cell that trains, and pause at its first step, or at the hits of watchpoints.

        A pause shows the graph of the step. Its buttons and keys move a cursor over the nodes, forward and back: n and
        p by node, N and P by line, i and o into and out of Cells, ] and [ by round of a loop, m to the other lane, r to
        a node. s runs the next step, c continues, the Pause button pauses again, and Stop ends the training.
        Conditions are those of `msnb.watch`. In JupyterLab and Notebook 7, a click beside a line of a cell sets a
        breakpoint, which has the effect of --line for that cell. Example:

            %%ms_debug TO weight_too_large:abs_mean_gt=10
            import msnb
            ...
            model.train(1, dataset)
        """
        options = parse(self.ms_debug, line)
        if cell is None:  # `rewrite_line` has created a call of the magic without a body
            self._start_debugger(options, _restore_magic_line(sys._getframe(1)))
            return
        with cell_scope.scope():
            self._start_debugger(options, "")
            get_ipython().run_cell(cell)

    @staticmethod
    def _start_debugger(options, file):
        for line in options.line or ():
            if line < 1:
                raise UsageError(f"{MAGIC}: --line should be at least 1, but got {line}.")
        breakpoints = [Breakpoint(line=line, file=file) for line in options.line or ()]
        breakpoints += [each for each in cell_breakpoints.breakpoints() if each not in breakpoints]
        breakpoints += [Breakpoint(query=query.strip("'\"")) for query in options.node or ()]
        try:
            texts = [text.strip("'\"") for text in options.conditions]
            conditions = as_watchpoints(texts) if texts else []
        except (TypeError, ValueError) as error:
            raise UsageError(f"{MAGIC}: {error}") from None

        def watch(net):
            return ViewedWatch(net, conditions, at=options.at)

        pauses_first = not (breakpoints or options.run or conditions)
        debugger.start(pauses_first, breakpoints, watch if conditions else None)
        cell_scope.at_end(debugger.stop)


def rewrite_line(lines: list[str]) -> list[str]:
    """Input transformer: replace a line `%%ms_debug OPTIONS` by a call of the magic without a body.

    The line may be before or after `%%mindspore`. The numbers of the other lines do not change.
    """
    heads = [index for index, line in enumerate(lines) if line.strip()][:2]
    words = [lines[index].split(None, 1)[0] for index in heads]
    if MAGIC not in words or words[0] not in (MAGIC, "%%mindspore"):
        return lines
    at = heads[words.index(MAGIC)]
    options = lines[at].strip()[len(MAGIC) :].strip()
    if options.endswith("?"):
        return lines  # IPython itself handles `%%ms_debug?`, a request for help
    lines = list(lines)
    lines[at] = f"get_ipython().run_cell_magic('ms_debug', {options!r}, None)\n"
    if words[1:] == ["%%mindspore"] and at == heads[0]:  # swap the lines: `%%mindspore` must open the scope first
        lines[at], lines[heads[1]] = lines[heads[1]], lines[at]
    return lines


def _restore_magic_line(frame):
    """Restore the magic's line in the line cache, so that views quote the cell as typed. Return the cell's file."""
    while frame is not None:
        file = frame.f_code.co_filename
        entry = linecache.cache.get(file)
        if frame.f_code.co_name == "<module>" and entry is not None and len(entry) == 4:
            lines, number = entry[2], frame.f_lineno - 1
            if number < len(lines) and lines[number].startswith("get_ipython().run_cell_magic('ms_debug', "):
                lines[number] = f"# {MAGIC}\n"
            return file
        frame = frame.f_back
    return ""


def install(shell: Any) -> Callable[[], None]:
    """Register the magic and the graph view of pauses with a shell. Return the undo function."""
    remove_magics = register_magics(shell, DebugMagics(shell))
    transforms = shell.input_transformer_manager.line_transforms
    transforms.insert(0, rewrite_line)
    debugger.front_end = Controls(debugger, shell)

    def undo():
        if rewrite_line in transforms:
            transforms.remove(rewrite_line)
        debugger.stop()
        debugger.front_end = None
        remove_magics()

    return undo
