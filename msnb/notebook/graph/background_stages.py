"""Stages of a program that are made when a reader asks for them; what takes long is made while the notebook goes on."""

import threading
from collections.abc import Callable
from typing import Any


class Making:
    """The stages that a view can be given.

    Args:
        make (Callable): makes the graph of a stage from its name. Default: None, none can be made.
        offered (tuple[str]): the stages. Default: ().
        wait (Callable): says of a stage about how many seconds it takes, None for one that is made at once. Default:
            None, all are.
    """

    def __init__(
        self,
        make: Callable[[str], Any] | None = None,
        offered: tuple[str, ...] = (),
        wait: Callable[[str], float | None] | None = None,
    ) -> None:
        self.offered = offered
        self.aside: dict[str, threading.Thread] = {}  # stage -> what makes it; XLA cannot be stopped
        self._make, self._wait = make, wait
        self._awaited: set[str] = set()  # stages among these that are shown when they are there

    def waits(self) -> dict[str, float]:
        """{stage: about how many seconds it takes} of those that are not made at once."""
        found = {} if self._wait is None else {name: self._wait(name) for name in self.offered}
        return {name: seconds for name, seconds in found.items() if seconds is not None}

    def ask(self, name: str, show: Callable[..., Any], complain: Callable[..., Any]) -> None:
        """Make a stage; then call `show(name, graph)`, or `complain(name, error)`. What takes long is made on a thread
        of its own, and shown if nobody has given it up."""
        if self._make is None or name not in self.offered:
            return
        if name not in self.waits():
            try:
                show(name, self._make(name))
            except Exception as problem:
                complain(name, problem)
            return
        self._awaited.add(name)
        if name not in self.aside:  # else it was asked for before, and given up
            work = threading.Thread(target=self._work, args=(name, show, complain), name="msnb-stage")
            self.aside[name] = work
            work.start()

    def give_up(self) -> None:
        """Show nothing of what is being made; asked for again, it need not begin anew."""
        self._awaited.clear()

    def _work(self, name, show, complain):
        try:
            made = self._make(name)
            if name in self._awaited:
                show(name, made)
        except Exception as problem:
            if name in self._awaited:
                complain(name, problem)
        finally:
            self._awaited.discard(name)
            del self.aside[name]
