"""Stages of a program that are computed on demand; slow ones run on a background thread."""

import threading
from collections.abc import Callable
from typing import Any


class StageBuilder:
    """The stages that a view can compute on demand.

    Args:
        make (Callable): returns the graph of a stage from its name. Default: None, no stages.
        offered (tuple[str]): the stages. Default: ().
        wait (Callable): returns the estimated seconds for a stage, None for a fast stage. Default: None, all stages
            are fast.
    """

    def __init__(
        self,
        make: Callable[[str], Any] | None = None,
        offered: tuple[str, ...] = (),
        wait: Callable[[str], float | None] | None = None,
    ) -> None:
        self.offered = offered
        self.threads: dict[str, threading.Thread] = {}  # stage -> thread that computes it; XLA can't be interrupted
        self._make, self._wait = make, wait
        self._awaited: set[str] = set()  # stages in `threads` whose result will be shown

    def waits(self) -> dict[str, float]:
        """Return {stage: estimated seconds} of the slow stages."""
        estimates = {} if self._wait is None else {name: self._wait(name) for name in self.offered}
        return {name: seconds for name, seconds in estimates.items() if seconds is not None}

    def ask(self, name: str, show: Callable[..., Any], complain: Callable[..., Any]) -> None:
        """Compute a stage, then call `show(name, graph)` or `complain(name, error)`.

        A slow stage runs on its own thread; its result is shown unless `give_up` was called meanwhile.
        """
        if self._make is None or name not in self.offered:
            return
        if name not in self.waits():
            try:
                show(name, self._make(name))
            except Exception as problem:
                complain(name, problem)
            return
        self._awaited.add(name)
        if name not in self.threads:  # a thread that still runs after `give_up` is used again
            work = threading.Thread(target=self._build_stage, args=(name, show, complain), name="msnb-stage")
            self.threads[name] = work
            work.start()

    def give_up(self) -> None:
        """Do not show the stages that are being computed. A later request for one waits for the running thread."""
        self._awaited.clear()

    def _build_stage(self, name, show, complain):
        try:
            graph = self._make(name)
            if name in self._awaited:
                show(name, graph)
        except Exception as problem:
            if name in self._awaited:
                complain(name, problem)
        finally:
            self._awaited.discard(name)
            del self.threads[name]
