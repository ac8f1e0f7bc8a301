"""Write branches and loops as MINDIR does: closures, a choice between two of them, and recursive functions."""

from collections.abc import Sequence
from typing import Any, Protocol

from msnb.exchange.mindir.encoding import Name, description, tensor_description, value_description
from msnb.exchange.mindir.write.emitter import Emitter
from msnb.formats import mindir
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, TensorType


class GraphWriter(Protocol):
    """Protocol: the methods of `Writer` that write the graphs of branches and loops. It avoids a cyclic import of
    `writer`."""

    def write_function(self, name: str, graph: FuncGraph, parameters: Sequence[ParameterNode]) -> dict[str, Any]: ...

    def write_nodes(self, graph: FuncGraph, env: dict[Any, Any]) -> list[Any]: ...

    def write_results(
        self, results: Sequence[Any], types: Sequence[TensorType | None]
    ) -> tuple[Name, dict[str, Any]]: ...

    def value_of(self, env: dict[Any, Any], node: AnfNode, slot: int) -> Any: ...


class ControlWriter:
    """Writes branches and loops.

    Args:
        emitter (Emitter): Emits the nodes.
        writer (Writer): Writes their graphs.

    Attributes:
        functions (list[dict]): Messages of the functions written for branches and loops.
    """

    def __init__(self, emitter: Emitter, writer: GraphWriter) -> None:
        self.emitter = emitter
        self.writer = writer
        self.functions: list[dict[str, Any]] = []

    def _emit_closure(self, function, values):
        """Write a closure: a function with values for its leading arguments."""
        primitive = self.emitter.intern_primitive("Partial", {})
        result_attribute = {"name": "shape", "type": mindir.GRAPH_CLOSURE, "s": function.encode()}
        return self.emitter.emit_node(f"REF::{primitive}", [function, *values], (), "Partial", result_attribute)

    def _emit_switch_call(self, predicate, yes, no, functions, types):
        """Write the call of one of two closures."""
        result_attribute = {
            "name": "shape",
            "type": mindir.ANY_CLOSURE,
            "values": [{"type": mindir.GRAPH_CLOSURE, "s": name.encode()} for name in functions],
        }
        primitive = self.emitter.intern_primitive("Switch", {})
        switch = self.emitter.emit_node(f"REF::{primitive}", [predicate, yes, no], (), "Switch", result_attribute)
        return self.emitter.emit_node(f"REF::{switch}", [], types, "call")

    def _emit_subgraph_inputs(self, node, graph, env):
        """Write the values passed to a subgraph as Tensors and return their names."""
        kinds = [p.types[0] for p in graph.parameters]
        values = [self.writer.value_of(env, node.inputs[i], node.slots[i]) for i in graph.feeds]
        return [self.emitter.emit_tensor(v, k) for v, k in zip(values, kinds, strict=True)]

    def write_switch(self, node: CNode, env: dict[Any, Any]) -> Name:
        """Write a choice between two graphs as the call of one of two closures."""
        names, closures = [], []
        predicate = self.emitter.emit_tensor(self.writer.value_of(env, node.inputs[0], node.slots[0]))
        if self.emitter.type_of(predicate).dtype != "Bool":
            predicate = self.emitter.cast(predicate, "Bool")
        for graph in node.graphs:
            name = f"{self._make_unique_name(graph)}"
            args = self._emit_subgraph_inputs(node, graph, env)
            self.functions.append(self.writer.write_function(name, graph, graph.parameters))
            names.append(name)
            closures.append(self._emit_closure(name, args))
        return self._emit_switch_call(predicate, closures[1], closures[0], names[::-1], node.types)

    def _make_unique_name(self, graph):
        return f"{self.emitter.next_number()}_{graph.name.replace(':', '_')}"

    def write_while(self, node: CNode, env: dict[Any, Any]) -> Name:
        """Write a loop as three functions: the condition, the body, which calls the condition again, and the end."""
        test, body = node.graphs
        state = body.parameters[body.free :]
        free = [i for graph in (test, body) for i in graph.feeds[: graph.free]]
        free_inputs = list(dict.fromkeys(free))
        header, rounds, end = (
            f"{self._make_unique_name(g)}{ending}" for g, ending in ((test, ""), (body, ""), (body, "_end"))
        )
        kinds = {i: p.types[0] for g in (test, body) for i, p in zip(g.feeds[: g.free], g.parameters)}
        parameter_names = [f"free_{i}" for i in free_inputs] + [f"state_{i}" for i in range(len(state))]
        types = [kinds[i] for i in free_inputs] + [p.types[0] for p in state]
        args = [
            self.emitter.emit_tensor(self.writer.value_of(env, node.inputs[i], node.slots[i]), kinds[i])
            for i in free_inputs
        ]
        args += [
            self.emitter.emit_tensor(self.writer.value_of(env, node.inputs[i], node.slots[i]), p.types[0])
            for i, p in zip(body.feeds[body.free :], state, strict=True)
        ]

        def add_function(name, make, skip=0):
            with self.emitter.function(name, True) as nodes:
                names = [Name(f"{name}:{n}") for n in parameter_names[skip:]]
                self.emitter.name_types.update(zip(names, types[skip:]))
                result, type_message = make(names)
            inputs = [value_description(n, kind) for n, kind in zip(names, types[skip:])]
            message = {"name": name, "input": inputs, "output": [{"name": result, **type_message}], "node": nodes}
            self.functions.append(message)

        def bind_parameters(graph, names):
            values = [names[free_inputs.index(i)] for i in graph.feeds[: graph.free]] + names[len(free_inputs) :]
            return {(p, 0): v for p, v in zip(graph.parameters, values, strict=True)}

        result_message = {"tensor": [tensor_description(node.types[0])]} if len(node.types) == 1 else {
            "attr_info": description("", node.types)
        }  # fmt: skip

        def write_condition(names):
            predicate = self.emitter.emit_tensor(self.writer.write_nodes(test, bind_parameters(test, names))[0])
            if self.emitter.type_of(predicate).dtype != "Bool":
                predicate = self.emitter.cast(predicate, "Bool")
            go, stop = self._emit_closure(rounds, names), self._emit_closure(end, names[len(free_inputs) :])
            return self._emit_switch_call(predicate, go, stop, [rounds, end], node.types), result_message

        def write_round(names):
            results = self.writer.write_nodes(body, bind_parameters(body, names))
            results = [self.emitter.emit_tensor(r, p.types[0]) for r, p in zip(results, state, strict=True)]
            return self.emitter.emit_node(
                f"REF::{header}", [*names[: len(free_inputs)], *results], node.types, "call"
            ), result_message

        add_function(header, write_condition)
        add_function(rounds, write_round)
        add_function(end, lambda names: self.writer.write_results(names, types[len(free_inputs) :]), len(free_inputs))
        return self.emitter.emit_node(f"REF::{header}", args, node.types, "call")
