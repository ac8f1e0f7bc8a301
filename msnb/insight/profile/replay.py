"""Runs parts of a program on their own, with the values they have in the real step, and times each.

Operators that XLA fused into one kernel are no longer there one by one: they are replayed together, as one compiled
function. What XLA made no kernel of, a reshape for one, is part of the functions that read it. Groups of the same
operators on the same shapes are compiled and timed once.
"""

import time
from typing import TYPE_CHECKING, Any

import jax

from msnb.core.compat.jax_private import Literal, eval_jaxpr
from msnb.ir.anf import CNode, ParameterNode
from msnb.ir.read import read
from msnb.ir.scope import parse

from . import wall_time

if TYPE_CHECKING:  # named in annotations alone
    from msnb.insight.profile.result import Profile

_MERGES = 0.001  # of the kernels' time: a smaller kernel does not tie its operators together
_SMALL = 0.02  # of the kernels' time: a smaller group is replayed with the rest of its Cell, a call costs too much
_BUDGET = 3.0  # seconds: short groups are run in more rounds, because the shortest of many runs is the steadiest
_CALLS = 3  # runs of a group in a row within one round


class Group:
    """Operators that were replayed as one function.

    Attributes:
        nodes (list[CNode]): in the order of execution.
        alone (float): seconds of one run, without what calling an empty function takes.
        part (float): how much of that counts as wall time of the step: 1.0 where nothing ran beside it, or where what
            did slowed it down as much; 0.5 where another group ran beside it all the time, each as fast as alone. From
            the trace.
        seconds (float): `alone` times `part`: what it adds to the wall time of the step.
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
    """Attributes:
    groups (list[Group]): longest first; `total` is the sum of their seconds, `alone` of their runs one by one.
    step (float): seconds of the whole program, run in turn with the groups. The shortest runs count.
    rest (float): seconds of the step that no group holds: XLA's own copies and the gaps between kernels, by their
        part of the traced step, and one empty call.
    compiled (int): how many different functions the groups are.
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
        """How much groups and rest take more (or less) than the step, as a part of the step."""
        return (self.total + self.rest) / self.step - 1

    def __repr__(self) -> str:
        return (
            f"Replay({len(self.groups)} groups, {self.compiled} functions: {self.total * 1e3:.3f} ms, "
            f"step {self.step * 1e3:.3f} ms, {100 * self.difference:+.0f} %)"
        )


def replay(profile: "Profile", rounds: int = 5) -> "Replay | None":
    """See `Profile.replay`."""
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
    parts = _Parts(graph, equations, _groups(profile, graph), _overwritten(program, graph), program.jaxpr.jaxpr)
    arrays = _arguments(program, profile.recording.programs[program])
    values = parts.values(arrays)
    beside = _beside(profile, graph, parts.groups)
    # the trace of a busy machine has longer gaps than the shortest step: their part of the step counts
    rest = sum(row.seconds for row in profile.rows if row.how == "xla") + profile.parts["gaps"]
    rest /= sum(profile.parts.values()) or 1.0
    made = _time(parts, values, _whole(program, arrays), (arrays, len(graph.outputs)), rest, beside, rounds)
    _rewrite(profile, made)
    return made


# ---------------------------------------------------------------------- which operators belong together
def _groups(profile, graph):
    """Lists of outermost nodes; two are in one list where a kernel that counts holds both."""
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
    found, small, took = {}, {}, {}
    owned = {outer[node.id] for owner in profile._owners.get(profile.program, {}).values() for node in owner.nodes}
    weighty = [node for node in graph.nodes if node.id in owned]
    for node in weighty:
        took[root(node.id)] = took.get(root(node.id), 0.0) + (profile.times[node.id] or 0.0)
    for node in weighty:
        group = root(node.id)
        if took[group] < _SMALL * sum(took.values()):
            small.setdefault((node.scope.rpartition("/")[0], node.direction), []).append(node)
        else:
            found.setdefault(group, []).append(node)
    return [*found.values(), *small.values()]


def _beside(profile, graph, groups):
    """Per group, (which part of the time during which it ran it did not share with kernels of other groups, that time
    as a part of the step), from the trace."""
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
    window, count = profile._window()
    spans, wall = {}, {}
    for kernel in profile._kernels(window):
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


class _Parts:
    """Groups of nodes as functions of the values that come from outside them."""

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
            # the nodes of the group, with what no group holds and they need
            body, inputs, todo = set(nodes), {}, list(nodes)
            while todo:
                for use in _uses(todo.pop()):
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
        for use in dict.fromkeys(use for node in loose for use in _uses(node)):
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
        """One group as a function of arrays, in the order of `inputs`."""
        inputs, outputs, nodes = self.inputs[index], self.outputs[index], self.bodies[index]

        def run(*arrays):
            known = dict(zip(inputs, arrays, strict=True))
            self.evaluate(nodes, known)
            return [known[use] for use in outputs]

        return run

    def donated(self, index):
        """(which input, which output) pairs of a group where the step writes the result over the input."""
        inputs = {use: at for at, use in enumerate(self.inputs[index])}
        pairs = [(inputs.get(self.overwritten.get(use)), at) for at, use in enumerate(self.outputs[index])]
        return tuple((place, at) for place, at in pairs if place is not None)

    def evaluate(self, nodes, known):
        """Run nodes, taking what they read from `known` and leaving there what they make."""
        for node in nodes:
            equation = self.equations[node.id]
            with jax.named_scope("/".join(parse(node.scope)[0]) or "Default"):
                made = _bind(self.jaxpr, equation, [_value(use, known) for use in node.uses])
            for slot, value in enumerate(made):
                known[node, slot] = value

    def values(self, arrays):
        """{use: array} of everything that a group reads from outside, as it is in the real program."""
        wanted = list(dict.fromkeys(use for uses in self.inputs for use in uses if isinstance(use[0], CNode)))

        def everything(*arrays):
            known = {(node, 0): array for node, array in zip(self.graph.parameters, arrays, strict=True)}
            self.evaluate(self.graph.nodes, known)
            return [known[use] for use in wanted]

        made = dict(zip(wanted, jax.jit(everything)(*arrays), strict=True))
        made.update({(node, 0): array for node, array in zip(self.graph.parameters, arrays, strict=True)})
        return made


def _overwritten(program, graph):
    """{result of the program: the input that it is written over}."""
    inputs = {id(p): (node, 0) for p, node in zip(program.params, graph.parameters, strict=False)}
    return {
        use: inputs[id(p)]
        for p, use in zip(program.written, graph.outputs[program.n_results :], strict=True)
        if id(p) in inputs
    }


def _uses(node):
    """(producer, slot) of what a node reads and is no constant."""
    return [use for use in node.uses if isinstance(use[0], (CNode, ParameterNode))]


def _value(use, known):
    node, _ = use
    return known[use] if isinstance(node, (CNode, ParameterNode)) else node.value


def _bind(around, equation, values):
    """Run one equation of a jaxpr; one value per result, None for one that is dropped."""
    given = {}
    for var, value in zip(equation.invars, values, strict=True):
        if not isinstance(var, Literal):
            dtype = var.aval.dtype
            given[var] = value if getattr(value, "dtype", dtype) == dtype else _as_type(value, dtype)
    kept = [var for var in equation.outvars if type(var).__name__ != "DropVar"]
    debug = around.debug_info
    jaxpr = around.replace(
        constvars=[],
        invars=list(given),
        outvars=kept,
        eqns=[equation],
        effects=equation.effects,
        debug_info=debug.with_unknown_names() if hasattr(debug, "with_unknown_names") else None,
    )
    made = iter(eval_jaxpr(jaxpr, (), *given.values()))
    return [None if type(var).__name__ == "DropVar" else next(made) for var in equation.outvars]


def _as_type(value, dtype):
    """A value as an equation takes it; the graph has no nodes that only turn a random key into numbers and back."""
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(value)
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return value.astype(dtype)


# ---------------------------------------------------------------------- running
def _arguments(program, arrays):
    """Arrays for the inputs of the program's jaxpr, Parameters as they are now."""
    number = [0] if program.random else []
    return [p._array for p in program.params] + number + list(arrays)


def _whole(program, arrays):
    """A function that runs the compiled program once, on copies of what it overwrites."""
    rest = arrays[len(program.params) :]
    read_arrays = [p._array for p in program.read]
    state = [[jax.numpy.array(p._array, copy=True) for p in program.written]]

    def run():
        outs = program.run(state[0], read_arrays, *rest)
        state[0] = outs[0]
        return outs

    return run


def _time(parts, values, whole, shape_of_step, rest, beside, rounds):
    compiled, plan, empty, shapes = {}, [], {}, {}
    for index in range(len(parts.groups)):
        args, donated = [values[use] for use in parts.inputs[index]], parts.donated(index)
        function = jax.jit(parts.function(index), donate_argnums=tuple(place for place, _ in donated))
        key = (str(function.trace(*args).jaxpr), tuple(_kind(a) for a in args), donated)
        if key not in compiled:
            compiled[key] = (_Again(function, args, donated), args)
        shape = len(args), len(parts.outputs[index])
        empty.setdefault(shape, _nothing(shape[1]))
        shapes[key] = shape
        plan.append((key, shape))
    arrays, results = shape_of_step
    call = _nothing(results)
    runs = {"step": whole, "call": lambda: call(*arrays)}
    for key, (function, args) in compiled.items():
        runs[key] = function
        runs.setdefault(shapes[key], lambda f=empty[shapes[key]], a=args: f(*a))
    for run in runs.values():
        jax.block_until_ready(run())
    took = {name: [] for name in runs}
    stop, done = time.perf_counter() + _BUDGET, 0
    while done < rounds or (done < 20 * rounds and time.perf_counter() < stop):
        done += 1
        for name, run in runs.items():
            took[name] += _seconds(run)
    best = {name: min(times) for name, times in took.items()}
    groups = []
    for nodes, (key, shape), (part, inside) in zip(parts.groups, plan, beside, strict=True):
        alone = max(best[key] - best[shape], 0.0)
        groups.append(Group(nodes, alone, _counted(part, alone, inside * best["step"])))
    return Replay(groups, best["step"], rest * best["step"] + best["call"], len(compiled))


def _counted(part, alone, inside):
    """How much of a group's time alone is wall time of the step.

    Args:
        part (float): of the time during which it ran in the step, how much it did not share with other groups.
        alone (float), inside (float): seconds that it runs alone, and in the step.

    A group that ran as fast beside others as it does alone, on another core, shared all of that time with them; one
    that took twice as long, because it fills every core by itself, gained nothing.
    """
    return min(part * max(inside / alone, 1.0), 1.0) if alone else part


class _Again:
    """Calls a function time after time; what it overwrites is fed back to it, as in the steps of a training."""

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


def _nothing(results):
    """A function of any arrays that only makes so many scalars: what a call costs by itself."""
    return jax.jit(lambda *arrays: [jax.numpy.float32(at) for at in range(results)], keep_unused=True)


def _kind(array):
    return getattr(array, "shape", ()), str(getattr(array, "dtype", type(array)))


def _seconds(run):
    """Times of some runs in a row."""
    found = []
    for _ in range(_CALLS):
        start = time.perf_counter()
        jax.block_until_ready(run())
        found.append(time.perf_counter() - start)
    return found


def _rewrite(profile, made):
    """Put the replayed times where the traced ones were; inside a group they are divided as before."""
    rows = {ident: row for row in profile.rows if row.program == profile.program.name for ident in row.nodes}
    outer = {}
    for node in profile.graph.nodes:
        outer[node.id] = [node, *(inner for sub in node.graphs for inner in sub.all_nodes())]
    for row in rows.values():
        row.replayed = 0.0
    for group in made.groups:
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
    profile._fold_cells()
