"""Read loops of a MINDIR file that have early exits, by `break` or `return`. They become a While whose state includes
the number of the exit taken.

In a MINDIR file the code after a `break` is a function that is called in the middle of an iteration. An iteration ends
with the call of one of several functions, its *exits*: the loop's function again, or a function that leaves the loop.
The number of the exit is a state of the While. The While ends when it is not the number of the loop's function. The
arguments of the other exits are further states. After the While, the number selects the function to call.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from msnb.exchange.mindir.read.branches import Branches
from msnb.exchange.mindir.read.functions import Functions
from msnb.exchange.mindir.read.graph_builder import GraphBuilder
from msnb.exchange.mindir.read.interpreter import Interpreter
from msnb.exchange.mindir.read.loop_exits import ExitValue, Loop, RoundExits, map_leaves, variable_type, zeros_of
from msnb.exchange.mindir.read.values import Choice, Closure, Ref, is_same, slot_of
from msnb.ir.anf import FuncGraph, ParameterNode, TensorType

_INT32, _BOOL = TensorType("Int32", (), 4), TensorType("Bool", (), 1)
_MAX_DEPTH = 100  # nested functions


class EarlyExitLoops:
    """Traces loops with early exits.

    Args:
        interpreter (Interpreter): Traces the functions of the file.
        functions (Functions): The functions of the file.
        builder (GraphBuilder): Adds the nodes.
        branches (Branches): Merges the exits of branches.
    """

    def __init__(
        self, interpreter: Interpreter, functions: Functions, builder: GraphBuilder, branches: Branches
    ) -> None:
        self.interpreter = interpreter
        self.functions = functions
        self.builder = builder
        self.branches = branches

    def read(self, name: str, values: Iterable[Any], outer_loop: Loop | None) -> Any:
        """Trace a loop with early exits. `outer_loop` is the loop whose body contains this call, or None."""
        values, kinds, names, changing = self.functions.loop_variables(name, values)
        active = self.interpreter.active
        self.interpreter.active = (*active, name)
        after = self.functions.loop_exit(name, self.interpreter.active)
        while True:
            parameters = {i: ParameterNode(names[i], (variable_type(values[i], kinds[i]),)) for i in changing}
            loop = Loop(
                name, after, tuple(Ref(parameters[i], 0) if i in parameters else v for i, v in enumerate(values))
            )
            with self.builder.subgraph() as body:
                round_exits = self._trace_function_to_exits(name, loop.state, loop)
            results = round_exits.values.get(name)
            constant = [] if results is None else [i for i in changing if is_same(results[i], Ref(parameters[i], 0))]
            if not constant:
                break
            changing = [i for i in changing if i not in constant]
        self.interpreter.active = active
        if results is None:  # there is no second iteration
            self.interpreter.active = (*active, name)
            round_exits = self._trace_function_to_exits(name, values, loop)
            self.interpreter.active = active
            return self._dispatch_loop_exit(loop, round_exits, outer_loop)
        exits = {function: args for function, args in round_exits.values.items() if function != name}
        body_nodes, exit_values = set(body), []
        exits = {f: self._collect_exit_values(args, body_nodes, exit_values) for f, args in exits.items()}
        exit_types = [leaf.node.types[leaf.slot] for leaf in exit_values]
        types = (_INT32, *(parameters[i].types[0] for i in changing), *exit_types)
        ends = [round_exits.number, *(results[i] for i in changing), *exit_values]
        state = [ParameterNode("way", (_INT32,)), *(parameters[i] for i in changing)]
        state += [ParameterNode(f"left_{k}", (kind,)) for k, kind in enumerate(exit_types)]
        condition_parameters = [ParameterNode(node.name, node.types) for node in state]
        with self.builder.subgraph() as condition:
            goes_on = self.builder.add_node("Equal", [Ref(condition_parameters[0], 0), loop.number(name)], (_BOOL,))
        feeds = tuple(range(len(types)))
        graphs = (
            FuncGraph("condition", condition_parameters, condition, [(goes_on, 0)], feeds),
            FuncGraph("body", state, body, [(self.builder.node_of(v), slot_of(v)) for v in ends], feeds),
        )
        start = [loop.number(name), *(values[i] for i in changing), *map(zeros_of, exit_types)]
        node = self.builder.add_node("While", start, types, graphs=graphs)
        slots = {parameters[i]: slot for slot, i in enumerate(changing, 1)}
        first = 1 + len(changing)

        def value_after_loop(value):
            if isinstance(value, Ref):
                return Ref(node, slots[value.node]) if value.node in slots else value
            return Ref(node, first + value.position) if isinstance(value, ExitValue) else value

        exits = {f: tuple(map_leaves(value_after_loop, v) for v in args) for f, args in exits.items()}
        return self._dispatch_loop_exit(loop, RoundExits(Ref(node, 0), exits), outer_loop)

    def call_after_loop(self, function: str, values: Iterable[Any], outer_loop: Loop | None) -> Any:
        """Call a function that follows a loop."""
        return (
            self.interpreter.call_function(function, values)
            if outer_loop is None
            else self._trace_call_to_exits(function, values, outer_loop)
        )

    def _dispatch_loop_exit(self, loop, round_exits, outer_loop):
        """Call the function that follows the loop. The number of the exit selects it."""
        (function, values), *others = round_exits.values.items()
        if not others:
            return self.call_after_loop(function, values, outer_loop)
        rest = RoundExits(round_exits.number, dict(others))
        chosen = Ref(self.builder.add_node("Equal", [round_exits.number, loop.number(function)], (_BOOL,)), 0)
        return self.branches.switch_between(
            chosen,
            lambda: self.call_after_loop(function, values, outer_loop),
            lambda: self._dispatch_loop_exit(loop, rest, outer_loop),
            ("left", "left"),
            outer_loop,
        )

    def _collect_exit_values(self, values, body_nodes, exit_values):
        """Replace values that are computed in the loop by an `ExitValue`, and append the values to `exit_values`."""

        def leaf(value):
            if not isinstance(value, Ref) or value.node not in body_nodes:
                return value
            if value not in exit_values:
                exit_values.append(value)
            return ExitValue(exit_values.index(value))

        return tuple(map_leaves(leaf, value) for value in values)

    # ------------------------------------------------------------------ one iteration
    def _trace_call_to_exits(self, name, values, loop):
        """Trace a call that may end an iteration of the loop and return the exits that it reaches."""
        reachable = self.functions.reachable(name, self.interpreter.active)
        leads_back = loop.name in reachable or (loop.after in reachable and name != loop.after)
        if name == loop.name:
            return RoundExits(loop.number(name), {name: tuple(self.functions.bind_inputs(name, values).values())})
        if name in self.interpreter.active or not leads_back:
            return RoundExits(loop.number(name), {name: tuple(values)})
        if name in reachable:  # a loop nested in this one
            return self.interpreter.read_loop(name, values, loop)
        return self._trace_function_to_exits(name, values, loop)

    def _trace_function_to_exits(self, name, values, loop):
        """Trace a function that is called in the loop and return the exits that it reaches."""
        env, last = self.functions.bind_inputs(name, values), self.functions.result_node(name)
        if last is None or self.interpreter.depth > _MAX_DEPTH:
            raise NotImplementedError(f"{self.interpreter.path!r} has a function that calls itself and is no loop.")
        self.interpreter.depth += 1
        for node in self.functions.functions[name].get("node", []):
            if node is last:
                break
            self.interpreter.follow_node(node, env)
        callee = self.interpreter.lookup_value(last.get("op_type", "").removeprefix("REF::"), env)
        args = tuple(self.interpreter.lookup_value(v, env) for v in last.get("input", []))
        result = self._trace_last_call_to_exits(callee, args, loop)
        self.interpreter.depth -= 1
        return result

    def _trace_last_call_to_exits(self, callee, args, loop):
        if isinstance(callee, Closure):
            return self._trace_call_to_exits(callee.function, (*callee.values, *args), loop)
        if not isinstance(callee, Choice):
            raise NotImplementedError(f"{self.interpreter.path!r} has a function that calls itself and is no loop.")
        yes, no = (Closure(c.function, (*c.values, *args)) for c in (callee.yes, callee.no))
        if not isinstance(callee.predicate, Ref):
            chosen = yes if bool(np.asarray(callee.predicate)) else no
            return self._trace_call_to_exits(chosen.function, chosen.values, loop)
        active = self.interpreter.active
        common_exits = sorted(self.functions.common_successors(yes.function, no.function) - set(active))
        self.interpreter.active = (*active, *common_exits[:1])
        round_exits = self.branches.switch_between(
            callee.predicate,
            lambda: self._trace_call_to_exits(yes.function, yes.values, loop),
            lambda: self._trace_call_to_exits(no.function, no.values, loop),
            (no.function, yes.function),
            loop,
        )
        self.interpreter.active = active
        if common_exits and set(round_exits.values) == {common_exits[0]}:
            return self._trace_call_to_exits(common_exits[0], round_exits.values[common_exits[0]], loop)
        return round_exits
