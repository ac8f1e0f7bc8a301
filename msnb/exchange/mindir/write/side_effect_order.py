"""Order the side effects in a file that writes Parameters.

All reads come first. Each write waits for the reads and writes before it.

MindSpore orders effects by tokens. `Load` reads a Parameter at a token, and a writing operator takes a token as its
last input. `UpdateState` returns the next token from a token and from values that have to be computed before.
"""

from collections.abc import Iterable
from typing import Any

from msnb.exchange.mindir.encoding import Name
from msnb.exchange.mindir.operators import NotExpressible, table
from msnb.exchange.mindir.write.emitter import Emitter
from msnb.formats import mindir
from msnb.ir.anf import CNode, FuncGraph, ParameterNode
from msnb.nn.graph_cell import written_inputs as targets
from msnb.nn.graph_cell import written_parameters as written

_MONAD = {"name": "shape", "type": mindir.UMONAD}
_WRITES = {"side_effect_mem": True}


class EffectOrder:
    """Orders the reads and writes of Parameters in a file.

    Args:
        graph (FuncGraph): The graph to write.
        emitter (Emitter): Emits the nodes.

    Attributes:
        token (Name): The effect token after the writes so far; None if the graph writes no Parameter.
        pending_reads (set[CNode]): Nodes whose results a write has to wait for.
    """

    def __init__(self, graph: FuncGraph, emitter: Emitter) -> None:
        self.graph = graph
        self.emitter = emitter
        self.token: Name | None = None
        self.pending_reads: set[CNode] = set()

    def order_nodes(self, graph: FuncGraph, env: dict[Any, Any]) -> list[CNode]:
        """Return the nodes of the outermost graph, those that depend on a write last. Load written Parameters first."""
        written_parameters = written(graph)
        if not written_parameters:
            return list(graph.nodes)
        self.token = self._emit_first_token()
        loads = self.emitter.intern_primitive("Load", {})
        for parameter in written_parameters:
            raw = env[parameter, 0]
            env[parameter, "itself"] = raw
            env[parameter, 0] = self.emitter.emit_node(f"REF::{loads}", [raw, self.token], parameter.types, "Load")
        after_writes: set[Any] = set()
        for node in graph.nodes:
            if targets(node) or any(source in after_writes for source in node.inputs):
                after_writes.add(node)
        before_writes = [node for node in graph.nodes if node not in after_writes]
        self.pending_reads = {
            node for node in before_writes if any(source in written_parameters for source in node.inputs)
        }
        self.pending_reads.update(node for node in after_writes if not targets(node))
        return before_writes + [node for node in graph.nodes if node in after_writes]

    def _emit_first_token(self):
        """Write the constant of the first token."""
        return self.emitter.add_constant({"name": "value", "type": mindir.UMONAD})

    def _advance_token(self, env: dict[Any, Any], names: Iterable[Name] = ()) -> None:
        """Advance the token past the pending reads that are complete and past `names`."""
        complete = [
            node
            for node in self.graph.nodes
            if node in self.pending_reads and ((node, 0) in env or (node, None) in env)
        ]
        self.pending_reads.difference_update(complete)
        names = [*names, *(env[(node, 0) if (node, 0) in env else (node, None)] for node in complete)]
        names = [name for name in names if isinstance(name, Name)]
        if names:
            primitive = self.emitter.intern_primitive("UpdateState", {})
            self.token = self.emitter.emit_node(f"REF::{primitive}", [self.token, *names], (), "UpdateState", _MONAD)

    def write_in_place(self, node: CNode, args: dict[str, Any], env: dict[Any, Any], op: Any) -> Any:
        """Write an operator that writes Parameters; return the names of their new values."""
        if self.emitter.is_subfunction:
            raise NotExpressible("a Parameter that a branch or a loop writes")
        written_inputs = targets(node)
        parameters = [node.inputs[index] for index in written_inputs]
        if not all(isinstance(parameter, ParameterNode) and (parameter, "itself") in env for parameter in parameters):
            raise NotExpressible("the result of another operator that it writes")
        for index, parameter in zip(op.written, parameters):
            args[op.inputs[index].name] = env[parameter, "itself"]
        self._advance_token(env)
        function = op.name in table
        inputs = [args[inp.name] for inp in op.inputs]
        if function:
            attributes = dict(_WRITES)
            inputs = [args[name] for name, *_ in table[op.name].arguments]
        else:
            attributes = {**{name: args[name] for name in op.attributes}, **_WRITES}
            attributes["input_names"] = [inp.name for inp in op.inputs]
        kind = parameters[0].types if len(parameters) == 1 or not op.returns_written else node.types
        result = self.emitter.emit_call(op.name, [*inputs, self.token], kind, attributes, function)
        self._advance_token(env, [result])
        loads = self.emitter.intern_primitive("Load", {})
        return [
            self.emitter.emit_node(f"REF::{loads}", [env[parameter, "itself"], self.token], parameter.types, "Load")
            for parameter in parameters
        ]

    def depend_on_writes(self, result: Name, types: Any) -> Name:
        """Make a result depend on all writes."""
        if self.token is None or self.emitter.is_subfunction:
            return result
        primitive = self.emitter.intern_primitive("Depend", {"side_effect_propagate": 1})
        return self.emitter.emit_node(f"REF::{primitive}", [result, self.token], types, "Depend")
