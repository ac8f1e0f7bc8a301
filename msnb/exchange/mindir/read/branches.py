"""Read branches of a MINDIR file: a call of one of several functions, selected at run time, becomes a Switch."""

from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.exchange.mindir.read.functions import Functions
from msnb.exchange.mindir.read.graph_builder import GraphBuilder
from msnb.exchange.mindir.read.interpreter import Interpreter
from msnb.exchange.mindir.read.loop_exits import EarlyExit, Loop, RoundExits, map_leaves, zeros_outside_branch
from msnb.exchange.mindir.read.values import (
    START,
    BackEdge,
    Choice,
    Closure,
    EffectToken,
    NamedTuples,
    Placeholder,
    Ref,
    class_name,
    fill_placeholders,
    is_leaf,
    is_same,
    slot_of,
    type_of_either,
)
from msnb.ir.anf import FuncGraph, TensorType


class Branches:
    """Traces both functions of a branch and merges their results.

    Args:
        interpreter (Interpreter): Traces the functions of the file.
        functions (Functions): The functions of the file.
        builder (GraphBuilder): Adds the nodes.
    """

    def __init__(self, interpreter: Interpreter, functions: Functions, builder: GraphBuilder) -> None:
        self.interpreter = interpreter
        self.functions = functions
        self.builder = builder

    def call_choice(self, predicate: Any, if_true: Closure, if_false: Closure) -> Any:
        """Trace a call of one of two functions; it becomes a Switch unless the predicate is constant."""
        if not isinstance(predicate, Ref):
            chosen = if_true if bool(np.asarray(predicate)) else if_false
            return self.interpreter.call_function(chosen.function, chosen.values)
        successors = self.functions.common_successors(if_true.function, if_false.function)
        active = self.interpreter.active
        if successors:
            self.interpreter.active = (*active, min(successors))
        merged = self.switch_between(
            predicate,
            lambda: self.interpreter.call_function(if_true.function, if_true.values),
            lambda: self.interpreter.call_function(if_false.function, if_false.values),
            (if_false.function, if_true.function),
        )
        self.interpreter.active = active
        if isinstance(merged, BackEdge) and merged.function not in self.interpreter.active:
            return self.interpreter.call_function(merged.function, merged.values)
        return merged

    def call_indexed(self, index: Any, closures: list[Closure]) -> Any:
        """Trace a call of one of several functions. A negative index counts from the last one."""
        if not isinstance(index, Ref):
            closure = closures[int(index)]
            return self.interpreter.call_function(closure.function, closure.values)
        kind = index.node.types[index.slot]
        wrapped_index = Ref(self.builder.add_node("FloorMod", [index, len(closures)], (kind,)), 0)
        return self._trace_indexed_call(wrapped_index, closures, 0)

    def _trace_indexed_call(self, index, closures, number):
        closure, *others = closures
        if not others:
            return self.interpreter.call_function(closure.function, closure.values)
        is_selected = Ref(self.builder.add_node("Equal", [index, number], (TensorType("Bool", (), 1),)), 0)
        return self.switch_between(
            is_selected,
            lambda: self.interpreter.call_function(closure.function, closure.values),
            lambda: self._trace_indexed_call(index, others, number + 1),
            ("others", closure.function),
        )

    def _merge_results(self, a, b, pairs):
        """Merge the results of two branches. Values that differ become a `Placeholder` and are appended to `pairs`."""
        path = self.interpreter.path
        if isinstance(a, BackEdge) or isinstance(b, BackEdge):
            if not (isinstance(a, BackEdge) and isinstance(b, BackEdge) and a.function == b.function):
                raise EarlyExit(f"{path!r} has a branch that leaves a function in a way that msnb does not read.")
            return BackEdge(
                a.function, tuple(self._merge_results(x, y, pairs) for x, y in zip(a.values, b.values, strict=True))
            )
        if isinstance(a, EffectToken) or isinstance(b, EffectToken):
            return START
        if isinstance(a, (tuple, list)) and not isinstance(a, NamedTuples):
            if not isinstance(b, (tuple, list)) or len(a) != len(b):
                raise NotImplementedError(f"{path!r} has branches whose results are not alike.")
            return tuple(self._merge_results(x, y, pairs) for x, y in zip(a, b))
        if isinstance(a, (Closure, Choice)) or isinstance(b, (Closure, Choice)):
            if isinstance(a, Closure) and isinstance(b, Closure) and a.function == b.function:
                return Closure(a.function, self._merge_results(tuple(a.values), tuple(b.values), pairs))
            raise NotImplementedError(f"{path!r} has branches that give functions, which msnb does not read.")
        if is_same(a, b):
            return a
        if not (is_leaf(a) and is_leaf(b)):
            raise NotImplementedError(f"{path!r} has branches whose results are no Tensors.")
        pairs.append((a, b))
        return Placeholder(len(pairs) - 1)

    def switch_between(
        self,
        predicate: Any,
        yes: Callable[[], Any],
        no: Callable[[], Any],
        names: tuple[str, str],
        loop: Loop | None = None,
    ) -> Any:
        """Trace two continuations, `yes` and `no`, and return their merged result, which a Switch selects."""
        results, node_lists = [], []
        for follow in (no, yes):
            with self.builder.subgraph() as nodes:
                results.append(follow())
            node_lists.append(nodes)
        pairs: list[tuple[Any, Any]] = []
        if all(isinstance(result, RoundExits) for result in results):
            merged = self._merge_loop_exits(*results, node_lists, pairs, loop)
        else:
            merged = self._merge_results(*results, pairs)
        if pairs:
            graphs = tuple(
                FuncGraph(class_name(name), [], nodes, [(self.builder.node_of(p[i]), slot_of(p[i])) for p in pairs])
                for i, (name, nodes) in enumerate(zip(names, node_lists, strict=True))
            )
            node = self.builder.add_node("Switch", [predicate], tuple(type_of_either(p) for p in pairs), graphs=graphs)
            refs = [Ref(node, i) for i in range(len(pairs))]
            if isinstance(merged, RoundExits):
                values = {f: fill_placeholders(args, refs) for f, args in merged.values.items()}
                return RoundExits(fill_placeholders(merged.number, refs), values)
            merged = fill_placeholders(merged, refs)
        return merged

    def _merge_loop_exits(self, a, b, node_lists, pairs, loop):
        """Merge the exits from a loop in two branches. An exit that only one branch takes gets placeholder arguments
        in the other.
        """
        values = {}
        for function in {**a.values, **b.values}:
            x, y = a.values.get(function), b.values.get(function)
            if function == loop.name:
                # a branch that leaves the loop passes the state of this iteration
                x, y = x or loop.state, y or loop.state
            x = tuple(map_leaves(zeros_outside_branch(set(node_lists[1])), v) for v in y) if x is None else x
            y = tuple(map_leaves(zeros_outside_branch(set(node_lists[0])), v) for v in x) if y is None else y
            values[function] = self._merge_results(tuple(x), tuple(y), pairs)
        return RoundExits(self._merge_results(a.number, b.number, pairs), values)
