"""Memory of a program: Parameters, activations stored for the gradient, and the peak."""

from typing import TYPE_CHECKING, Any

from msnb.ir.anf import CNode

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.ir.anf import FuncGraph

_MAX_ROWS = 40


class Memory:
    """Memory of one program, in bytes.

    Attributes:
        parameters (list): (name, bytes, whether trained) of the Parameters that the program reads or writes; optimizer
            state is not trained.
        arguments (int), outputs (int), temporary (int), shared (int): XLA's figures after compiling: inputs, results,
            working space, and results that reuse the memory of inputs. None if XLA has no figures.
        peak (int): inputs, results and working space together; shared memory is counted once.
        activations (list): (bytes, operator, scope, source) of forward results that a gradient reads, largest first.
        curve (list): (position, bytes) of the live results in program order, at most 200 points; XLA may need less,
            because it can reorder operations and share memory. `top` has (bytes, operator, scope, source) at its peak.
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
        """Bytes of the results that are stored between the forward and the backward pass."""
        return sum(size for size, *_ in self.activations)


def of_program(program: "Program", graph: "FuncGraph") -> "Memory | None":
    """Return the memory of a program of `msnb.core.program.program_cache`; `graph` is its FuncGraph."""
    memory = Memory()
    read = {node for inner in graph.all_nodes() if inner.direction != "update" for node in inner.inputs}
    # Parameters that only the update reads are optimizer state, whatever their requires_grad
    own = {id(p) for p, node in zip(program.params, graph.parameters, strict=False) if node in read and p.requires_grad}
    memory.parameters = sorted(
        (
            (p.name, int(p._get_stored_array().nbytes), id(p) in own)
            for p in {id(p): p for p in (*program.params, *program.written)}.values()
        ),
        key=lambda entry: -entry[1],
    )
    try:
        analysis = program.compiled(with_stop_flag=True).memory_analysis()
    except Exception:  # not every backend supports it
        analysis = None
    if analysis is not None:
        memory.arguments = int(analysis.argument_size_in_bytes)
        memory.outputs = int(analysis.output_size_in_bytes)
        memory.temporary = int(analysis.temp_size_in_bytes)
        memory.shared = int(analysis.alias_size_in_bytes)
        memory.peak = memory.arguments + memory.outputs + memory.temporary - memory.shared
    _analyse_live_ranges(graph, memory)
    return memory


def _analyse_live_ranges(graph, memory):
    """Set activations, curve and top from the live range of each result."""
    last, back = {}, set()
    for place, node in enumerate(graph.nodes):
        for source, slot in node.uses:
            if isinstance(source, CNode):
                last[source, slot] = place
                if node.direction != "forward" and source.direction == "forward":
                    back.add((source, slot))
    for source, slot in graph.outputs:
        last[source, slot] = len(graph.nodes)
    memory.activations = sorted(
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
    memory.curve = _thin_curve(curve)
    memory.top = sorted(
        ((size, node.name, node.scope, node.source) for (node, _), size in best[1].items()), key=lambda entry: -entry[0]
    )[:_MAX_ROWS]


def _thin_curve(curve, most=200):
    """Return at most this many points, each the highest of its segment."""
    if len(curve) <= most:
        return curve
    stride = -(-len(curve) // most)
    return [max(curve[at : at + stride], key=lambda point: point[1]) for at in range(0, len(curve), stride)]
