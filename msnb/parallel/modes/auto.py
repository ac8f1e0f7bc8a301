"""AUTO_PARALLEL: a search over all equations of the traced program selects the strategies.

The program is flattened into JAX's equations. The search assigns each equation the layouts with which the devices send
the fewest bytes within the memory of a device. Bytes between hosts cost more. The program is then constrained to these
layouts. Strategies that the network specifies stay unchanged.
"""

import hashlib
import math
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Literal

from msnb import context, log
from msnb.communication._coordination import agree_on
from msnb.core.sharding.partitioner import ArrayShardings
from msnb.core.state import trace_state
from msnb.formats import strategies as strategies_file
from msnb.formats.strategies import Dims, ParallelLayouts
from msnb.parallel._cost_model_context import _costs
from msnb.parallel.cost_model.topology import device_memory, make_cost_model, search_axes
from msnb.parallel.graph.flatten_jaxpr import Value, flatten_jaxpr
from msnb.parallel.graph.operator_calls import count_operators
from msnb.parallel.modes.layout_report import check_parameters, layout_of_shards
from msnb.parallel.modes.semi_auto import SemiAuto
from msnb.parallel.search.apply_choices import constrain_graph, make_layout_sharder
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.recursive import recursive_programming
from msnb.parallel.search.solver import dynamic_programming
from msnb.parallel.search.strategies_of_choices import strategies_of_choices
from msnb.parallel.sharding.mesh import device_mesh, named_mesh, take_axes

_settings = context._parallel.values
SEARCHES = {"dynamic_programming": dynamic_programming, "recursive_programming": recursive_programming}


class Auto(SemiAuto):
    """Select the shardings of a program by a search; see `SemiAuto` for the arguments.

    Attributes:
        problem (Problem): The search problem; it is set by the first call of `places`.
        choice (list[int]): Index of the selected choice for each node of `problem`.
    """

    problem: Problem
    choice: list[int]
    _solution: Any = None

    def _solve_search_problem(self, program):
        """Return (flat graph, selected choices of its inputs and equations, mesh axes for each axis of the search)."""
        if self._solution is None:
            names = search_axes(self.devices)
            self.problem = Problem(
                flatten_jaxpr(program.jaxpr), make_cost_model(names, self.devices), written_outputs(program)
            )
            graph, planned_solution = self.problem.graph, find_plan(self.devices, self.problem)
            if planned_solution is None:
                if _plans:
                    log.once(
                        f"The plan that was applied is of another graph than {program.title}, or of other shapes, "
                        f"whose strategies are searched for: plan with the arguments that it is called with."
                    )
                self.choice = agree_on(
                    _make_decision_key(self.problem),
                    lambda: list(map(int, _get_search_function()(self.problem, device_memory()))),
                )
            else:
                self.problem, self.choice, names = planned_solution
            self._solution = graph, [node[k] for node, k in zip(self.problem.nodes, self.choice, strict=True)], names
        return self._solution

    def places(self, program: Any) -> ArrayShardings:
        """Return the shardings of a traced program's arrays; see `Partitioner`."""
        mesh = device_mesh(self.devices)
        _, chosen, names = self._solve_search_problem(program)
        if _settings.strategy_ckpt_save_file:
            self._write_strategy_file(program, _settings.strategy_ckpt_save_file)
        make_sharding = make_layout_sharder(mesh, names)
        count = len(self.problem.graph.inputs)
        shardings = [make_sharding(choice.outputs[0]) for choice in chosen[:count]]
        by_param = {id(p): sharding for p, sharding in zip(program.params, shardings, strict=False)}
        index = {id(p): i for i, p in enumerate(program.params)}
        make_abstract_sharding = make_layout_sharder(named_mesh(self.devices), names)

        output_layouts = {i: chosen[index[id(p)]].outputs[0] for i, p in enumerate(program.written)}

        def around(graph_form: Callable[..., Any]) -> Callable[..., Any]:
            return _constrain_program_function(graph_form, self.problem, chosen, make_abstract_sharding, output_layouts)

        written, read = ([by_param[id(p)] for p in params] for params in (program.written, program.read))
        return self.extend_to_processes(
            ArrayShardings(written, read, shardings[len(program.params) :], around), program, mesh
        )

    def shards(self, program: Any) -> dict[str, Any]:
        """Return {call name: strategy} that the search selected for a program's operators; see `Partitioner`."""
        return {call.name: strategy for call, strategy in self._list_operator_strategies(program)}

    def _list_operator_strategies(self, program):
        graph, chosen, _ = self._solve_search_problem(program)
        return strategies_of_choices(program.jaxpr.jaxpr, graph, chosen, self.problem.cost_model.sizes)

    def _write_strategy_file(self, program, path):
        """Write the strategies of operators that read Parameters, and the Parameters' layouts, as MindSpore's strategy
        file.
        """
        names = {v: kind[1] for v, kind in zip(program.jaxpr.jaxpr.invars, program.inputs) if kind[0] == "param"}
        strategies, layouts = {}, self.layouts(program)
        for call, strategy in self._list_operator_strategies(program):
            for var in call.inputs:
                name = None if isinstance(var, Literal) else names.get(var)
                if name is not None:
                    strategies.setdefault(f"{call.meaning.operator}_{name}", tuple(map(tuple, strategy)))
        parameter_layouts = {
            n: ParallelLayouts([Dims(layouts[n][0])], [Dims(layouts[n][1])]) for n in names.values() if n in layouts
        }
        strategies_file.write(path, strategies, parameter_layouts)

    def layouts(self, program: Any) -> dict[str, Any]:
        """Return the layouts of Parameters and arguments that the search selected; see `Partitioner`.

        Before the search, return the layouts that follow from the network's own strategies.
        """
        if self._solution is None:
            return super().layouts(program)
        check_parameters(program, self.devices)
        graph, chosen, _ = self._solution
        sizes, layouts = self.problem.cost_model.sizes, {}
        for kind, value, choice in zip(program.inputs, graph.inputs, chosen, strict=False):
            if kind[0] != "random" and value.shape:
                shard_counts = [math.prod(sizes[axis] for axis in axes) for axes in choice.outputs[0]]
                layouts[kind[1]] = layout_of_shards(shard_counts, value.shape, self.devices)
        return layouts

    def operators(self, program: Any) -> int:
        """Return the number of operators in a program as r1.1's search counts them; see `Partitioner`."""
        return count_operators(program.jaxpr.jaxpr)


def _get_search_function():
    """Return the search function that the context selects."""
    mode = _settings.auto_parallel_search_mode
    if mode not in SEARCHES:
        log.once(f"auto_parallel_search_mode '{mode}' is not there; strategies are found by 'dynamic_programming'.")
    return SEARCHES.get(mode, dynamic_programming)


_plans: list[tuple[Problem, list[int]]] = []  # the plan that was applied last


def apply_plan(problem: Problem, chosen: list[int]) -> None:
    """Shard programs with the equations of `problem` by the choices `chosen` instead of searching again."""
    _plans[:] = [(problem, chosen)]
    trace_state.epoch.bump()


def clear_plan() -> None:
    """Remove the applied plan, so that programs are searched again."""
    _plans.clear()


def find_plan(devices: int, problem: Problem) -> tuple[Problem, list[int], dict[str, tuple[str, ...]]] | None:
    """Return (problem, choice, device mesh axes for each search axis) of the plan that fits a program, or None."""
    for plan_problem, chosen in _plans:
        sizes = plan_problem.cost_model.sizes
        if math.prod(sizes.values()) == devices and _describe_graph(plan_problem) == _describe_graph(problem):
            return (
                plan_problem,
                chosen,
                dict(zip(sizes, take_axes(named_mesh(devices), tuple(sizes.values())), strict=True)),
            )
    return None


def _make_decision_key(problem):
    """Return the key under which processes agree on a search: everything that the search depends on, except the memory
    that a device reports. This memory may differ between processes, and the value of process 0 is used.
    """
    sizes, weights = problem.cost_model.sizes, problem.cost_model.weights
    settings = _settings.auto_parallel_search_mode, sizes, weights, _costs.values.device_memory_capacity
    description = repr((*settings, _describe_graph(problem)))
    return f"strategies/{hashlib.sha256(description.encode()).hexdigest()}"


def _describe_graph(problem):
    """Return the structure of the graph: its primitives, their operands and their results."""
    numbers = {id(value): i for i, value in enumerate(problem.graph.inputs)}
    equations = []
    for e in problem.graph.equations:
        operands = [numbers.get(id(value)) for value in e.inputs]  # None is a constant
        equations.append((e.primitive.name, operands, [str(o.aval) for o in e.outputs]))
        numbers.update({id(value): len(numbers) + i for i, value in enumerate(e.outputs)})
    return [str(value.aval) for value in problem.graph.inputs], equations


def written_outputs(program: Any) -> dict[int, int]:
    """Return {output: input} for the Parameters that a program writes."""
    input_numbers = {id(p): i for i, p in enumerate(program.params)}
    return {program.n_results + i: input_numbers[id(p)] for i, p in enumerate(program.written)}


def _constrain_program_function(form, problem, choices, make_sharding, output_layouts):
    """Return `form`, a function that computes the program, with its equations constrained to `choices`."""

    def run(params, extra, arrays):
        leaves, tree = jax.tree.flatten((params, extra, arrays))
        closed, out = jax.make_jaxpr(lambda *flat_args: form(*jax.tree.unflatten(tree, flat_args)), return_shape=True)(
            *leaves
        )
        graph = flatten_jaxpr(closed)
        constrained = constrain_graph(
            graph, _match_choices(problem.graph, choices, graph), problem.cost_model, make_sharding, output_layouts
        )
        return jax.tree.unflatten(jax.tree.structure(out), constrained(*leaves))

    return run


def _match_choices(searched, choices, graph):
    """Return the choice for each input and equation of `graph`, a variant of the searched program; None for those that
    only the variant has.

    A variant adds equations for its extra outputs, such as the check of labels, between the program's own equations.
    """
    count, value_numbers = len(searched.inputs), {id(value): i for i, value in enumerate(searched.inputs)}
    output_numbers, equation_numbers = {}, defaultdict(deque)
    for number, equation in enumerate(searched.equations, count):
        equation_numbers[_make_equation_key(equation, value_numbers)].append(number)
        output_numbers[number] = [len(value_numbers) + i for i in range(len(equation.outputs))]
        value_numbers.update({id(v): i for v, i in zip(equation.outputs, output_numbers[number], strict=True)})
    value_numbers = {id(value): i for i, value in enumerate(graph.inputs[:count])}
    matched = [*choices[:count], *[None] * (len(graph.inputs) - count)]
    for equation in graph.equations:
        candidates = equation_numbers.get(_make_equation_key(equation, value_numbers))
        if not candidates:
            matched.append(None)
            # This `select_n` of the variant returns the new or the old value, depending on a check. Its result is
            # matched with the new value.
            if equation.primitive.name == "select_n":
                operand_numbers = [value_numbers[id(v)] for v in equation.inputs[1:] if id(v) in value_numbers]
                value_numbers.update({id(v): max(operand_numbers) for v in equation.outputs if operand_numbers})
            continue
        # The variant may repeat an equation: the last candidate is used for all its copies.
        number = candidates.popleft() if len(candidates) > 1 else candidates[0]
        matched.append(choices[number])
        value_numbers.update({id(v): i for v, i in zip(equation.outputs, output_numbers[number], strict=True)})
    return matched


def _make_equation_key(equation, value_numbers):
    """Return the primitive, operand numbers, result types and settings of an equation, to match equal equations."""
    operands = tuple(value_numbers.get(id(v), "new") if isinstance(v, Value) else "constant" for v in equation.inputs)
    settings = tuple((key, value) for key, value in equation.params.items() if isinstance(value, (int, str, tuple)))
    return equation.primitive.name, operands, tuple(str(v.aval) for v in equation.outputs), str(settings)
