"""Branches and loops of a MINDIR file: a choice that is called is a Switch, a function that calls itself a While."""

from typing import Any

import numpy as np

from msnb.exchange.mindir.leaving import Leaving, LeftWithin
from msnb.exchange.mindir.values import (
    ORDER,
    Again,
    Choice,
    Closure,
    Hole,
    NamedTuples,
    Order,
    Ref,
    is_leaf,
    own_name,
    same,
    slot_of,
    type_of,
    type_of_either,
)
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType

_DEEPEST = 100  # of what only orders side effects, behind each other


class ControlFlow(Leaving):
    """What of a `Reader` follows branches and loops."""

    path: str
    functions: dict[str, dict[str, Any]]
    primitives: dict[str, dict[str, Any]]
    nodes: list[CNode]
    active: tuple[str, ...]
    _reach: dict[Any, frozenset[str]]
    _call: Any
    _add: Any
    _bound: Any
    _follow: Any
    _value: Any
    _node_of: Any

    # ------------------------------------------------------------------ branches
    def _branch(self, predicate, yes, no):
        """A choice that is called."""
        if not isinstance(predicate, Ref):
            chosen = yes if bool(np.asarray(predicate)) else no
            return self._call(chosen.function, chosen.values)
        after = self._next(yes.function) & self._next(no.function)
        active = self.active
        if after:
            self.active = (*active, min(after))
        merged = self._either(
            predicate,
            lambda: self._call(yes.function, yes.values),
            lambda: self._call(no.function, no.values),
            (no.function, yes.function),
        )
        self.active = active
        if isinstance(merged, Again) and merged.function not in self.active:
            return self._call(merged.function, merged.values)
        return merged

    def _one_of(self, index, ways):
        """One of several functions is called; a number below 0 counts from the last one."""
        if not isinstance(index, Ref):
            way = ways[int(index)]
            return self._call(way.function, way.values)
        kind = index.node.types[index.slot]
        place = Ref(self._add("FloorMod", [index, len(ways)], (kind,)), 0)
        return self._first_of(place, ways, 0)

    def _first_of(self, place, ways, number):
        way, *others = ways
        if not others:
            return self._call(way.function, way.values)
        asked = Ref(self._add("Equal", [place, number], (TensorType("Bool", (), 1),)), 0)
        return self._either(
            asked,
            lambda: self._call(way.function, way.values),
            lambda: self._first_of(place, others, number + 1),
            ("others", way.function),
        )

    def _merged(self, a, b, pairs):
        """What two branches give as one value; `Hole` stands where they differ, for the pair in `pairs`."""
        if isinstance(a, Again) or isinstance(b, Again):
            if not (isinstance(a, Again) and isinstance(b, Again) and a.function == b.function):
                raise LeftWithin(f"{self.path!r} has a branch that leaves a function in a way that msnb does not read.")
            return Again(a.function, tuple(self._merged(x, y, pairs) for x, y in zip(a.values, b.values, strict=True)))
        if isinstance(a, Order) or isinstance(b, Order):
            return ORDER
        if isinstance(a, (tuple, list)) and not isinstance(a, NamedTuples):
            if not isinstance(b, (tuple, list)) or len(a) != len(b):
                raise NotImplementedError(f"{self.path!r} has branches whose results are not alike.")
            return tuple(self._merged(x, y, pairs) for x, y in zip(a, b))
        if isinstance(a, (Closure, Choice)) or isinstance(b, (Closure, Choice)):
            if isinstance(a, Closure) and isinstance(b, Closure) and a.function == b.function:
                return Closure(a.function, self._merged(tuple(a.values), tuple(b.values), pairs))
            raise NotImplementedError(f"{self.path!r} has branches that give functions, which msnb does not read.")
        if same(a, b):
            return a
        if not (is_leaf(a) and is_leaf(b)):
            raise NotImplementedError(f"{self.path!r} has branches whose results are no Tensors.")
        pairs.append((a, b))
        return Hole(len(pairs) - 1)

    def _next(self, function, seen=frozenset()):
        """The functions that a function ends with calling, whatever way it takes."""
        if function in seen or function not in self.functions:
            return frozenset()
        node = self._last(function)
        if node is None:
            return frozenset()
        target = node.get("op_type", "").removeprefix("REF::")
        if target in self.functions:
            return frozenset((target,))
        choice = self._producer(function, target)
        if choice is None:
            return frozenset()
        ways = [self._producer(function, name) for name in choice.get("input", [])[1:3]]
        ends = [self._next(way["input"][0].removeprefix("REF::"), seen | {function}) for way in ways if way]
        return ends[0] & ends[1] if len(ends) == 2 else frozenset()

    def _producer(self, function, name):
        return next((n for n in self.functions[function].get("node", []) if name in n.get("output", [])), None)

    def _last(self, function):
        """The node whose result a function gives, what orders side effects left out."""
        outputs = self.functions[function].get("output", [])
        node = self._producer(function, outputs[0].get("name", "")) if len(outputs) == 1 else None
        for _ in range(_DEEPEST):
            primitive = self.primitives.get((node or {}).get("op_type", "").removeprefix("REF::"), {})
            if node is None or primitive.get("op_type") != "Depend" or not node.get("input"):
                return node
            node = self._producer(function, node["input"][0])
        return None

    # ------------------------------------------------------------------ loops
    def _reached(self, name):
        """Functions that a function leads to; a call of an active one is a round's end, and leads nowhere."""
        key = (name, self.active)
        if key not in self._reach:
            found, todo = set(), [name]
            while todo:
                for node in self.functions[todo.pop()].get("node", []):
                    for used in (node.get("op_type", ""), *node.get("input", [])):
                        used = used.removeprefix("REF::")
                        if used in self.functions and used not in found:
                            found.add(used)
                            if used not in self.active:
                                todo.append(used)
            self._reach[key] = frozenset(found)
        return self._reach[key]

    def _loop(self, name, values, around=None):
        """A function that calls itself, in a round of the loop `around` or in none."""
        before = self.nodes, self.active, self.depth
        try:
            return self._simple_loop(name, values, around)
        except LeftWithin:
            self.nodes, self.active, self.depth = before
            return self._left_within(name, values, around)

    def _changing(self, name, values):
        """(values, tensors, names, places of those that may change) of what a loop's function takes."""
        values = list(self._bound(name, values).values())
        kinds = [(v.get("tensor") or [None])[0] for v in self.functions[name].get("input", [])]
        names = [own_name(v.get("name", "")) for v in self.functions[name].get("input", [])]
        changing = [i for i, (v, k) in enumerate(zip(values, kinds, strict=True)) if is_leaf(v) and k is not None]
        return values, kinds, names, changing

    @staticmethod
    def _kind(value, tensor):
        """The type that a loop's value keeps: as the file says, but for lengths that it leaves open."""
        told = type_of(tensor)
        return type_of_either((value,)) if any(size < 0 for size in told.shape) else told

    def _simple_loop(self, name, values, around):
        """A condition, rounds, and what comes after them."""
        values, kinds, names, changing = self._changing(name, values)
        while True:
            own, made = self._round(name, values, kinds, names, changing)
            body_nodes, results = made[1]
            kept = [i for i in changing if results[i] == Ref(own[1][i], 0)]
            if not kept:
                break
            changing = [i for i in changing if i not in kept]  # they are what they were, round for round
        if not changing:
            raise NotImplementedError(f"{self.path!r} has a loop in which nothing changes.")
        (test_nodes, predicate), (body_nodes, results) = made
        graphs = []
        for title, nodes, outputs, parameters in (
            ("condition", test_nodes, [predicate], own[0]),
            ("body", body_nodes, [results[i] for i in changing], own[1]),
        ):
            ends = [(self._node_of(v), slot_of(v)) for v in outputs]
            graph = FuncGraph(title, [parameters[i] for i in changing], nodes, ends, tuple(range(len(changing))))
            graphs.append(graph)
        types = tuple(parameter.types[0] for parameter in (own[1][i] for i in changing))
        node = self._add("While", [values[i] for i in changing], types, graphs=tuple(graphs))
        last = list(values)
        for slot, i in enumerate(changing):
            last[i] = Ref(node, slot)
        choice = self._header(name, last)
        after = choice.no if self._goes_round(choice.yes.function, name) else choice.yes
        return self._finished(after.function, after.values, around)

    def _goes_round(self, function, name):
        return name in self._reached(function) or function == name

    def _round(self, name, values, kinds, names, changing):
        """One round, traced: its parameters, then (nodes, predicate) of the test and (nodes, results) of the body."""
        outer, active = self.nodes, self.active
        every, made = [], []
        for part in range(2):
            own = {i: ParameterNode(names[i], (self._kind(values[i], kinds[i]),)) for i in changing}
            given = [Ref(own[i], 0) if i in own else v for i, v in enumerate(values)]
            self.nodes = []
            choice = self._header(name, given)
            ways = [self._goes_round(way.function, name) for way in (choice.yes, choice.no)]
            if ways[0] == ways[1]:
                raise LeftWithin(f"{self.path!r} has a loop whose condition does not end it.")
            predicate = choice.predicate
            if part == 0:
                if ways[1]:
                    kind = predicate.node.types[predicate.slot]
                    predicate = Ref(self._add("LogicalNot", [predicate], (kind,)), 0)
                made.append((self.nodes, predicate))
            else:
                self.active = (*active, name)
                way = choice.yes if ways[0] else choice.no
                result = self._call(way.function, way.values)
                if not isinstance(result, Again) or result.function != name:
                    raise LeftWithin(f"{self.path!r} has a function that calls itself and is no loop.")
                results = list(self._bound(name, result.values).values())
                made.append((self.nodes, results))
            every.append(own)
        self.nodes, self.active = outer, active
        return every, made

    def _header(self, name, values):
        """The choice with which a loop's function ends."""
        env, last = self._bound(name, values), self._last(name)
        if last is None:
            raise LeftWithin(f"{self.path!r} has a function that calls itself and is no loop.")
        for node in self.functions[name].get("node", []):
            if node is last:
                break
            self._follow(node, env)
        called = self._value(last.get("op_type", "").removeprefix("REF::"), env)
        if not isinstance(called, Choice) or not isinstance(called.predicate, Ref):
            raise LeftWithin(f"{self.path!r} has a function that calls itself and is no loop.")
        extra = tuple(self._value(given, env) for given in last.get("input", []))
        yes, no = (Closure(c.function, (*c.values, *extra)) for c in (called.yes, called.no))
        return Choice(called.predicate, yes, no)
