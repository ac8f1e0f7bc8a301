"""Runs the user's callbacks of a ``map`` before and after its epochs and steps."""

from collections.abc import Callable, Iterator
from typing import Any

from msnb.dataset.engine.execution.chunk import Hint


class RunContext:
    """Argument of a callback: the epoch and step of the ``map``. `left` returns True after the user has
    exited the loop over the rows."""

    def __init__(
        self,
        cur_epoch_num: int,
        cur_step_num_in_epoch: int,
        cur_step_num: int,
        left: Callable[[], bool] = lambda: False,
    ) -> None:
        self.left = left
        self.cur_epoch_num: int = cur_epoch_num
        self.cur_step_num_in_epoch: int = cur_step_num_in_epoch
        self.cur_step_num: int = cur_step_num


class Watcher:
    """Calls the callbacks of one ``map`` and counts its epochs and steps.

    Attributes:
        passes: Number of iterations over the map in one epoch of the pipeline. It is the product of the counts of the
            ``repeat`` operators that follow the map.
    """

    def __init__(self, callbacks: Any) -> None:
        self.waiting: list[Any] = [cb for cb in callbacks if hasattr(cb, "wake")]
        self.left: bool = False
        self.callbacks: list[tuple[Any, Any]] = [(cb.create_runtime_obj(), cb.step_size) for cb in callbacks]
        self.passes: int = 1
        self._pass = 0
        self._epoch = 0
        self._step = 0
        self._steps = 0

    def _run_callbacks(self, event, step):
        for functions, size in self.callbacks:
            function = functions.get(event)
            if function is None:
                continue
            if event in ("step_begin", "step_end") and (step - 1) % size:
                continue
            try:
                function(RunContext(self._epoch, step, self._steps, lambda: self.left))
            except Exception as error:
                raise RuntimeError(f"{type(error).__name__}: {error}") from error

    def watch(self, node: Any, hint: Any) -> Iterator[Any]:
        """Yield the chunks of `node`, one row each, and call the callbacks."""
        if self._pass == 0:
            self._run_callbacks("begin", 0)
        if self._pass % self.passes == 0:
            self._epoch += 1
            self._step = 0
            self._run_callbacks("epoch_begin", 0)
        self._pass += 1
        for chunk in node.children[0].chunks(Hint(1)):
            self._step += 1
            self._steps += 1
            self._run_callbacks("step_begin", self._step)
            if self.left:
                return
            result = node.run(chunk)
            self._run_callbacks("step_end", self._step)
            yield result
        if self._pass % self.passes == 0:
            self._run_callbacks("epoch_end", self._step)

    def close(self) -> None:
        """Release callbacks that wait for the training, after the loop was exited early."""
        self.left = True
        for callback in self.waiting:
            callback.wake()


def multiply_passes(node: Any, count: int) -> None:
    """Multiply ``Watcher.passes`` by `count` for each ``map`` with callbacks among the inputs of `node`, a repeat."""
    watcher = getattr(node, "callbacks", None)
    if watcher is not None:
        watcher.passes *= count
    for child in node.children:
        multiply_passes(child, count)
