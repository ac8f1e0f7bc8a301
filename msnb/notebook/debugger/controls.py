"""The graph view of a paused step, with buttons for the commands of the prompt.

The cell that trains blocks the kernel's main thread. The page therefore sends its commands to a subshell, which has its
own thread. ipykernel 7 and JupyterLab 4.4 support subshells. For a page without a subshell, the debugger uses the text
prompt.
"""

import threading
from typing import TYPE_CHECKING, Any

from msnb.insight.debugger.pause import Debugger
from msnb.insight.debugger.paused_step import Pause
from msnb.insight.debugger.prompt import obey
from msnb.notebook.graph.api import of_program
from msnb.notebook.graph.node_values import NodeValues

if TYPE_CHECKING:  # used only in annotations
    from msnb.notebook.graph.view import GraphView

_PATIENCE = 20.0  # timeout in seconds for the answer of a page that is being drawn
_BEFORE_SUBSHELL = 5.0  # timeout in seconds for a page to start a subshell; some front ends never do


class Stepper:
    """Connects the cursor of a pause with one view: sends its state to the page, and executes the page's commands.

    Args:
        debugger (Debugger): the debugger.
        shown (GraphView): the view.
    """

    def __init__(self, debugger: Debugger, shown: "GraphView") -> None:
        self.shown = shown
        self.pause: Pause | None = None
        self.has_page = threading.Event()  # set once the page has answered during a cell
        self._debugger = debugger
        self._lock = threading.RLock()  # messages of the page arrive on another thread than that of the training
        self._status = "running"
        self._said = ""

    def show(self, pause: Pause) -> None:
        """Show a pause."""
        self.pause, self._said = pause, pause.note
        stage = next(iter(self.shown.graphs))
        values = NodeValues(lambda step: pause.replay, stage, (pause.step or 0,))
        values.prepare(pause.cursor.node)  # compile in the background before the cursor moves
        self.shown.show_values(values)
        self.set_status("paused")

    def set_status(self, status: str, said: str | None = None) -> None:
        """Show that the training is "paused", "running" or has "ended"."""
        with self._lock:
            self._status = status
            self._show_message(self._said if said is None else said)

    def _show_message(self, said):
        with self._lock:  # two threads call this; without the lock a page could receive the older state last
            self._said = said
            self.shown.show_stepper()

    @property
    def state(self) -> dict[str, Any]:
        """The state as data for JSON."""
        pause = self.pause
        state: dict[str, Any] = {"status": self._status, "said": self._said, "ready": self.has_page.is_set()}
        if pause is None:
            return {**state, "node": -1, "where": "", "hits": []}
        cursor = pause.cursor
        return {
            **state,
            "node": cursor.node.id,
            "where": cursor.where(),
            "round": cursor.round,
            "hits": [{"node": -1 if hit.node is None else hit.node, "text": hit.describe()} for hit in pause.hits],
        }

    def answer(self, content: dict[str, Any]) -> None:
        """Execute a command of the page: one of the prompt, "pause", or "hello" from a page that has been drawn."""
        word, pause = str(content.get("word", "")), self.pause
        if word == "hello":
            if not self.has_page.is_set():
                self.has_page.set()
                self._show_message(self._said)
            return
        if word == "pause":
            self._debugger.pause_next()
            self._show_message("It pauses at the next step.")
            return
        if pause is None:
            return
        with pause.lock:
            was_resumed = pause.is_resumed
            try:
                said = obey(pause, word)
            except Exception as error:  # send every error as the answer, because the page waits for one
                said = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            if pause.is_resumed == was_resumed:  # after a command that resumes, the training thread shows the state
                self._show_message("" if said == pause.cursor.where() else said)


class Controls:
    """Shows pauses as graph views in the running cell.

    Args:
        debugger (Debugger): the debugger.
        shell (InteractiveShell): the shell of the notebook.
    """

    def __init__(self, debugger: Debugger, shell: Any) -> None:
        self._debugger, self._shell = debugger, shell
        self._steppers: dict[Any, Stepper] = {}  # program of the running cell -> its Stepper
        self._current: Stepper | None = None

    def show(self, pause: Pause) -> bool:
        """Show a pause. Return True if the buttons of its page work; if False, the caller uses the text prompt."""
        kernel = getattr(self._shell, "kernel", None)
        if kernel is None:
            return False
        if not getattr(kernel, "_allow_stdin", True):
            pause.problem = "the front end takes no input"
            return False
        if not getattr(kernel, "_supports_kernel_subshells", False):
            return False
        stepper = self._get_or_create_stepper(pause.replay.program)
        stepper.show(pause)
        if stepper.shown.widget is None:  # buttons need anywidget, which is not installed
            return False
        if not (stepper.has_page.wait(_BEFORE_SUBSHELL) or _has_subshell(kernel) and stepper.has_page.wait(_PATIENCE)):
            stepper.set_status("prompt", "This page can't reach the kernel while a cell runs: use the prompt below.")
            return False
        return True

    def _get_or_create_stepper(self, program):
        stepper = self._steppers.get(program)
        if stepper is None:
            from IPython.display import display  # lazy, to spare scripts the import

            shown = of_program(program, program.name)
            stepper = self._steppers[program] = Stepper(self._debugger, shown)
            shown.attach_stepper(stepper)
            display(shown)
            _route_replies_to_named_shell(shown.widget)
        self._current = stepper
        return stepper

    def has_resumed(self, pause: Pause) -> None:
        """Show that the training continues."""
        if self._current is not None:
            said = "" if pause.order != "step" or pause.n_steps == 1 else f"It pauses after {pause.n_steps} steps."
            self._current.set_status("running", said)

    def is_running(self, program: Any) -> None:
        """Show a view with a Pause button before the first pause."""
        if self._current is None and getattr(getattr(self._shell, "kernel", None), "_allow_stdin", False):
            self._get_or_create_stepper(program)

    def has_ended(self) -> None:
        """Show that the cell has ended. The cursor can still move over the last step."""
        for stepper in self._steppers.values():
            stepper.set_status("ended", "")
        self._steppers.clear()
        self._current = None


def _has_subshell(kernel):
    manager = getattr(getattr(kernel, "shell_channel_thread", None), "manager", None)
    return manager is None or bool(manager.list_subshell())


def _route_replies_to_named_shell(widget):
    """Handle messages of a page on the subshell that the page names.

    ipykernel 7.4 handles them on the shell that last wrote to the page. This is the main shell if the main thread, or a
    thread started by it, wrote last. The running cell blocks the main shell.
    """
    comm = getattr(widget, "comm", None)
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = _return_named_shell


def _return_named_shell(content, named):
    return named
