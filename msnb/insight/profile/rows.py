"""Rows of a profile: the time of one operator, or of one Cell, in a step."""

from typing import TYPE_CHECKING, Any

from msnb.core.errors.cell_path import attribute_path, class_of

from . import attribute

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import CNode


class Row:
    """The time of one operator of one Cell at one line, per step.

    Attributes:
        op (str): operator, ``"Conv2D"``; `name` is its name in the graph, ``"gradConv2D"`` in the backward pass.
        scope (str): path of Cells.
        direction (str): ``"forward"``, ``"backward"`` or ``"update"``.
        source (tuple | None): (file, line, function).
        seconds (float): wall time per step.
        measured (float), fused (float), inferred (float): parts of `seconds`. `measured` comes from kernels of only
            this operator. `fused` comes from kernels into which XLA fused several operators; the measured time of such
            a kernel is divided by counted work. `inferred` comes from kernels that were attributed by their neighbours.
        how (str): ``"measured"``, ``"fused"``, ``"inferred"``, ``"replayed"`` or ``"xla"``, the kind with the largest
            part of `seconds`.
        flops (int), nbytes (int): counted from the shapes, per step.
        kernels (int): number of kernels. `calls` is the number of calls of the operator.
        dispatch (float): in PYNATIVE mode, the part of `seconds` in which Python and JAX dispatched it.
        nodes (list[int]): ids of its nodes in the graph.
    """

    __slots__ = (
        "op",
        "name",
        "scope",
        "direction",
        "source",
        "seconds",
        "measured",
        "fused",
        "inferred",
        "how",
        "flops",
        "nbytes",
        "kernels",
        "calls",
        "nodes",
        "dispatch",
        "replayed",
        "mates",
        "program",
    )

    def __init__(
        self, op: str, name: str, scope: str, direction: str, source: tuple[Any, ...] | None, program: Any = ""
    ) -> None:
        self.op: str = op
        self.name: str = name
        self.scope: str = scope
        self.direction: str = direction
        self.source: tuple[Any, ...] | None = source
        self.seconds: float = 0.0
        self.measured: float = 0.0
        self.fused: float = 0.0
        self.inferred: float = 0.0
        self.dispatch: float = 0.0
        self.replayed: Any = None
        self.how: str = "measured"
        self.flops: int = 0
        self.nbytes: int = 0
        self.kernels: int = 0
        self.calls: int = 0
        self.nodes: list[Any] = []
        self.mates: set[Any] = set()
        self.program: Any = program

    @property
    def cell(self) -> str:
        """The attribute path of the innermost Cell, ``"layer3.2.conv2"``; "" for the network itself."""
        return attribute_path(self.scope, self.program)

    def scale(self, factor: float) -> None:
        """Multiply every time by `factor`."""
        self.seconds *= factor
        self.measured *= factor
        self.fused *= factor
        self.inferred *= factor
        self.dispatch *= factor

    def __repr__(self) -> str:
        return f"Row({self.name} of {self.cell or '?'}: {self.seconds * 1e3:.3f} ms, {self.how})"


class Cell:
    """The time of one scope with its inner scopes, per step. `seconds` is the sum of the three directions."""

    __slots__ = ("scope", "program", "forward", "backward", "update", "own", "flops", "nbytes", "source")

    def __init__(self, scope: str, program: str = "") -> None:
        self.scope: str = scope
        self.program: str = program
        self.forward: float = 0.0
        self.backward: float = 0.0
        self.update: float = 0.0
        self.own: float = 0.0
        self.flops: int = 0
        self.nbytes: int = 0
        self.source: Any = None

    @property
    def seconds(self) -> float:
        """Seconds per step, inner scopes included."""
        return self.forward + self.backward + self.update

    def scale(self, factor: float) -> None:
        """Multiply every time by `factor`."""
        self.forward *= factor
        self.backward *= factor
        self.update *= factor
        self.own *= factor

    @property
    def name(self) -> str:
        """The attribute path of the Cell, or its class without one."""
        return attribute_path(self.scope, self.program) or class_of(self.scope) or self.scope.rpartition("/")[2]


def work(nodes: "list[CNode]", inside: Any) -> Any:
    """Return the work of each operator in a kernel.

    It is the number of elements computed in the kernel itself if known, else the operator's FLOPs.
    Fused operators pass values in registers, so bytes do not count.
    """
    amounts = []
    for node in nodes:
        mine = {
            key: size
            for key, size in inside.items()
            if (attribute.plain(key[0]), *key[1:3])
            == (attribute.plain(node.scope), node.op, node.direction == "backward")
        }
        line = node.source[:2] if node.source else None
        exact = [size for key, size in mine.items() if key[3] == line]
        mates = sum(
            1
            for other in nodes
            if (other.scope, other.op, other.direction, other.source)
            == (node.scope, node.op, node.direction, node.source)
        )
        amounts.append(sum(exact or mine.values()) / mates)
    if sum(amounts):
        return amounts
    return [max(node.flops, sum(kind.size for kind in node.types), 1) for node in nodes]
