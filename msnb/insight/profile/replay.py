"""Time groups of operators separately, each on the values that it has in a real step.

Operators that XLA fused into one kernel can't be timed separately: they are replayed together as one compiled
function. Operators without a kernel, such as a reshape, are part of the functions that read them. Groups of the same
operators on the same shapes are compiled and timed once.
"""

import time
from typing import TYPE_CHECKING, Any

import jax

from msnb.core.compat.jax_private import Literal, eval_jaxpr
from msnb.core.state import trace_state
from msnb.ir.anf import CNode, ParameterNode
from msnb.ir.read import read
from msnb.ir.scope import parse

from . import wall_time

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.figures import Figures

_MERGES = 0.001  # share of the kernels' time; the operators of a kernel with less time are not grouped
# share of the kernels' time; smaller groups of a Cell are merged, because a call would take longer than they do
_SMALL = 0.02
_BUDGET = 3.0  # seconds for all rounds; short groups get more rounds, because the minimum of many runs is more stable
_CALLS = 3  # consecutive runs of a group within one round


class Group:
    """Operators that were replayed as one function.

    Attributes:
        nodes (list[CNode]): the operators, in the order of execution.
        alone (float): seconds of one run, without the cost of calling an empty function.
        part (float): fraction of `alone` that counts as wall time of the step, computed from the trace. It is 1.0 if
            nothing ran in parallel, or if parallel execution saved no time. It is 0.5 if another group ran in parallel
            all the time and both were as fast as separately.
        seconds (float): `alone` times `part`: its contribution to the wall time of the step.
    """

    __slots__ = ("nodes", "alone", "part", "seconds")

    def __init__(self, nodes: "list[CNode]", alone: Any, part: float = 1.0) -> None:
        self.nodes: list[CNode] = nodes
        self.alone: Any = alone
        self.part: float = part
        self.seconds: Any = alone * part

    def __repr__(self) -> str:
        return f"Group({' + '.join(dict.fromkeys(node.name for node in self.nodes))}: {self.seconds * 1e3:.3f} ms)"


class Replay:
    """The times of all groups of operators of a step, each replayed separately.

    Attributes:
        groups (list[Group]): longest first. `total` is the sum of their `seconds`, and `alone` the sum of their
            `alone`.
        step (float): seconds of the shortest run of the program. Its runs alternate with those of the groups.
        rest (float): seconds of the step outside of the groups. It has XLA's own copies and the gaps between kernels,
            which are computed from their share of the traced step, and the call of an empty function.
        compiled (int): number of different functions.
    """

    __slots__ = ("groups", "step", "total", "alone", "rest", "compiled")

    def __init__(self, groups: "list[Group]", step: Any, rest: Any, compiled: Any) -> None:
        self.groups: list[Group] = sorted(groups, key=lambda group: -group.seconds)
        self.step: Any = step
        self.total: int = sum(group.seconds for group in groups)
        self.alone: int = sum(group.alone for group in groups)
        self.rest: Any = rest
        self.compiled: Any = compiled

    @property
    def difference(self) -> float:
        """The relative difference between the step and the sum of groups and rest."""
        return (self.total + self.rest) / self.step - 1

    def __repr__(self) -> str:
        return (
            f"Replay({len(self.groups)} groups, {self.compiled} functions: {self.total * 1e3:.3f} ms, "
            f"step {self.step * 1e3:.3f} ms, {100 * self.difference:+.0f} %)"
        )


def replay(profile: "Figures", rounds: int = 5) -> "Replay | None":
    """Time each group of fused operators separately; see `Profile.replay`."""
    program = profile.program
    if program is None or program not in profile.recording.programs:
        raise RuntimeError(
            "Nothing can be replayed: no compiled Cell or function was recorded in GRAPH mode, or the "
            "profile was closed."
        )
    equations = {}

    def visit(node, equation, path):
        if node is not None:
            equations[node.id] = equation

    graph = read(program.jaxpr, program.name, program.inputs, visit=visit)
    parts = _GroupFunctions(
        graph, equations, _group_nodes(profile, graph), _map_overwritten_inputs(program, graph), program.jaxpr.jaxpr
    )
    arrays = _make_program_arguments(program, profile.recording.programs[program])
    values = parts.values(arrays)
    overlaps = _measure_overlaps(profile, graph, parts.groups)
    # gaps are counted as a share of the traced step: on a busy machine its gaps can exceed the shortest whole step
    rest = sum(row.seconds for row in profile.rows if row.how == "xla") + profile.parts["gaps"]
    rest /= sum(profile.parts.values()) or 1.0
    result = _time_groups(
        parts, values, _make_step_function(program, arrays), (arrays, len(graph.outputs)), rest, overlaps, rounds
    )
    _apply_replayed_times(profile, result)
    return result


# ---------------------------------------------------------------------- which operators belong together
def _group_nodes(profile, graph):
    """Return lists of outermost nodes; nodes of one significant kernel are in one list."""
    outer = {}
    for node in graph.nodes:
        outer[node.id] = node.id
        for inner in (inner for sub in node.graphs for inner in sub.all_nodes()):
            outer[inner.id] = node.id
    parent = {node.id: node.id for node in graph.nodes}

    def root(ident):
        while parent[ident] != ident:
            parent[ident] = ident = parent[parent[ident]]
        return ident

    times = getattr(profile, "kernel_seconds", {})
    total = sum(times.values()) or 1.0
    for op, owner in profile._owners.get(profile.program, {}).items():
        if times.get(op, 0.0) >= _MERGES * total:
            idents = [outer[node.id] for node in owner.nodes]
            for first, second in zip(idents, idents[1:], strict=False):
                parent[root(first)] = root(second)
    groups, small, group_seconds = {}, {}, {}
    owned = {outer[node.id] for owner in profile._owners.get(profile.program, {}).values() for node in owner.nodes}
    weighty = [node for node in graph.nodes if node.id in owned]
    for node in weighty:
        group_seconds[root(node.id)] = group_seconds.get(root(node.id), 0.0) + (profile.times[node.id] or 0.0)
    for node in weighty:
        group = root(node.id)
        if group_seconds[group] < _SMALL * sum(group_seconds.values()):
            small.setdefault((node.scope.rpartition("/")[0], node.direction), []).append(node)
        else:
            groups.setdefault(group, []).append(node)
    return [*groups.values(), *small.values()]


def _measure_overlaps(profile, graph, groups):
    """Return per group (fraction of its time in which no other group runs, share of the step that its time takes)."""
    outer = {}
    for index, nodes in enumerate(groups):
        for node in nodes:
            for inner in (node, *(inner for sub in node.graphs for inner in sub.all_nodes())):
                outer[inner.id] = index
    home = {
        op: outer.get(owner.nodes[0].id)
        for op, owner in profile._owners.get(profile.program, {}).items()
        if owner.nodes
    }
    window, count = profile._get_traced_window()
    spans, wall = {}, {}
    for kernel in profile._list_kernels_in_window(window):
        index = home.get(kernel.op)
        if index is not None and profile._modules.get(kernel.run[:2]) is profile.program:
            spans.setdefault(index, []).append((kernel.start, kernel.end))
    for op, seconds in getattr(profile, "kernel_seconds", {}).items():
        if home.get(op) is not None:
            wall[home[op]] = wall.get(home[op], 0.0) + seconds
    own = {index: wall_time.length(wall_time.union(mine)) * 1e-9 / max(count, 1) for index, mine in spans.items()}
    step = sum(profile.parts.values())
    return [
        (min(wall.get(index, 0.0) / own[index], 1.0), own[index] / step) if own.get(index) else (1.0, 0.0)
        for index in range(len(groups))
    ]


class _GroupFunctions:
    """Makes a function of each group of nodes. Its arguments are the values that the group reads from outside."""

    def __init__(self, graph, equations, groups, overwritten, jaxpr):
        self.overwritten = overwritten
        self.jaxpr = jaxpr
        self.graph = graph
        self.equations = equations
        self.groups = groups
        home = {node: index for index, nodes in enumerate(groups) for node in nodes}
        order = {node: place for place, node in enumerate(graph.nodes)}
        self.inputs, self.outputs, self.bodies = [], [], []
        read_by = {use: {None} for use in graph.outputs}
        for index, nodes in enumerate(groups):
            # the nodes of the group, and the ungrouped nodes that they need
            body, inputs, todo = set(nodes), {}, list(nodes)
            while todo:
                for use in _list_non_constant_inputs(todo.pop()):
                    source = use[0]
                    if source in body:
                        continue
                    if isinstance(source, CNode) and source not in home:
                        body.add(source)
                        todo.append(source)
                    else:
                        inputs[use] = True
                        read_by.setdefault(use, set()).add(index)
            self.inputs.append(list(inputs))
            self.bodies.append(sorted(body, key=order.get))
        loose = [node for node in graph.nodes if node not in home]
        for use in dict.fromkeys(use for node in loose for use in _list_non_constant_inputs(node)):
            read_by.setdefault(use, set()).add(None)
        for index, nodes in enumerate(groups):
            self.outputs.append(
                [
                    (node, slot)
                    for node in nodes
                    for slot in range(len(node.types))
                    if read_by.get((node, slot), set()) - {index}
                ]
            )

    def function(self, index):
        """Return one group as a function of arrays, in the order of `inputs`."""
        inputs, outputs, nodes = self.inputs[index], self.outputs[index], self.bodies[index]

        def run(*arrays):
            values = dict(zip(inputs, arrays, strict=True))
            self.evaluate(nodes, values)
            return [values[use] for use in outputs]

        return run

    def donated(self, index):
        """Return (input index, output index) pairs of a group whose result overwrites the input in the step."""
        inputs = {use: at for at, use in enumerate(self.inputs[index])}
        pairs = [(inputs.get(self.overwritten.get(use)), at) for at, use in enumerate(self.outputs[index])]
        return tuple((place, at) for place, at in pairs if place is not None)

    def evaluate(self, nodes, environment):
        """Run nodes. Their inputs come from `environment`, and their results are added to it."""
        for node in nodes:
            equation = self.equations[node.id]
            with jax.named_scope("/".join(parse(node.scope)[0]) or "Default"):
                results = _run_equation(self.jaxpr, equation, [_lookup_value(use, environment) for use in node.uses])
            for slot, value in enumerate(results):
                environment[node, slot] = value

    def values(self, arrays):
        """Return {use: array} of all outside inputs of the groups, with their values in the real program."""
        uses_to_compute = list(dict.fromkeys(use for uses in self.inputs for use in uses if isinstance(use[0], CNode)))

        def everything(*arrays):
            environment = {(node, 0): array for node, array in zip(self.graph.parameters, arrays, strict=True)}
            self.evaluate(self.graph.nodes, environment)
            return [environment[use] for use in uses_to_compute]

        array_by_use = dict(zip(uses_to_compute, jax.jit(everything)(*arrays), strict=True))
        array_by_use.update({(node, 0): array for node, array in zip(self.graph.parameters, arrays, strict=True)})
        return array_by_use


def _map_overwritten_inputs(program, graph):
    """Return {result of the program: the input that it overwrites}."""
    inputs = {id(p): (node, 0) for p, node in zip(program.params, graph.parameters, strict=False)}
    return {
        use: inputs[id(p)]
        for p, use in zip(program.written, graph.outputs[program.n_results :], strict=True)
        if id(p) in inputs
    }


def _list_non_constant_inputs(node):
    """Return (producer, slot) of the inputs of a node that are not constants."""
    return [use for use in node.uses if isinstance(use[0], (CNode, ParameterNode))]


def _lookup_value(use, environment):
    node, _ = use
    return environment[use] if isinstance(node, (CNode, ParameterNode)) else node.value


def _run_equation(around, equation, values):
    """Run one equation of a jaxpr. Return one value per result, None for a dropped one."""
    value_of_var = {}
    for var, value in zip(equation.invars, values, strict=True):
        if not isinstance(var, Literal):
            dtype = var.aval.dtype
            value_of_var[var] = value if getattr(value, "dtype", dtype) == dtype else _convert_to_type(value, var.aval)
    outvars = [var for var in equation.outvars if type(var).__name__ != "DropVar"]
    debug = around.debug_info
    jaxpr = around.replace(
        constvars=[],
        invars=list(value_of_var),
        outvars=outvars,
        eqns=[equation],
        effects=equation.effects,
        debug_info=debug.with_unknown_names() if hasattr(debug, "with_unknown_names") else None,
    )
    results = iter(eval_jaxpr(jaxpr, (), *value_of_var.values()))
    return [None if type(var).__name__ == "DropVar" else next(results) for var in equation.outvars]


def _convert_to_type(value, aval):
    """Convert a value to the equation's type. Random keys are converted here, because the graph has no nodes for it."""
    dtype = aval.dtype
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        key = jax.random.wrap_key_data(value) if value.ndim else jax.random.key(value)
        return key if key.shape == aval.shape else jax.random.split(key, aval.shape)
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return value.astype(dtype)


# ---------------------------------------------------------------------- running
def _copy_parameters(parameters):
    """Return copies of the arrays of Parameters, because a training step of another thread may donate theirs."""
    with trace_state.donation_lock.lock:
        return [jax.numpy.array(p._array, copy=True) for p in parameters]


def _make_program_arguments(program, arrays):
    """Return arrays for the inputs of the program's jaxpr, with current Parameter values."""
    number = [0] if program.random else []
    return _copy_parameters(program.params) + number + list(arrays)


def _make_step_function(program, arrays):
    """Return a function that runs the compiled program once, on copies of donated arrays."""
    rest = arrays[len(program.params) :]
    read_arrays = _copy_parameters(program.read)
    state = [_copy_parameters(program.written)]

    def run():
        outs = program.run(state[0], read_arrays, *rest, *program.control_arguments())
        state[0] = outs[0]
        return outs

    return run


def _time_groups(parts, values, run_step, shape_of_step, rest, overlaps, rounds):
    compiled, plan, empty, shapes = {}, [], {}, {}
    for index in range(len(parts.groups)):
        args, donated = [values[use] for use in parts.inputs[index]], parts.donated(index)
        function = jax.jit(parts.function(index), donate_argnums=tuple(place for place, _ in donated))
        key = (str(function.trace(*args).jaxpr), tuple(_get_shape_and_dtype(a) for a in args), donated)
        if key not in compiled:
            compiled[key] = (_RepeatedCall(function, args, donated), args)
        shape = len(args), len(parts.outputs[index])
        empty.setdefault(shape, _make_empty_function(shape[1]))
        shapes[key] = shape
        plan.append((key, shape))
    arrays, results = shape_of_step
    call = _make_empty_function(results)
    runs = {"step": run_step, "call": lambda: call(*arrays)}
    for key, (function, args) in compiled.items():
        runs[key] = function
        runs.setdefault(shapes[key], lambda f=empty[shapes[key]], a=args: f(*a))
    for run in runs.values():
        jax.block_until_ready(run())
    times_by_run = {name: [] for name in runs}
    stop, done = time.perf_counter() + _BUDGET, 0
    while done < rounds or (done < 20 * rounds and time.perf_counter() < stop):
        done += 1
        for name, run in runs.items():
            times_by_run[name] += _time_runs(run)
    best = {name: min(times) for name, times in times_by_run.items()}
    groups = []
    for nodes, (key, shape), (part, inside) in zip(parts.groups, plan, overlaps, strict=True):
        alone = max(best[key] - best[shape], 0.0)
        groups.append(Group(nodes, alone, _compute_wall_time_fraction(part, alone, inside * best["step"])))
    return Replay(groups, best["step"], rest * best["step"] + best["call"], len(compiled))


def _compute_wall_time_fraction(part, alone, inside):
    """Return the fraction of a group's separate time that is wall time of the step.

    Args:
        part (float): fraction of its time in the step without kernels of other groups.
        alone (float), inside (float): seconds that it runs separately, and in the step.

    If a group ran in parallel as fast as it does separately, it used another core, and the groups share the time. If it
    took twice as long, it needs all cores, and parallel execution saved no time.
    """
    return min(part * max(inside / alone, 1.0), 1.0) if alone else part


class _RepeatedCall:
    """Calls a function repeatedly; overwritten arguments are replaced by its results, as in the steps of a training."""

    __slots__ = ("function", "args", "donated")

    def __init__(self, function, args, donated):
        self.function, self.args, self.donated = function, list(args), donated
        for place, _ in donated:  # other groups read this Parameter too
            self.args[place] = jax.numpy.array(self.args[place], copy=True)

    def __call__(self):
        outs = self.function(*self.args)
        for place, at in self.donated:
            self.args[place] = outs[at]
        return outs


def _make_empty_function(results):
    """Return a function that ignores its arrays and returns scalars, to measure the cost of a call."""
    return jax.jit(lambda *arrays: [jax.numpy.float32(at) for at in range(results)], keep_unused=True)


def _get_shape_and_dtype(array):
    return getattr(array, "shape", ()), str(getattr(array, "dtype", type(array)))


def _time_runs(run):
    """Return times of consecutive runs."""
    times = []
    for _ in range(_CALLS):
        start = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - start)
    return times


def _apply_replayed_times(profile, replayed):
    """Replace traced times by replayed ones; inside a group they keep their proportions."""
    rows = {ident: row for row in profile.rows if row.program == profile.program.name for ident in row.nodes}
    outer = {}
    for node in profile.graph.nodes:
        outer[node.id] = [node, *(inner for sub in node.graphs for inner in sub.all_nodes())]
    for row in rows.values():
        row.replayed = 0.0
    for group in replayed.groups:
        nodes = [inner for node in group.nodes for inner in outer[node.id]]
        weights = [profile.times[node.id] or 0.0 for node in nodes]
        if not sum(weights):
            weights = [profile.machine.at_best(node.flops, node.nbytes) or 1e-12 for node in nodes]
        total = sum(weights) or 1.0
        for node, weight in zip(nodes, weights, strict=True):
            seconds = group.seconds * weight / total
            profile.times[node.id] = seconds
            if node.id in rows:
                rows[node.id].replayed += seconds
    for row in rows.values():
        row.seconds, row.how = row.replayed, "replayed"
    profile.rows.sort(key=lambda row: -row.seconds)
    profile._sum_rows_per_cell()
