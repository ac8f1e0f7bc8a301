"""Write branches and loops in MINDIR's form: closures, a choice between two of them, and recursive functions."""

from typing import Any

from msnb.exchange.mindir.encoding import Name, description, tensor_description
from msnb.formats import mindir


class ControlWriter:
    """The part of `Writer` that writes branches and loops."""

    nodes: list[dict[str, Any]]
    functions: list[dict[str, Any]]
    count: int
    name: str
    scope: str
    is_subfunction: bool
    cast: Any
    _emit_node: Any
    _write_function: Any
    _name_types: Any
    _value_of: Any
    _intern_primitive: Any
    _write_results: Any
    _write_nodes: Any
    _emit_tensor: Any
    _value_message: Any

    def _emit_closure(self, function, values):
        """Write a function with its leading arguments. The function is an input by its name."""
        primitive = self._intern_primitive("Partial", {})
        result_attribute = {"name": "shape", "type": mindir.GRAPH_CLOSURE, "s": function.encode()}
        return self._emit_node(f"REF::{primitive}", [function, *values], (), "Partial", result_attribute)

    def _emit_choice(self, predicate, yes, no, functions, types):
        """Write the call of one of two closures."""
        result_attribute = {
            "name": "shape",
            "type": mindir.ANY_CLOSURE,
            "values": [{"type": mindir.GRAPH_CLOSURE, "s": name.encode()} for name in functions],
        }
        primitive = self._intern_primitive("Switch", {})
        switch = self._emit_node(f"REF::{primitive}", [predicate, yes, no], (), "Switch", result_attribute)
        return self._emit_node(f"REF::{switch}", [], types, "call")

    def _subgraph_inputs(self, node, graph, env):
        """Return the names of the values passed to a subgraph."""
        kinds = [p.types[0] for p in graph.parameters]
        values = [self._value_of(env, node.inputs[i], node.slots[i]) for i in graph.feeds]
        return [self._emit_tensor(v, k) for v, k in zip(values, kinds, strict=True)]

    def _write_switch(self, node, env):
        names, closures = [], []
        predicate = self._emit_tensor(self._value_of(env, node.inputs[0], node.slots[0]), None)
        if self._name_types[predicate].dtype != "Bool":
            predicate = self.cast(predicate, "Bool")
        for graph in node.graphs:
            name = f"{self._unique_name(graph)}"
            args = self._subgraph_inputs(node, graph, env)
            self.functions.append(self._write_function(name, graph, graph.parameters))
            names.append(name)
            closures.append(self._emit_closure(name, args))
        return self._emit_choice(predicate, closures[1], closures[0], names[::-1], node.types)

    def _unique_name(self, graph):
        self.count += 1
        return f"{self.count}_{graph.name.replace(':', '_')}"

    def _write_while(self, node, env):
        """Write a loop as three functions: the condition, the body, which calls the condition again, and the end."""
        test, body = node.graphs
        state = body.parameters[body.free :]
        free = [i for graph in (test, body) for i in graph.feeds[: graph.free]]
        free_inputs = list(dict.fromkeys(free))
        header, rounds, end = (
            f"{self._unique_name(g)}{ending}" for g, ending in ((test, ""), (body, ""), (body, "_end"))
        )
        kinds = {i: p.types[0] for g in (test, body) for i, p in zip(g.feeds[: g.free], g.parameters)}
        parameter_names = [f"free_{i}" for i in free_inputs] + [f"state_{i}" for i in range(len(state))]
        types = [kinds[i] for i in free_inputs] + [p.types[0] for p in state]
        args = [self._emit_tensor(self._value_of(env, node.inputs[i], node.slots[i]), kinds[i]) for i in free_inputs]
        args += [
            self._emit_tensor(self._value_of(env, node.inputs[i], node.slots[i]), p.types[0])
            for i, p in zip(body.feeds[body.free :], state, strict=True)
        ]

        def add_function(name, make, skip=0):
            outer = self.nodes, self.name, self.scope, self.is_subfunction
            self.nodes, self.name, self.is_subfunction = [], name, True
            names = [Name(f"{name}:{n}") for n in parameter_names[skip:]]
            for n, kind in zip(names, types[skip:]):
                self._name_types[n] = kind
            result, type_message = make(names)
            inputs = [self._value_message(n, kind) for n, kind in zip(names, types[skip:])]
            message = {"name": name, "input": inputs, "output": [{"name": result, **type_message}], "node": self.nodes}
            self.functions.append(message)
            self.nodes, self.name, self.scope, self.is_subfunction = outer

        def bind_parameters(graph, names):
            values = [names[free_inputs.index(i)] for i in graph.feeds[: graph.free]] + names[len(free_inputs) :]
            return {(p, 0): v for p, v in zip(graph.parameters, values, strict=True)}

        result_message = {"tensor": [tensor_description(node.types[0])]} if len(node.types) == 1 else {
            "attr_info": description("", node.types)
        }  # fmt: skip

        def write_condition(names):
            predicate = self._emit_tensor(self._write_nodes(test, bind_parameters(test, names))[0], None)
            if self._name_types[predicate].dtype != "Bool":
                predicate = self.cast(predicate, "Bool")
            go, stop = self._emit_closure(rounds, names), self._emit_closure(end, names[len(free_inputs) :])
            return self._emit_choice(predicate, go, stop, [rounds, end], node.types), result_message

        def write_round(names):
            results = self._write_nodes(body, bind_parameters(body, names))
            results = [self._emit_tensor(r, p.types[0]) for r, p in zip(results, state, strict=True)]
            return self._emit_node(
                f"REF::{header}", [*names[: len(free_inputs)], *results], node.types, "call"
            ), result_message

        add_function(header, write_condition)
        add_function(rounds, write_round)
        add_function(end, lambda names: self._write_results(names, types[len(free_inputs) :]), len(free_inputs))
        return self._emit_node(f"REF::{header}", args, node.types, "call")
