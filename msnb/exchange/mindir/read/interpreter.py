"""Interface of `Reader` for the modules that trace branches and loops."""

from collections.abc import Iterable
from typing import Any, Protocol

from msnb.exchange.mindir.read.loop_exits import Loop


class Interpreter(Protocol):
    """Traces the functions of a MINDIR file. `reader` implements this class.

    Attributes:
        path (str): The file, for messages.
        active (tuple[str]): Functions whose call is not traced, but returned as a `BackEdge`.
        depth (int): Number of functions that contain the current one.
    """

    path: str
    active: tuple[str, ...]
    depth: int

    def call_function(self, name: str, values: Iterable[Any]) -> Any:
        """Trace the call of a function and return its result."""
        ...

    def read_loop(self, name: str, values: Iterable[Any], outer_loop: Loop | None) -> Any:
        """Trace the call of a function that calls itself, which is a loop."""
        ...

    def follow_node(self, node: dict[str, Any], env: dict[str, Any]) -> None:
        """Trace a node and store its result in `env`."""
        ...

    def lookup_value(self, name: str, env: dict[str, Any]) -> Any:
        """Return the value of a name."""
        ...
