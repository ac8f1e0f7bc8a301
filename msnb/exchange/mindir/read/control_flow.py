"""Branches and loops of a MINDIR file: a called choice becomes a Switch, a function that calls itself a While."""

from typing import Any

import numpy as np

from msnb.exchange.mindir.read.early_exit_loops import EarlyExit, EarlyExitReader
from msnb.exchange.mindir.read.values import (
    START,
    BackEdge,
    Choice,
    Closure,
    EffectToken,
    NamedTuples,
    Placeholder,
    Ref,
    is_leaf,
    is_same,
    local_name,
    slot_of,
    type_of,
    type_of_either,
)
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType

_MAX_DEPTH = 100  # nested Depend nodes


class ControlFlow(EarlyExitReader):
    """The part of `Reader` that follows branches and loops."""

    path: str
    functions: dict[str, dict[str, Any]]
    primitives: dict[str, dict[str, Any]]
    nodes: list[CNode]
    active: tuple[str, ...]
    _reachable_cache: dict[Any, frozenset[str]]
    _call_function: Any
    _add_node: Any
    _bind_inputs: Any
    _follow_node: Any
    _lookup_value: Any
    _node_of: Any

    # ------------------------------------------------------------------ branches
    def _call_choice(self, predicate, if_true, if_false):
        """Call one of two functions, which becomes a Switch."""
        if not isinstance(predicate, Ref):
            chosen = if_true if bool(np.asarray(predicate)) else if_false
            return self._call_function(chosen.function, chosen.values)
        successors = self._common_successors(if_true.function) & self._common_successors(if_false.function)
        active = self.active
        if successors:
            self.active = (*active, min(successors))
        merged = self._switch_between(
            predicate,
            lambda: self._call_function(if_true.function, if_true.values),
            lambda: self._call_function(if_false.function, if_false.values),
            (if_false.function, if_true.function),
        )
        self.active = active
        if isinstance(merged, BackEdge) and merged.function not in self.active:
            return self._call_function(merged.function, merged.values)
        return merged

    def _call_indexed(self, index, closures):
        """Call one of several functions. A negative index counts from the last one."""
        if not isinstance(index, Ref):
            closure = closures[int(index)]
            return self._call_function(closure.function, closure.values)
        kind = index.node.types[index.slot]
        wrapped_index = Ref(self._add_node("FloorMod", [index, len(closures)], (kind,)), 0)
        return self._call_first_of(wrapped_index, closures, 0)

    def _call_first_of(self, index, closures, number):
        closure, *others = closures
        if not others:
            return self._call_function(closure.function, closure.values)
        is_selected = Ref(self._add_node("Equal", [index, number], (TensorType("Bool", (), 1),)), 0)
        return self._switch_between(
            is_selected,
            lambda: self._call_function(closure.function, closure.values),
            lambda: self._call_first_of(index, others, number + 1),
            ("others", closure.function),
        )

    def _merge_results(self, a, b, pairs):
        """Merge the results of two branches. Values that differ become a `Placeholder` and are appended to `pairs`."""
        if isinstance(a, BackEdge) or isinstance(b, BackEdge):
            if not (isinstance(a, BackEdge) and isinstance(b, BackEdge) and a.function == b.function):
                raise EarlyExit(f"{self.path!r} has a branch that leaves a function in a way that msnb does not read.")
            return BackEdge(
                a.function, tuple(self._merge_results(x, y, pairs) for x, y in zip(a.values, b.values, strict=True))
            )
        if isinstance(a, EffectToken) or isinstance(b, EffectToken):
            return START
        if isinstance(a, (tuple, list)) and not isinstance(a, NamedTuples):
            if not isinstance(b, (tuple, list)) or len(a) != len(b):
                raise NotImplementedError(f"{self.path!r} has branches whose results are not alike.")
            return tuple(self._merge_results(x, y, pairs) for x, y in zip(a, b))
        if isinstance(a, (Closure, Choice)) or isinstance(b, (Closure, Choice)):
            if isinstance(a, Closure) and isinstance(b, Closure) and a.function == b.function:
                return Closure(a.function, self._merge_results(tuple(a.values), tuple(b.values), pairs))
            raise NotImplementedError(f"{self.path!r} has branches that give functions, which msnb does not read.")
        if is_same(a, b):
            return a
        if not (is_leaf(a) and is_leaf(b)):
            raise NotImplementedError(f"{self.path!r} has branches whose results are no Tensors.")
        pairs.append((a, b))
        return Placeholder(len(pairs) - 1)

    def _common_successors(self, function, visited=frozenset()):
        """Return the functions that every path through `function` ends with calling."""
        if function in visited or function not in self.functions:
            return frozenset()
        node = self._result_node(function)
        if node is None:
            return frozenset()
        target = node.get("op_type", "").removeprefix("REF::")
        if target in self.functions:
            return frozenset((target,))
        choice = self._find_producer(function, target)
        if choice is None:
            return frozenset()
        closures = [self._find_producer(function, name) for name in choice.get("input", [])[1:3]]
        ends = [
            self._common_successors(closure["input"][0].removeprefix("REF::"), visited | {function})
            for closure in closures
            if closure
        ]
        return ends[0] & ends[1] if len(ends) == 2 else frozenset()

    def _find_producer(self, function, name):
        return next((n for n in self.functions[function].get("node", []) if name in n.get("output", [])), None)

    def _result_node(self, function):
        """Return the node that computes the result of a function, skipping Depend nodes."""
        outputs = self.functions[function].get("output", [])
        node = self._find_producer(function, outputs[0].get("name", "")) if len(outputs) == 1 else None
        for _ in range(_MAX_DEPTH):
            primitive = self.primitives.get((node or {}).get("op_type", "").removeprefix("REF::"), {})
            if node is None or primitive.get("op_type") != "Depend" or not node.get("input"):
                return node
            node = self._find_producer(function, node["input"][0])
        return None

    # ------------------------------------------------------------------ loops
    def _reachable_functions(self, name):
        """Return the functions reachable from a function. A call of an active function ends a round and is not
        followed.
        """
        key = (name, self.active)
        if key not in self._reachable_cache:
            reachable, todo = set(), [name]
            while todo:
                for node in self.functions[todo.pop()].get("node", []):
                    for callee in (node.get("op_type", ""), *node.get("input", [])):
                        callee = callee.removeprefix("REF::")
                        if callee in self.functions and callee not in reachable:
                            reachable.add(callee)
                            if callee not in self.active:
                                todo.append(callee)
            self._reachable_cache[key] = frozenset(reachable)
        return self._reachable_cache[key]

    def _read_loop(self, name, values, outer_loop=None):
        """Read a function that calls itself. `outer_loop` is the loop that contains it in a round, or None."""
        saved = self.nodes, self.active, self.depth
        try:
            return self._read_simple_loop(name, values, outer_loop)
        except EarlyExit:
            self.nodes, self.active, self.depth = saved
            return self._read_early_exit_loop(name, values, outer_loop)

    def _loop_state(self, name, values):
        """Return the values, Tensor types and names of a loop's inputs, and the indices of those that may change."""
        values = list(self._bind_inputs(name, values).values())
        kinds = [(v.get("tensor") or [None])[0] for v in self.functions[name].get("input", [])]
        names = [local_name(v.get("name", "")) for v in self.functions[name].get("input", [])]
        changing = [i for i, (v, k) in enumerate(zip(values, kinds, strict=True)) if is_leaf(v) and k is not None]
        return values, kinds, names, changing

    @staticmethod
    def _state_type(value, tensor):
        """Return the type of a loop variable: the type in the file, or the actual type if the file leaves lengths
        open.
        """
        declared = type_of(tensor)
        return type_of_either((value,)) if any(size < 0 for size in declared.shape) else declared

    def _read_simple_loop(self, name, values, outer_loop):
        """Read a loop with one condition as a While, and call the function after it."""
        values, kinds, names, changing = self._loop_state(name, values)
        while True:
            parameter_sets, traces = self._trace_round(name, values, kinds, names, changing)
            body_nodes, results = traces[1]
            constant = [i for i in changing if results[i] == Ref(parameter_sets[1][i], 0)]
            if not constant:
                break
            changing = [i for i in changing if i not in constant]  # they have the same value in each round
        if not changing:
            raise NotImplementedError(f"{self.path!r} has a loop in which nothing changes.")
        (test_nodes, predicate), (body_nodes, results) = traces
        graphs = []
        for title, nodes, outputs, parameters in (
            ("condition", test_nodes, [predicate], parameter_sets[0]),
            ("body", body_nodes, [results[i] for i in changing], parameter_sets[1]),
        ):
            ends = [(self._node_of(v), slot_of(v)) for v in outputs]
            graph = FuncGraph(title, [parameters[i] for i in changing], nodes, ends, tuple(range(len(changing))))
            graphs.append(graph)
        types = tuple(parameter.types[0] for parameter in (parameter_sets[1][i] for i in changing))
        node = self._add_node("While", [values[i] for i in changing], types, graphs=tuple(graphs))
        final_values = list(values)
        for slot, i in enumerate(changing):
            final_values[i] = Ref(node, slot)
        choice = self._loop_choice(name, final_values)
        exit_closure = choice.no if self._leads_back(choice.yes.function, name) else choice.yes
        return self._call_after_loop(exit_closure.function, exit_closure.values, outer_loop)

    def _leads_back(self, function, name):
        return name in self._reachable_functions(function) or function == name

    def _trace_round(self, name, values, kinds, names, changing):
        """Trace the condition and the body of a loop.

        Returns:
            The parameters of both, then [(nodes, predicate) of the condition, (nodes, results) of the body].
        """
        outer, active = self.nodes, self.active
        parameter_sets, traces = [], []
        for trace_index in range(2):
            parameters = {i: ParameterNode(names[i], (self._state_type(values[i], kinds[i]),)) for i in changing}
            inputs = [Ref(parameters[i], 0) if i in parameters else v for i, v in enumerate(values)]
            self.nodes = []
            choice = self._loop_choice(name, inputs)
            leads_back = [self._leads_back(closure.function, name) for closure in (choice.yes, choice.no)]
            if leads_back[0] == leads_back[1]:
                raise EarlyExit(f"{self.path!r} has a loop whose condition does not end it.")
            predicate = choice.predicate
            if trace_index == 0:
                if leads_back[1]:
                    kind = predicate.node.types[predicate.slot]
                    predicate = Ref(self._add_node("LogicalNot", [predicate], (kind,)), 0)
                traces.append((self.nodes, predicate))
            else:
                self.active = (*active, name)
                closure = choice.yes if leads_back[0] else choice.no
                result = self._call_function(closure.function, closure.values)
                if not isinstance(result, BackEdge) or result.function != name:
                    raise EarlyExit(f"{self.path!r} has a function that calls itself and is no loop.")
                results = list(self._bind_inputs(name, result.values).values())
                traces.append((self.nodes, results))
            parameter_sets.append(parameters)
        self.nodes, self.active = outer, active
        return parameter_sets, traces

    def _loop_choice(self, name, values):
        """Return the choice at the end of a loop's function."""
        env, last = self._bind_inputs(name, values), self._result_node(name)
        if last is None:
            raise EarlyExit(f"{self.path!r} has a function that calls itself and is no loop.")
        for node in self.functions[name].get("node", []):
            if node is last:
                break
            self._follow_node(node, env)
        callee = self._lookup_value(last.get("op_type", "").removeprefix("REF::"), env)
        if not isinstance(callee, Choice) or not isinstance(callee.predicate, Ref):
            raise EarlyExit(f"{self.path!r} has a function that calls itself and is no loop.")
        extra = tuple(self._lookup_value(argument, env) for argument in last.get("input", []))
        yes, no = (Closure(c.function, (*c.values, *extra)) for c in (callee.yes, callee.no))
        return Choice(callee.predicate, yes, no)
