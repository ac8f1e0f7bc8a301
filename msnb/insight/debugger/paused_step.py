"""The step at which a paused training waits: its cursor, and the command that ends the wait."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msnb.insight.debugger.cursor import Cursor
from msnb.insight.debugger.replay import Replay

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.watchpoints.hits import Hit
    from msnb.ir.anf import CNode


class Pause:
    """A step at which a training waits.

    Args:
        replay (Replay): the step.
        hits (Sequence[Hit]): hits of watchpoints, in the order of execution.
        step (int): number of the step, from 1; None if it is unknown.
        node (CNode): the node at which the cursor starts. Default: None, the node of the first hit, or the first node.
        note (str): the reason of the pause, in a sentence. Default: "".

    Attributes:
        cursor (Cursor): the position in the step.
        order (str): the command that has ended the pause: "continue", "step" or "stop"; "" during the pause.
        n_steps (int): for "step", the number of steps until the next pause.
        problem (str): the reason why the prompt could not read commands; "" if it could.
    """

    def __init__(
        self,
        replay: Replay,
        hits: "Sequence[Hit]" = (),
        step: int | None = None,
        node: "CNode | None" = None,
        note: str = "",
    ) -> None:
        self.replay, self.hits, self.step, self.note = replay, list(hits), step, note
        first = next((hit for hit in self.hits if hit.node is not None), None)
        self.cursor = Cursor(replay, first.node if node is None and first is not None else node, step)
        if first is not None and node is None and first.round is not None:
            self.cursor.round = (first.round,)
        self.order: str = ""
        self.n_steps: int = 1
        self.problem: str = ""
        self.last_line: str = ""  # the move that an empty line repeats
        self.namespace: dict[str, Any] = {}
        self.lock = threading.RLock()  # buttons call `resume` on another thread
        self._resumed = threading.Event()

    @property
    def is_resumed(self) -> bool:
        """True once the training may go on."""
        return self._resumed.is_set()

    def resume(self, order: str, n_steps: int = 1) -> None:
        """End the pause. Later calls have no effect.

        Args:
            order (str): "continue", "step" or "stop".
            n_steps (int): for "step", the number of steps until the next pause. Default: 1.
        """
        with self.lock:
            if not self.is_resumed:
                self.order, self.n_steps = order, n_steps
                self._resumed.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Block until the pause ends. Ctrl-C ends the wait with KeyboardInterrupt. Returns False after `seconds`."""
        return self._resumed.wait(seconds)

    def describe_hits(self) -> str:
        """Return the note and the hits, one per line."""
        return (
            "\n".join([*filter(None, [self.note]), *(hit.describe() for hit in self.hits)]) or "No watchpoint was hit."
        )

    def __repr__(self) -> str:
        return f"Pause({self.cursor.where()})"
