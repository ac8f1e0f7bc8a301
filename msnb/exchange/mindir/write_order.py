"""What a file that writes Parameters says of the order: all is loaded first, then each write waits for those before.

MindSpore has a value for a point in time. `Load` takes a Parameter at one, an operator that writes takes one as its
last input, and `UpdateState` makes the next one of it and of what has to be there by then.
"""

from collections.abc import Iterable
from typing import Any

from msnb.exchange.mindir.operators import Unsayable, table
from msnb.exchange.mindir.spelling import Name
from msnb.formats import mindir
from msnb.ir.anf import CNode, FuncGraph, ParameterNode
from msnb.nn.graph_cell import targets, written

_MONAD = {"name": "shape", "type": mindir.UMONAD}
_WRITES = {"side_effect_mem": True}


class OrderWriter:
    """What of a `Writer` writes Parameters."""

    graph: FuncGraph
    name: str
    count: int
    nodes: list[dict[str, Any]]
    within: bool
    _emit: Any
    _node: Any
    _primitive: Any
    _known: Any

    def _in_order(self, graph: FuncGraph, env: dict[Any, Any]) -> list[CNode]:
        """The nodes of the outermost graph, those that depend on a write last; what is written is loaded before."""
        self.time: Name | None = None
        self.waiting: set[CNode] = set()  # nodes whose results a write waits for, as soon as they are there
        found = written(graph)
        if not found:
            return list(graph.nodes)
        self.time = self._moment()
        loads = self._primitive("Load", {})
        for parameter in found:
            raw = env[parameter, 0]
            env[parameter, "itself"] = raw
            env[parameter, 0] = self._emit(f"REF::{loads}", [raw, self.time], parameter.types, "Load")
        late: set[Any] = set()
        for node in graph.nodes:
            if targets(node) or any(source in late for source in node.inputs):
                late.add(node)
        early = [node for node in graph.nodes if node not in late]
        self.waiting = {node for node in early if any(source in found for source in node.inputs)}
        self.waiting.update(node for node in late if not targets(node))
        return early + [node for node in graph.nodes if node in late]

    def _moment(self):
        """The constant for the beginning."""
        self.count += 1
        name = Name(f"ValueNode_{self.count}")
        told = {"name": "value", "type": mindir.UMONAD}
        self.nodes.append({"output": [name], "name": name, "op_type": "Constant", "attribute": [told]})
        return name

    def _next(self, env: dict[Any, Any], names: Iterable[Name] = ()) -> None:
        """The time when all that is there of what is waited for is there."""
        there = [
            node for node in self.graph.nodes if node in self.waiting and ((node, 0) in env or (node, None) in env)
        ]
        self.waiting.difference_update(there)
        names = [*names, *(env[(node, 0) if (node, 0) in env else (node, None)] for node in there)]
        names = [name for name in names if isinstance(name, Name)]
        if names:
            made = self._primitive("UpdateState", {})
            self.time = self._emit(f"REF::{made}", [self.time, *names], (), "UpdateState", _MONAD)

    def _write_in_place(self, node: CNode, given: dict[str, Any], env: dict[Any, Any], op: Any) -> Any:
        """Write an operator that writes Parameters; the names of their new values."""
        if self.within:
            raise Unsayable("a Parameter that a branch or a loop writes")
        places = targets(node)
        parameters = [node.inputs[place] for place in places]
        if not all(isinstance(parameter, ParameterNode) and (parameter, "itself") in env for parameter in parameters):
            raise Unsayable("the result of another operator that it writes")
        for place, parameter in zip(op.written, parameters):
            given[op.inputs[place].name] = env[parameter, "itself"]
        self._next(env)
        function = op.name in table
        inputs = [given[inp.name] for inp in op.inputs]
        if function:
            attributes = dict(_WRITES)
            inputs = [given[name] for name, *_ in table[op.name].arguments]
        else:
            attributes = {**{name: given[name] for name in op.attributes}, **_WRITES}
            attributes["input_names"] = [inp.name for inp in op.inputs]
        kind = parameters[0].types if len(parameters) == 1 or not op.returns_written else node.types
        made = self._node(op.name, [*inputs, self.time], kind, attributes, function)
        self._next(env, [made])
        loads = self._primitive("Load", {})
        return [
            self._emit(f"REF::{loads}", [env[parameter, "itself"], self.time], parameter.types, "Load")
            for parameter in parameters
        ]

    def _at_end(self, result: Name, types: Any) -> Name:
        """A result that is there when all has been written."""
        if self.time is None or self.within:
            return result
        made = self._primitive("Depend", {"side_effect_propagate": 1})
        return self._emit(f"REF::{made}", [result, self.time], types, "Depend")
