"""Read loops of a MINDIR file: a function that calls itself becomes a While."""

from collections.abc import Iterable
from typing import Any

from msnb.exchange.mindir.read.branches import Branches
from msnb.exchange.mindir.read.early_exit_loops import EarlyExitLoops
from msnb.exchange.mindir.read.functions import Functions
from msnb.exchange.mindir.read.graph_builder import GraphBuilder
from msnb.exchange.mindir.read.interpreter import Interpreter
from msnb.exchange.mindir.read.loop_exits import EarlyExit, Loop, variable_type
from msnb.exchange.mindir.read.values import BackEdge, Choice, Closure, Ref, slot_of
from msnb.ir.anf import FuncGraph, ParameterNode


class Loops:
    """Traces loops: those with one condition in this module, those with early exits by `EarlyExitLoops`.

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
        self.early_exits = EarlyExitLoops(interpreter, functions, builder, branches)

    def read(self, name: str, values: Iterable[Any], outer_loop: Loop | None = None) -> Any:
        """Trace a function that calls itself. `outer_loop` is the loop whose body contains this call, or None."""
        active, depth = self.interpreter.active, self.interpreter.depth
        try:
            return self._read_simple_loop(name, values, outer_loop)
        except EarlyExit:
            self.interpreter.active, self.interpreter.depth = active, depth
            return self.early_exits.read(name, values, outer_loop)

    def _read_simple_loop(self, name, values, outer_loop):
        """Read a loop with one condition as a While, and call the function after it."""
        values, kinds, names, changing = self.functions.loop_variables(name, values)
        while True:
            parameter_sets, traces = self._trace_condition_and_body(name, values, kinds, names, changing)
            body_nodes, results = traces[1]
            constant = [i for i in changing if results[i] == Ref(parameter_sets[1][i], 0)]
            if not constant:
                break
            changing = [i for i in changing if i not in constant]  # they have the same value in each iteration
        if not changing:
            raise NotImplementedError(f"{self.interpreter.path!r} has a loop in which nothing changes.")
        (test_nodes, predicate), (body_nodes, results) = traces
        graphs = []
        for title, nodes, outputs, parameters in (
            ("condition", test_nodes, [predicate], parameter_sets[0]),
            ("body", body_nodes, [results[i] for i in changing], parameter_sets[1]),
        ):
            ends = [(self.builder.node_of(v), slot_of(v)) for v in outputs]
            graph = FuncGraph(title, [parameters[i] for i in changing], nodes, ends, tuple(range(len(changing))))
            graphs.append(graph)
        types = tuple(parameter.types[0] for parameter in (parameter_sets[1][i] for i in changing))
        node = self.builder.add_node("While", [values[i] for i in changing], types, graphs=tuple(graphs))
        final_values = list(values)
        for slot, i in enumerate(changing):
            final_values[i] = Ref(node, slot)
        choice = self._trace_to_loop_choice(name, final_values)
        exit_closure = choice.no if self._calls_loop_again(choice.yes.function, name) else choice.yes
        return self.early_exits.call_after_loop(exit_closure.function, exit_closure.values, outer_loop)

    def _calls_loop_again(self, function, name):
        return name in self.functions.reachable(function, self.interpreter.active) or function == name

    def _trace_condition_and_body(self, name, values, kinds, names, changing):
        """Trace the condition and the body of a loop.

        Returns:
            The parameters of both, then [(nodes, predicate) of the condition, (nodes, results) of the body].
        """
        active = self.interpreter.active
        parameter_sets, traces = [], []
        for trace_index in range(2):
            parameters = {i: ParameterNode(names[i], (variable_type(values[i], kinds[i]),)) for i in changing}
            inputs = [Ref(parameters[i], 0) if i in parameters else v for i, v in enumerate(values)]
            with self.builder.subgraph() as nodes:
                choice = self._trace_to_loop_choice(name, inputs)
                leads_back = [self._calls_loop_again(closure.function, name) for closure in (choice.yes, choice.no)]
                if leads_back[0] == leads_back[1]:
                    raise EarlyExit(f"{self.interpreter.path!r} has a loop whose condition does not end it.")
                predicate = choice.predicate
                if trace_index == 0:
                    if leads_back[1]:
                        kind = predicate.node.types[predicate.slot]
                        predicate = Ref(self.builder.add_node("LogicalNot", [predicate], (kind,)), 0)
                    traces.append((nodes, predicate))
                else:
                    self.interpreter.active = (*active, name)
                    closure = choice.yes if leads_back[0] else choice.no
                    result = self.interpreter.call_function(closure.function, closure.values)
                    if not isinstance(result, BackEdge) or result.function != name:
                        raise EarlyExit(f"{self.interpreter.path!r} has a function that calls itself and is no loop.")
                    results = list(self.functions.bind_inputs(name, result.values).values())
                    traces.append((nodes, results))
            parameter_sets.append(parameters)
        self.interpreter.active = active
        return parameter_sets, traces

    def _trace_to_loop_choice(self, name, values):
        """Trace a loop's function up to its last call and return the choice that is called."""
        env, last = self.functions.bind_inputs(name, values), self.functions.result_node(name)
        if last is None:
            raise EarlyExit(f"{self.interpreter.path!r} has a function that calls itself and is no loop.")
        for node in self.functions.functions[name].get("node", []):
            if node is last:
                break
            self.interpreter.follow_node(node, env)
        callee = self.interpreter.lookup_value(last.get("op_type", "").removeprefix("REF::"), env)
        if not isinstance(callee, Choice) or not isinstance(callee.predicate, Ref):
            raise EarlyExit(f"{self.interpreter.path!r} has a function that calls itself and is no loop.")
        extra = tuple(self.interpreter.lookup_value(argument, env) for argument in last.get("input", []))
        yes, no = (Closure(c.function, (*c.values, *extra)) for c in (callee.yes, callee.no))
        return Choice(callee.predicate, yes, no)
