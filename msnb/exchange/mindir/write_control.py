"""Branches and loops as MINDIR has them: functions that wait for arguments, a choice among two, a call of one's own."""

from typing import Any

from msnb.exchange.mindir.spelling import Name, abstract, described
from msnb.formats import mindir


class ControlWriter:
    """What of a `Writer` writes branches and loops."""

    nodes: list[dict[str, Any]]
    functions: list[dict[str, Any]]
    count: int
    name: str
    scope: str
    within: bool
    cast: Any
    _emit: Any
    _function: Any
    _known: Any
    _of: Any
    _primitive: Any
    _results: Any
    _run: Any
    _tensor: Any
    _value: Any

    def _partial(self, function, values):
        """A function with its first arguments; the name goes in as it is."""
        made = self._primitive("Partial", {})
        told = {"name": "shape", "type": mindir.GRAPH_CLOSURE, "s": function.encode()}
        return self._emit(f"REF::{made}", [function, *values], (), "Partial", told)

    def _chosen(self, predicate, yes, no, functions, types):
        """Call one of two closures."""
        told = {
            "name": "shape",
            "type": mindir.ANY_CLOSURE,
            "values": [{"type": mindir.GRAPH_CLOSURE, "s": name.encode()} for name in functions],
        }
        made = self._primitive("Switch", {})
        switch = self._emit(f"REF::{made}", [predicate, yes, no], (), "Switch", told)
        return self._emit(f"REF::{switch}", [], types, "call")

    def _fed(self, node, graph, env):
        """(names, types) of what a sub-graph is called with."""
        kinds = [p.types[0] for p in graph.parameters]
        values = [self._of(env, node.inputs[i], node.slots[i]) for i in graph.feeds]
        return [self._tensor(v, k) for v, k in zip(values, kinds, strict=True)]

    def _switch(self, node, env):
        names, parts = [], []
        predicate = self._tensor(self._of(env, node.inputs[0], node.slots[0]), None)
        if self._known[predicate].dtype != "Bool":
            predicate = self.cast(predicate, "Bool")
        for graph in node.graphs:
            name = f"{self._fresh(graph)}"
            given = self._fed(node, graph, env)
            self.functions.append(self._function(name, graph, graph.parameters))
            names.append(name)
            parts.append(self._partial(name, given))
        return self._chosen(predicate, parts[1], parts[0], names[::-1], node.types)

    def _fresh(self, graph):
        self.count += 1
        return f"{self.count}_{graph.name.replace(':', '_')}"

    def _while(self, node, env):
        """A function that calls itself: the condition, then the rest of the rounds or the end."""
        test, body = node.graphs
        state = body.parameters[body.free :]
        free = [i for graph in (test, body) for i in graph.feeds[: graph.free]]
        taken = list(dict.fromkeys(free))
        header, rounds, end = (f"{self._fresh(g)}{ending}" for g, ending in ((test, ""), (body, ""), (body, "_end")))
        kinds = {i: p.types[0] for g in (test, body) for i, p in zip(g.feeds[: g.free], g.parameters)}
        own = [f"free_{i}" for i in taken] + [f"state_{i}" for i in range(len(state))]
        types = [kinds[i] for i in taken] + [p.types[0] for p in state]
        given = [self._tensor(self._of(env, node.inputs[i], node.slots[i]), kinds[i]) for i in taken]
        given += [
            self._tensor(self._of(env, node.inputs[i], node.slots[i]), p.types[0])
            for i, p in zip(body.feeds[body.free :], state, strict=True)
        ]

        def function(name, make, skip=0):
            outer = self.nodes, self.name, self.scope, self.within
            self.nodes, self.name, self.within = [], name, True
            names = [Name(f"{name}:{n}") for n in own[skip:]]
            for n, kind in zip(names, types[skip:]):
                self._known[n] = kind
            result, told = make(names)
            taken = [self._value(n, kind) for n, kind in zip(names, types[skip:])]
            made = {"name": name, "input": taken, "output": [{"name": result, **told}], "node": self.nodes}
            self.functions.append(made)
            self.nodes, self.name, self.scope, self.within = outer

        def bound(graph, names):
            values = [names[taken.index(i)] for i in graph.feeds[: graph.free]] + names[len(taken) :]
            return {(p, 0): v for p, v in zip(graph.parameters, values, strict=True)}

        told = {"tensor": [described(node.types[0])]} if len(node.types) == 1 else {
            "attr_info": abstract("", node.types)
        }  # fmt: skip

        def tested(names):
            predicate = self._tensor(self._run(test, bound(test, names))[0], None)
            if self._known[predicate].dtype != "Bool":
                predicate = self.cast(predicate, "Bool")
            go, stop = self._partial(rounds, names), self._partial(end, names[len(taken) :])
            return self._chosen(predicate, go, stop, [rounds, end], node.types), told

        def rounded(names):
            results = self._run(body, bound(body, names))
            results = [self._tensor(r, p.types[0]) for r, p in zip(results, state, strict=True)]
            return self._emit(f"REF::{header}", [*names[: len(taken)], *results], node.types, "call"), told

        function(header, tested)
        function(rounds, rounded)
        function(end, lambda names: self._results(names, types[len(taken) :]), len(taken))
        return self._emit(f"REF::{header}", given, node.types, "call")
