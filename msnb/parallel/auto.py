"""AUTO_PARALLEL: the strategies are searched for, over all equations of the traced program.

What a program computes is opened into JAX's equations; each gets the layout that makes the devices send the fewest
bytes, those between hosts counted as slower, within the memory of a device; and all are held to it. Strategies that the
network gives stay as they are.
"""

import hashlib
import math
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Literal

from msnb import context, log
from msnb.communication._agreeing import agreed
from msnb.core import trace
from msnb.core.spreading import Places
from msnb.formats import strategies as strategies_file
from msnb.formats.strategies import Dims, ParallelLayouts
from msnb.parallel._cost_model_context import _costs
from msnb.parallel.calls import counted
from msnb.parallel.layouts import check_parameters, of_cuts
from msnb.parallel.mesh import device_mesh, named_mesh, take_axes
from msnb.parallel.search.choosing import dynamic_programming
from msnb.parallel.search.flat import Value, flat
from msnb.parallel.search.greedy import recursive_programming
from msnb.parallel.search.pinned import pinned, placing
from msnb.parallel.search.problem import Problem
from msnb.parallel.search.told import told
from msnb.parallel.semi_auto import SemiAuto
from msnb.parallel.topology import grouped, machines, memory

_settings = context._parallel.values
SEARCHES = {"dynamic_programming": dynamic_programming, "recursive_programming": recursive_programming}


class Auto(SemiAuto):
    """How a program is spread by a search; see `SemiAuto` for the arguments.

    Attributes:
        problem (Problem): What was searched, once `places` has been asked.
        choice (list[int]): What was chosen for each of its nodes.
    """

    problem: Problem
    choice: list[int]
    _found: Any = None

    def _searched(self, program):
        """(the graph opened, what was chosen for its inputs and equations, the mesh's axes for each of the search)."""
        if self._found is None:
            names = grouped(self.devices)
            self.problem = Problem(flat(program.jaxpr), machines(names, self.devices), returned(program))
            graph, followed = self.problem.graph, planned(self.devices, self.problem)
            if followed is None:
                if _plans:
                    log.once(
                        f"The plan that was applied is of another graph than {program.title}, or of other shapes, "
                        f"whose strategies are searched for: plan with the arguments that it is called with."
                    )
                self.choice = agreed(_key(self.problem), lambda: list(map(int, _search()(self.problem, memory()))))
            else:
                self.problem, self.choice, names = followed
            self._found = graph, [node[k] for node, k in zip(self.problem.nodes, self.choice, strict=True)], names
        return self._found

    def places(self, program: Any) -> Places:
        """Where the arrays of a traced program are to be; see `core.spreading`."""
        mesh = device_mesh(self.devices)
        _, chosen, names = self._searched(program)
        if _settings.strategy_ckpt_save_file:
            self._save(program, _settings.strategy_ckpt_save_file)
        place = placing(mesh, names)
        count = len(self.problem.graph.inputs)
        laid = [place(choice.outputs[0]) for choice in chosen[:count]]
        by_param = {id(p): where for p, where in zip(program.params, laid, strict=False)}
        index = {id(p): i for i, p in enumerate(program.params)}
        in_graph = placing(named_mesh(self.devices), names)

        back = {i: chosen[index[id(p)]].outputs[0] for i, p in enumerate(program.written)}

        def around(form: Callable[..., Any]) -> Callable[..., Any]:
            return _held(form, self.problem, chosen, in_graph, back)

        written, read = ([by_param[id(p)] for p in params] for params in (program.written, program.read))
        return self.over_processes(Places(written, read, laid[len(program.params) :], around), program, mesh)

    def shards(self, program: Any) -> dict[str, Any]:
        """The strategies that the search has found for a program's operators; see `core.spreading`."""
        return {call.name: strategy for call, strategy in self._told(program)}

    def _told(self, program):
        graph, chosen, _ = self._searched(program)
        return told(program.jaxpr.jaxpr, graph, chosen, self.problem.machines.sizes)

    def _save(self, program, path):
        """Write what was found of the operators that read Parameters, and of these, as MindSpore's strategy file."""
        names = {v: kind[1] for v, kind in zip(program.jaxpr.jaxpr.invars, program.inputs) if kind[0] == "param"}
        cuts, laid = {}, self.layouts(program)
        for call, strategy in self._told(program):
            for var in call.inputs:
                name = None if isinstance(var, Literal) else names.get(var)
                if name is not None:
                    cuts.setdefault(f"{call.meaning.operator}_{name}", tuple(map(tuple, strategy)))
        found = {n: ParallelLayouts([Dims(laid[n][0])], [Dims(laid[n][1])]) for n in names.values() if n in laid}
        strategies_file.write(path, cuts, found)

    def layouts(self, program: Any) -> dict[str, Any]:
        """How Parameters and arguments lie as the search has found it; before it has, where strategies that the network
        gives say so. See `core.spreading`."""
        if self._found is None:
            return super().layouts(program)
        check_parameters(program, self.devices)
        graph, chosen, _ = self._found
        sizes, laid = self.problem.machines.sizes, {}
        for kind, value, choice in zip(program.inputs, graph.inputs, chosen, strict=False):
            if kind[0] != "random" and value.shape:
                cuts = [math.prod(sizes[axis] for axis in axes) for axes in choice.outputs[0]]
                laid[kind[1]] = of_cuts(cuts, value.shape, self.devices)
        return laid

    def operators(self, program: Any) -> int:
        """How many operators a program has, as r1.1's search counts them; see `core.spreading`."""
        return counted(program.jaxpr.jaxpr)


def _search():
    """The search that the context says."""
    mode = _settings.auto_parallel_search_mode
    if mode not in SEARCHES:
        log.once(f"auto_parallel_search_mode '{mode}' is not there; strategies are found by 'dynamic_programming'.")
    return SEARCHES.get(mode, dynamic_programming)


_plans: list[tuple[Problem, list[int]]] = []  # the one that was applied last


def follow(problem: Problem, chosen: list[int]) -> None:
    """Spread programs whose equations are those of a problem as was chosen there, instead of searching anew."""
    _plans[:] = [(problem, chosen)]
    trace.epoch.bump()


def forget() -> None:
    """Search again; programs are spread anew."""
    _plans.clear()


def planned(devices: int, problem: Problem) -> tuple[Problem, list[int], dict[str, tuple[str, ...]]] | None:
    """(problem, choice, axes of the mesh for each of its axes) of the plan that fits a program, if there is one."""
    for made, chosen in _plans:
        sizes = made.machines.sizes
        if math.prod(sizes.values()) == devices and _text(made) == _text(problem):
            return made, chosen, dict(zip(sizes, take_axes(named_mesh(devices), tuple(sizes.values())), strict=True))
    return None


def _key(problem):
    """What processes call the search by: all that it depends on, but what a device says of its memory, which need not
    be the same everywhere; process 0's is taken."""
    sizes, weights = problem.machines.sizes, problem.machines.weights
    told = _settings.auto_parallel_search_mode, sizes, weights, _costs.values.device_memory_capacity
    asked = repr((*told, _text(problem)))
    return f"strategies/{hashlib.sha256(asked.encode()).hexdigest()}"


def _text(problem):
    """The shape of the graph: primitives, what they are given, and what they make."""
    numbers = {id(value): i for i, value in enumerate(problem.graph.inputs)}
    equations = []
    for e in problem.graph.equations:
        given = [numbers.get(id(value)) for value in e.inputs]  # None is a constant
        equations.append((e.primitive.name, given, [str(o.aval) for o in e.outputs]))
        numbers.update({id(value): len(numbers) + i for i, value in enumerate(e.outputs)})
    return [str(value.aval) for value in problem.graph.inputs], equations


def returned(program: Any) -> dict[int, int]:
    """{output: input} of the Parameters that a program writes."""
    place = {id(p): i for i, p in enumerate(program.params)}
    return {program.n_results + i: place[id(p)] for i, p in enumerate(program.written)}


def _held(form, problem, choices, place, back):
    """A form of the program whose equations are held to what was chosen for them."""

    def run(params, extra, arrays):
        leaves, tree = jax.tree.flatten((params, extra, arrays))
        closed, out = jax.make_jaxpr(lambda *flat: form(*jax.tree.unflatten(tree, flat)), return_shape=True)(*leaves)
        graph = flat(closed)
        held = pinned(graph, _found_again(problem.graph, choices, graph), problem.machines, place, back)
        return jax.tree.unflatten(jax.tree.structure(out), held(*leaves))

    return run


def _found_again(searched, choices, graph):
    """The choices by the inputs and equations of a form of a program; None for those that it has beyond the program.

    What a form does with what is handed out, such as the check of labels, stands between the program's own equations.
    """
    count, known = len(searched.inputs), {id(value): i for i, value in enumerate(searched.inputs)}
    numbers, places = {}, defaultdict(deque)
    for number, equation in enumerate(searched.equations, count):
        places[_read(equation, known)].append(number)
        numbers[number] = [len(known) + i for i in range(len(equation.outputs))]
        known.update({id(v): i for v, i in zip(equation.outputs, numbers[number], strict=True)})
    known = {id(value): i for i, value in enumerate(graph.inputs[:count])}
    found = [*choices[:count], *[None] * (len(graph.inputs) - count)]
    for equation in graph.equations:
        same = places.get(_read(equation, known))
        if not same:
            found.append(None)
            if equation.primitive.name == "select_n":  # what is written only if the check finds nothing is the value
                ways = [known[id(v)] for v in equation.inputs[1:] if id(v) in known]
                known.update({id(v): max(ways) for v in equation.outputs if ways})
            continue
        number = (
            same.popleft() if len(same) > 1 else same[0]
        )  # whoever asks for the same values once more is given them
        found.append(choices[number])
        known.update({id(v): i for v, i in zip(equation.outputs, numbers[number], strict=True)})
    return found


def _read(equation, known):
    """What an equation does with which values."""
    given = tuple(known.get(id(v), "new") if isinstance(v, Value) else "constant" for v in equation.inputs)
    told = tuple((key, value) for key, value in equation.params.items() if isinstance(value, (int, str, tuple)))
    return equation.primitive.name, given, tuple(str(v.aval) for v in equation.outputs), str(told)
