"""The interface of `Reader` for the parts that follow branches and loops."""

from collections.abc import Iterable
from typing import Any, Protocol

from msnb.exchange.mindir.read.loop_exits import Loop


class Interpreter(Protocol):
    """Follows the functions of a file. `reader`, which implements it, imports those parts.

    Attributes:
        path (str): The file, for messages.
        active (tuple[str]): Functions whose call is not followed, but is a `BackEdge`.
        depth (int): Number of functions that contain the current one.
    """

    path: str
    active: tuple[str, ...]
    depth: int

    def call_function(self, name: str, values: Iterable[Any]) -> Any:
        """Follow the call of a function and return its result."""
        ...

    def read_loop(self, name: str, values: Iterable[Any], outer_loop: Loop | None) -> Any:
        """Follow the call of a function that calls itself."""
        ...

    def follow_node(self, node: dict[str, Any], env: dict[str, Any]) -> None:
        """Follow a node and put its result into `env`."""
        ...

    def lookup_value(self, name: str, env: dict[str, Any]) -> Any:
        """Return the value of a name."""
        ...
