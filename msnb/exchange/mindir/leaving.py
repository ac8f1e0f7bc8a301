"""Loops of a MINDIR file that are left from within, by `break` or `return`: a While that counts where to go on.

What stands behind a `break` is a function that is called in the midst of a round, as what follows the condition is.
Such a round ends in one of several *ways*: at the loop's function once more, or at one that leads away from it. The
number of the way is a state of the While, which goes on while it is that of the loop; what the other functions take are
further states. Behind the While the number decides which of them is called.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from msnb.exchange.mindir.values import (
    Choice,
    Closure,
    NamedTuples,
    Ref,
    class_name,
    filled,
    same,
    slot_of,
    type_of_either,
)
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType

_NUMBER, _TRUTH = TensorType("Int32", (), 4), TensorType("Bool", (), 1)
_DEEPEST = 100  # functions that are followed within each other


class LeftWithin(NotImplementedError):
    """A branch goes another way than the other one, where only one way was thought of."""


class Ways(NamedTuple):
    """Where a round ends: the number of the function that is called then, and what each of them would be given."""

    number: Any
    values: dict[str, tuple[Any, ...]]


class Loop:
    """A loop being followed.

    Args:
        name (str): Its function.
        after (str): The function that follows when the condition is false. None: there is none.
        state (tuple): What the function is given in this round.
    """

    def __init__(self, name: str, after: str | None, state: tuple[Any, ...]) -> None:
        self.name, self.after, self.state = name, after, state
        self._numbers: dict[str, np.ndarray] = {}
        self.number(name)

    def number(self, function: str) -> np.ndarray:
        """The number of a way, 0 for a further round."""
        return self._numbers.setdefault(function, np.array(len(self._numbers), np.int32))


class Leaving:
    """What of a `Reader` follows such loops."""

    path: str
    nodes: list[CNode]
    active: tuple[str, ...]
    depth: int
    functions: dict[str, dict[str, Any]]
    _reached: Any
    _next: Any
    _last: Any
    _bound: Any
    _follow: Any
    _value: Any
    _call: Any
    _add: Any
    _loop: Any
    _merged: Any
    _node_of: Any
    _changing: Any
    _kind: Any
    _producer: Any

    def _left_within(self, name, values, around):
        """A loop that is left from within, in a round of the loop `around`."""
        values, kinds, names, changing = self._changing(name, values)
        outer, active = self.nodes, self.active
        self.active = (*active, name)
        after = self._after(name)
        while True:
            own = {i: ParameterNode(names[i], (self._kind(values[i], kinds[i]),)) for i in changing}
            loop = Loop(name, after, tuple(Ref(own[i], 0) if i in own else v for i, v in enumerate(values)))
            self.nodes = []
            ways = self._inside(name, loop.state, loop)
            results = ways.values.get(name)
            kept = [] if results is None else [i for i in changing if same(results[i], Ref(own[i], 0))]
            if not kept:
                break
            changing = [i for i in changing if i not in kept]
        body, self.nodes, self.active = self.nodes, outer, active
        if results is None:  # there is no second round
            self.active = (*active, name)
            ways = self._inside(name, values, loop)
            self.active = active
            return self._dispatched(loop, ways, around)
        exits = {function: given for function, given in ways.values.items() if function != name}
        inside, carried = set(body), []
        exits = {f: self._carried(given, inside, carried) for f, given in exits.items()}
        kinds_of_carried = [leaf.node.types[leaf.slot] for leaf in carried]
        types = (_NUMBER, *(own[i].types[0] for i in changing), *kinds_of_carried)
        ends = [ways.number, *(results[i] for i in changing), *carried]
        state = [ParameterNode("way", (_NUMBER,)), *(own[i] for i in changing)]
        state += [ParameterNode(f"left_{k}", (kind,)) for k, kind in enumerate(kinds_of_carried)]
        tested = [ParameterNode(node.name, node.types) for node in state]
        self.nodes = []
        goes_on = self._add("Equal", [Ref(tested[0], 0), loop.number(name)], (_TRUTH,))
        feeds = tuple(range(len(types)))
        graphs = (
            FuncGraph("condition", tested, self.nodes, [(goes_on, 0)], feeds),
            FuncGraph("body", state, body, [(self._node_of(v), slot_of(v)) for v in ends], feeds),
        )
        self.nodes = outer
        start = [loop.number(name), *(values[i] for i in changing), *map(_zeros, kinds_of_carried)]
        node = self._add("While", start, types, graphs=graphs)
        slots = {own[i]: slot for slot, i in enumerate(changing, 1)}
        first = 1 + len(changing)

        def outside(value):
            if isinstance(value, Ref):
                return Ref(node, slots[value.node]) if value.node in slots else value
            return Ref(node, first + value.place) if isinstance(value, _Carried) else value

        exits = {f: tuple(_mapped(outside, v) for v in given) for f, given in exits.items()}
        return self._dispatched(loop, Ways(Ref(node, 0), exits), around)

    def _after(self, name):
        """The function that a loop's own condition leads to when it is false."""
        choice = self._producer(name, (self._last(name) or {}).get("op_type", "").removeprefix("REF::"))
        ways = [self._producer(name, way) for way in (choice or {}).get("input", [])[1:3]]
        functions = [way["input"][0].removeprefix("REF::") for way in ways if way]
        return next((f for f in functions if f in self.functions and name not in self._reached(f)), None)

    def _finished(self, function, values, around):
        """Call a function that follows a loop."""
        return self._call(function, values) if around is None else self._end(function, values, around)

    def _dispatched(self, loop, ways, around):
        """Call the function that the number of a way says."""
        (function, values), *others = ways.values.items()
        if not others:
            return self._finished(function, values, around)
        rest = Ways(ways.number, dict(others))
        chosen = Ref(self._add("Equal", [ways.number, loop.number(function)], (_TRUTH,)), 0)
        return self._either(
            chosen,
            lambda: self._finished(function, values, around),
            lambda: self._dispatched(loop, rest, around),
            ("left", "left"),
            around,
        )

    def _carried(self, values, inside, carried):
        """Values that leave the loop, a `_Carried` for each that is made inside; these are collected."""

        def leaf(value):
            if not isinstance(value, Ref) or value.node not in inside:
                return value
            if value not in carried:
                carried.append(value)
            return _Carried(carried.index(value))

        return tuple(_mapped(leaf, value) for value in values)

    # ------------------------------------------------------------------ one round
    def _end(self, name, values, loop):
        """The ways in which a function ends that is called where a round may end."""
        reached = self._reached(name)
        leads = loop.name in reached or (loop.after in reached and name != loop.after)
        if name == loop.name:
            return Ways(loop.number(name), {name: tuple(self._bound(name, values).values())})
        if name in self.active or not leads:
            return Ways(loop.number(name), {name: tuple(values)})
        if name in reached:  # another loop within this one
            return self._loop(name, values, loop)
        return self._inside(name, values, loop)

    def _inside(self, name, values, loop):
        """The same, when the function itself is followed."""
        env, last = self._bound(name, values), self._last(name)
        if last is None or self.depth > _DEEPEST:
            raise NotImplementedError(f"{self.path!r} has a function that calls itself and is no loop.")
        self.depth += 1
        for node in self.functions[name].get("node", []):
            if node is last:
                break
            self._follow(node, env)
        called = self._value(last.get("op_type", "").removeprefix("REF::"), env)
        given = tuple(self._value(v, env) for v in last.get("input", []))
        result = self._end_of(called, given, loop)
        self.depth -= 1
        return result

    def _end_of(self, called, given, loop):
        if isinstance(called, Closure):
            return self._end(called.function, (*called.values, *given), loop)
        if not isinstance(called, Choice):
            raise NotImplementedError(f"{self.path!r} has a function that calls itself and is no loop.")
        yes, no = (Closure(c.function, (*c.values, *given)) for c in (called.yes, called.no))
        if not isinstance(called.predicate, Ref):
            chosen = yes if bool(np.asarray(called.predicate)) else no
            return self._end(chosen.function, chosen.values, loop)
        active = self.active
        common = sorted((self._next(yes.function) & self._next(no.function)) - set(active))
        self.active = (*active, *common[:1])
        ways = self._either(
            called.predicate,
            lambda: self._end(yes.function, yes.values, loop),
            lambda: self._end(no.function, no.values, loop),
            (no.function, yes.function),
            loop,
        )
        self.active = active
        if common and set(ways.values) == {common[0]}:
            return self._end(common[0], ways.values[common[0]], loop)
        return ways

    # ------------------------------------------------------------------ branches
    def _either(self, predicate, yes, no, names, loop=None):
        """What one of two ways to go on gives, as a Switch: `yes` and `no` are called to follow them."""
        outer, results, parts = self.nodes, [], []
        for follow in (no, yes):
            self.nodes = []
            results.append(follow())
            parts.append(self.nodes)
        self.nodes = outer
        pairs: list[tuple[Any, Any]] = []
        if all(isinstance(result, Ways) for result in results):
            merged = self._ways_merged(*results, parts, pairs, loop)
        else:
            merged = self._merged(*results, pairs)
        if pairs:
            graphs = tuple(
                FuncGraph(class_name(name), [], nodes, [(self._node_of(p[i]), slot_of(p[i])) for p in pairs])
                for i, (name, nodes) in enumerate(zip(names, parts, strict=True))
            )
            node = self._add("Switch", [predicate], tuple(type_of_either(p) for p in pairs), graphs=graphs)
            refs = [Ref(node, i) for i in range(len(pairs))]
            if isinstance(merged, Ways):
                values = {f: filled(given, refs) for f, given in merged.values.items()}
                return Ways(filled(merged.number, refs), values)
            merged = filled(merged, refs)
        return merged

    def _ways_merged(self, a, b, parts, pairs, loop):
        """A way that one of the two does not take is given what is there: the loop, the state of this round."""
        values = {}
        for function in {**a.values, **b.values}:
            x, y = a.values.get(function), b.values.get(function)
            if function == loop.name:
                x, y = x or loop.state, y or loop.state
            x = tuple(_mapped(_vacant(set(parts[1])), v) for v in y) if x is None else x
            y = tuple(_mapped(_vacant(set(parts[0])), v) for v in x) if y is None else y
            values[function] = self._merged(tuple(x), tuple(y), pairs)
        return Ways(self._merged(a.number, b.number, pairs), values)


class _Carried(NamedTuple):
    """A value that leaves a loop."""

    place: int


def _zeros(kind):
    """What stands for a value that nobody uses."""
    return np.zeros(kind.shape, kind.dtype.lower() if kind.dtype != "BFloat16" else np.float32)


def _vacant(inside):
    """What stands on the other way for a value: itself, where it is there as well."""

    def leaf(value):
        return _zeros(value.node.types[value.slot]) if isinstance(value, Ref) and value.node in inside else value

    return leaf


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """A value with each leaf of its tuples and functions changed."""
    if isinstance(value, Closure):
        return Closure(value.function, tuple(_mapped(change, v) for v in value.values))
    if isinstance(value, Choice):
        return Choice(change(value.predicate), _mapped(change, value.yes), _mapped(change, value.no))
    if isinstance(value, (tuple, list)) and not isinstance(value, (*NamedTuples, _Carried)):
        return tuple(_mapped(change, v) for v in value)
    return change(value)
