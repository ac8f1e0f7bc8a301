"""Loops of a MINDIR file with early exits, by `break` or `return`. They become a While with a state that selects the
exit.

The code after a `break` is a function that is called in the middle of a round, like the code after the condition.
A round ends with the call of one of several functions, its *exits*: the loop's function again, or one that leaves
the loop. The number of the exit is a state of the While, which goes on while the number is that of the loop. The
arguments of the other functions are further states. After the While the number selects the function to call.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from msnb.exchange.mindir.read.values import (
    Choice,
    Closure,
    NamedTuples,
    Ref,
    class_name,
    fill_placeholders,
    is_same,
    slot_of,
    type_of_either,
)
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType

_INT32, _BOOL = TensorType("Int32", (), 4), TensorType("Bool", (), 1)
_MAX_DEPTH = 100  # nested functions


class EarlyExit(NotImplementedError):
    """A branch leaves the loop although the caller expected a single exit."""


class RoundExits(NamedTuple):
    """The end of a round: the number of the function that is called, and the arguments of each function."""

    number: Any
    values: dict[str, tuple[Any, ...]]


class Loop:
    """A loop that is being read.

    Args:
        name (str): Its function.
        after (str): The function that follows when the condition is false. None: there is none.
        state (tuple): The arguments of the function in this round.
    """

    def __init__(self, name: str, after: str | None, state: tuple[Any, ...]) -> None:
        self.name, self.after, self.state = name, after, state
        self._numbers: dict[str, np.ndarray] = {}
        self.number(name)

    def number(self, function: str) -> np.ndarray:
        """Return the number of an exit, 0 for a further round."""
        return self._numbers.setdefault(function, np.array(len(self._numbers), np.int32))


class EarlyExitReader:
    """The part of `Reader` that follows loops with early exits."""

    path: str
    nodes: list[CNode]
    active: tuple[str, ...]
    depth: int
    functions: dict[str, dict[str, Any]]
    _reachable_functions: Any
    _common_successors: Any
    _result_node: Any
    _bind_inputs: Any
    _follow_node: Any
    _lookup_value: Any
    _call_function: Any
    _add_node: Any
    _read_loop: Any
    _merge_results: Any
    _node_of: Any
    _loop_state: Any
    _state_type: Any
    _find_producer: Any

    def _read_early_exit_loop(self, name, values, outer_loop):
        """Read a loop with early exits. `outer_loop` is the loop that contains it in a round, or None."""
        values, kinds, names, changing = self._loop_state(name, values)
        outer, active = self.nodes, self.active
        self.active = (*active, name)
        after = self._exit_function(name)
        while True:
            parameters = {i: ParameterNode(names[i], (self._state_type(values[i], kinds[i]),)) for i in changing}
            loop = Loop(
                name, after, tuple(Ref(parameters[i], 0) if i in parameters else v for i, v in enumerate(values))
            )
            self.nodes = []
            round_exits = self._follow_round(name, loop.state, loop)
            results = round_exits.values.get(name)
            constant = [] if results is None else [i for i in changing if is_same(results[i], Ref(parameters[i], 0))]
            if not constant:
                break
            changing = [i for i in changing if i not in constant]
        body, self.nodes, self.active = self.nodes, outer, active
        if results is None:  # there is no second round
            self.active = (*active, name)
            round_exits = self._follow_round(name, values, loop)
            self.active = active
            return self._dispatch_exit(loop, round_exits, outer_loop)
        exits = {function: args for function, args in round_exits.values.items() if function != name}
        body_nodes, exit_values = set(body), []
        exits = {f: self._collect_exit_values(args, body_nodes, exit_values) for f, args in exits.items()}
        exit_types = [leaf.node.types[leaf.slot] for leaf in exit_values]
        types = (_INT32, *(parameters[i].types[0] for i in changing), *exit_types)
        ends = [round_exits.number, *(results[i] for i in changing), *exit_values]
        state = [ParameterNode("way", (_INT32,)), *(parameters[i] for i in changing)]
        state += [ParameterNode(f"left_{k}", (kind,)) for k, kind in enumerate(exit_types)]
        condition_parameters = [ParameterNode(node.name, node.types) for node in state]
        self.nodes = []
        goes_on = self._add_node("Equal", [Ref(condition_parameters[0], 0), loop.number(name)], (_BOOL,))
        feeds = tuple(range(len(types)))
        graphs = (
            FuncGraph("condition", condition_parameters, self.nodes, [(goes_on, 0)], feeds),
            FuncGraph("body", state, body, [(self._node_of(v), slot_of(v)) for v in ends], feeds),
        )
        self.nodes = outer
        start = [loop.number(name), *(values[i] for i in changing), *map(_zeros_of, exit_types)]
        node = self._add_node("While", start, types, graphs=graphs)
        slots = {parameters[i]: slot for slot, i in enumerate(changing, 1)}
        first = 1 + len(changing)

        def value_after_loop(value):
            if isinstance(value, Ref):
                return Ref(node, slots[value.node]) if value.node in slots else value
            return Ref(node, first + value.position) if isinstance(value, _ExitValue) else value

        exits = {f: tuple(_map_leaves(value_after_loop, v) for v in args) for f, args in exits.items()}
        return self._dispatch_exit(loop, RoundExits(Ref(node, 0), exits), outer_loop)

    def _exit_function(self, name):
        """Return the function that the loop's own condition calls when it is false."""
        choice = self._find_producer(name, (self._result_node(name) or {}).get("op_type", "").removeprefix("REF::"))
        closures = [self._find_producer(name, closure) for closure in (choice or {}).get("input", [])[1:3]]
        functions = [closure["input"][0].removeprefix("REF::") for closure in closures if closure]
        return next((f for f in functions if f in self.functions and name not in self._reachable_functions(f)), None)

    def _call_after_loop(self, function, values, outer_loop):
        """Call a function that follows a loop."""
        return (
            self._call_function(function, values)
            if outer_loop is None
            else self._end_round(function, values, outer_loop)
        )

    def _dispatch_exit(self, loop, round_exits, outer_loop):
        """Call the function selected by the number of an exit."""
        (function, values), *others = round_exits.values.items()
        if not others:
            return self._call_after_loop(function, values, outer_loop)
        rest = RoundExits(round_exits.number, dict(others))
        chosen = Ref(self._add_node("Equal", [round_exits.number, loop.number(function)], (_BOOL,)), 0)
        return self._switch_between(
            chosen,
            lambda: self._call_after_loop(function, values, outer_loop),
            lambda: self._dispatch_exit(loop, rest, outer_loop),
            ("left", "left"),
            outer_loop,
        )

    def _collect_exit_values(self, values, body_nodes, exit_values):
        """Replace values computed inside the loop by an `_ExitValue` and append them to `exit_values`."""

        def leaf(value):
            if not isinstance(value, Ref) or value.node not in body_nodes:
                return value
            if value not in exit_values:
                exit_values.append(value)
            return _ExitValue(exit_values.index(value))

        return tuple(_map_leaves(leaf, value) for value in values)

    # ------------------------------------------------------------------ one round
    def _end_round(self, name, values, loop):
        """Return the exits of a function that is called at a possible end of a round."""
        reachable = self._reachable_functions(name)
        leads_back = loop.name in reachable or (loop.after in reachable and name != loop.after)
        if name == loop.name:
            return RoundExits(loop.number(name), {name: tuple(self._bind_inputs(name, values).values())})
        if name in self.active or not leads_back:
            return RoundExits(loop.number(name), {name: tuple(values)})
        if name in reachable:  # a loop nested in this one
            return self._read_loop(name, values, loop)
        return self._follow_round(name, values, loop)

    def _follow_round(self, name, values, loop):
        """Follow the nodes of a function and return its exits."""
        env, last = self._bind_inputs(name, values), self._result_node(name)
        if last is None or self.depth > _MAX_DEPTH:
            raise NotImplementedError(f"{self.path!r} has a function that calls itself and is no loop.")
        self.depth += 1
        for node in self.functions[name].get("node", []):
            if node is last:
                break
            self._follow_node(node, env)
        callee = self._lookup_value(last.get("op_type", "").removeprefix("REF::"), env)
        args = tuple(self._lookup_value(v, env) for v in last.get("input", []))
        result = self._end_with_call(callee, args, loop)
        self.depth -= 1
        return result

    def _end_with_call(self, callee, args, loop):
        if isinstance(callee, Closure):
            return self._end_round(callee.function, (*callee.values, *args), loop)
        if not isinstance(callee, Choice):
            raise NotImplementedError(f"{self.path!r} has a function that calls itself and is no loop.")
        yes, no = (Closure(c.function, (*c.values, *args)) for c in (callee.yes, callee.no))
        if not isinstance(callee.predicate, Ref):
            chosen = yes if bool(np.asarray(callee.predicate)) else no
            return self._end_round(chosen.function, chosen.values, loop)
        active = self.active
        common_exits = sorted(
            (self._common_successors(yes.function) & self._common_successors(no.function)) - set(active)
        )
        self.active = (*active, *common_exits[:1])
        round_exits = self._switch_between(
            callee.predicate,
            lambda: self._end_round(yes.function, yes.values, loop),
            lambda: self._end_round(no.function, no.values, loop),
            (no.function, yes.function),
            loop,
        )
        self.active = active
        if common_exits and set(round_exits.values) == {common_exits[0]}:
            return self._end_round(common_exits[0], round_exits.values[common_exits[0]], loop)
        return round_exits

    # ------------------------------------------------------------------ branches
    def _switch_between(self, predicate, yes, no, names, loop=None):
        """Return the merged result of two continuations as a Switch. `yes` and `no` are functions that follow them."""
        outer, results, node_lists = self.nodes, [], []
        for follow in (no, yes):
            self.nodes = []
            results.append(follow())
            node_lists.append(self.nodes)
        self.nodes = outer
        pairs: list[tuple[Any, Any]] = []
        if all(isinstance(result, RoundExits) for result in results):
            merged = self._merge_exits(*results, node_lists, pairs, loop)
        else:
            merged = self._merge_results(*results, pairs)
        if pairs:
            graphs = tuple(
                FuncGraph(class_name(name), [], nodes, [(self._node_of(p[i]), slot_of(p[i])) for p in pairs])
                for i, (name, nodes) in enumerate(zip(names, node_lists, strict=True))
            )
            node = self._add_node("Switch", [predicate], tuple(type_of_either(p) for p in pairs), graphs=graphs)
            refs = [Ref(node, i) for i in range(len(pairs))]
            if isinstance(merged, RoundExits):
                values = {f: fill_placeholders(args, refs) for f, args in merged.values.items()}
                return RoundExits(fill_placeholders(merged.number, refs), values)
            merged = fill_placeholders(merged, refs)
        return merged

    def _merge_exits(self, a, b, node_lists, pairs, loop):
        """Merge the exits of two branches. An exit that one of them does not take gets placeholder arguments there."""
        values = {}
        for function in {**a.values, **b.values}:
            x, y = a.values.get(function), b.values.get(function)
            if function == loop.name:
                # a branch that leaves the loop passes the state of this round
                x, y = x or loop.state, y or loop.state
            x = tuple(_map_leaves(_zeros_outside_branch(set(node_lists[1])), v) for v in y) if x is None else x
            y = tuple(_map_leaves(_zeros_outside_branch(set(node_lists[0])), v) for v in x) if y is None else y
            values[function] = self._merge_results(tuple(x), tuple(y), pairs)
        return RoundExits(self._merge_results(a.number, b.number, pairs), values)


class _ExitValue(NamedTuple):
    """A value computed in a loop and used after it."""

    position: int


def _zeros_of(kind):
    """Return zeros in place of a value that is not used."""
    return np.zeros(kind.shape, kind.dtype.lower() if kind.dtype != "BFloat16" else np.float32)


def _zeros_outside_branch(branch_nodes):
    """Return a function that replaces the values of a branch's nodes by zeros, for the other branch."""

    def leaf(value):
        return (
            _zeros_of(value.node.types[value.slot]) if isinstance(value, Ref) and value.node in branch_nodes else value
        )

    return leaf


def _map_leaves(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to each leaf of nested tuples, closures and choices."""
    if isinstance(value, Closure):
        return Closure(value.function, tuple(_map_leaves(change, v) for v in value.values))
    if isinstance(value, Choice):
        return Choice(change(value.predicate), _map_leaves(change, value.yes), _map_leaves(change, value.no))
    if isinstance(value, (tuple, list)) and not isinstance(value, (*NamedTuples, _ExitValue)):
        return tuple(_map_leaves(change, v) for v in value)
    return change(value)
