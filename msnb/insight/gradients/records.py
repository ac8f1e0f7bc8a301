"""Records of a recording: the numbers of a step, and the origin of the first NaN."""

from typing import Any

from msnb.ir.source import show


class NonFinite:
    """The first NaN or infinity of a recording.

    Attributes:
        step (int): the step in which it appeared.
        what (str): "NaN" or "Inf".
        name (str): scope and operator, or the Parameter or input that already contained it.
        direction (str): "forward", "backward", "update" or "input".
        cell (str), source (Union[tuple, None]): Cell and (file, line, function) of the operator.
        node (int): id of the operator in the graph; -1 if there is none.
    """

    def __init__(
        self,
        step: Any,
        what: str,
        name: str,
        direction: str,
        cell: str = "",
        source: tuple[Any, ...] | None = None,
        node: Any = -1,
    ) -> None:
        self.step: Any = step
        self.what: str = what
        self.name: str = name
        self.direction: str = direction
        self.cell: str = cell
        self.source: tuple[Any, ...] | None = source
        self.node: Any = node

    def describe(self) -> str:
        """Return a sentence with the step, and the operator and its line."""
        place = f" at {show(self.source)}" if self.source else ""
        if self.direction == "input":
            return f"Step {self.step}: {self.name} holds {self.what} before anything is computed."
        pass_ = {
            "forward": "in the forward pass",
            "backward": "in the backward pass",
            "update": "in the update of the Parameters",
        }[self.direction]
        return f"Step {self.step}: the first {self.what} comes from {self.name}{place}, {pass_}."

    def __repr__(self) -> str:
        return f"NonFinite(step {self.step}: {self.what} from {self.name}, {self.direction})"


class Step:
    """The numbers of one step."""

    __slots__ = ("number", "loss", "stats", "histograms", "changes", "units", "seconds")

    def __init__(self, number: int | None) -> None:
        self.number: int | None = number
        self.loss: Any = None
        self.stats: dict[Any, Any] = {}  # row key -> vector of summary.COLUMNS
        self.histograms: dict[Any, Any] = {}
        self.changes: dict[Any, Any] = {}  # parameter name -> (rms of the change, rms before it)
        self.units: dict[Any, Any] = {}  # row key -> bool per unit: alive
