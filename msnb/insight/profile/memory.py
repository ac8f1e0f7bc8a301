"""Memory of a program: Parameters, what is kept for the gradient, the peak."""

from typing import TYPE_CHECKING, Any

from msnb.ir.anf import CNode

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program
    from msnb.ir.anf import FuncGraph

_SHOWN = 40


class Memory:
    """Bytes of one program.

    Attributes:
        parameters (list): (name, bytes, whether trained) of the Parameters that the program reads or writes; optimizer
            state is not trained.
        arguments (int), outputs (int), temporary (int), shared (int): as XLA says after compiling: inputs, results,
            working space, and results that take the place of inputs. None where XLA says nothing.
        peak (int): inputs, results and working space at once.
        activations (list): (bytes, operator, scope, source) of forward results that a gradient reads, largest first.
        curve (list): (position, bytes) of the results alive along the order in which the program was written, at most
            200 points; XLA may order and share them better. `top` holds (bytes, operator, scope, source) at its peak.
    """

    __slots__ = ("parameters", "arguments", "outputs", "temporary", "shared", "peak", "activations", "curve", "top")

    def __init__(self):
        self.parameters: list[Any] = []
        self.activations: list[Any] = []
        self.curve: list[Any] = []
        self.top: list[Any] = []
        self.arguments = self.outputs = self.temporary = self.shared = self.peak = None

    @property
    def parameter_bytes(self) -> int:
        """Bytes of all Parameters, optimizer state included."""
        return sum(size for _, size, _ in self.parameters)

    @property
    def activation_bytes(self) -> int:
        """Bytes that are kept between forward and backward."""
        return sum(size for size, *_ in self.activations)


def of_program(program: "Program", graph: "FuncGraph") -> "Memory | None":
    """Memory of a program of `msnb.core.program.program_cache`; `graph` is it as a FuncGraph."""
    made = Memory()
    read = {node for inner in graph.all_nodes() if inner.direction != "update" for node in inner.inputs}
    # what only the update reads is the optimizer's, whatever it says of gradients
    own = {id(p) for p, node in zip(program.params, graph.parameters, strict=False) if node in read and p.requires_grad}
    made.parameters = sorted(
        (
            (p.name, int(p._stored().nbytes), id(p) in own)
            for p in {id(p): p for p in (*program.params, *program.written)}.values()
        ),
        key=lambda entry: -entry[1],
    )
    try:
        said = program.compiled().memory_analysis()
    except Exception:  # not every backend says
        said = None
    if said is not None:
        made.arguments = int(said.argument_size_in_bytes)
        made.outputs = int(said.output_size_in_bytes)
        made.temporary = int(said.temp_size_in_bytes)
        made.shared = int(said.alias_size_in_bytes)
        made.peak = made.arguments + made.outputs + made.temporary - made.shared
    _live(graph, made)
    return made


def _live(graph, made):
    """Fill in activations, curve and top from how long each result is read."""
    last, back = {}, set()
    for place, node in enumerate(graph.nodes):
        for source, slot in node.uses:
            if isinstance(source, CNode):
                last[source, slot] = place
                if node.direction != "forward" and source.direction == "forward":
                    back.add((source, slot))
    for source, slot in graph.outputs:
        last[source, slot] = len(graph.nodes)
    made.activations = sorted(
        (
            (source.types[slot].nbytes, source.name, source.scope, source.source)
            for source, slot in back
            if slot < len(source.types)
        ),
        key=lambda entry: -entry[0],
    )
    ends, alive, curve, best = {}, {}, [], (0, {})
    for key, place in last.items():
        ends.setdefault(place, []).append(key)
    total = 0
    for place, node in enumerate(graph.nodes):
        for slot, kind in enumerate(node.types):
            if (node, slot) in last:
                alive[node, slot] = kind.nbytes
                total += kind.nbytes
        curve.append((place, total))
        if total > best[0]:
            best = (total, dict(alive))
        for key in ends.get(place, ()):
            total -= alive.pop(key, 0)
    made.curve = _thin(curve)
    made.top = sorted(
        ((size, node.name, node.scope, node.source) for (node, _), size in best[1].items()), key=lambda entry: -entry[0]
    )[:_SHOWN]


def _thin(curve, most=200):
    """At most so many points, each the highest of its stretch."""
    if len(curve) <= most:
        return curve
    stride = -(-len(curve) // most)
    return [max(curve[at : at + stride], key=lambda point: point[1]) for at in range(0, len(curve), stride)]
