"""Pipelines among the plans: a step whose equal blocks are stages, traced as it would run, and what that means.

The mesh has the stages, and the devices of each, which have rows of each part. What the stages compute is one equation
there and one back, each a loop whose rounds are counted as they are, those in which a stage idles as well.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from msnb import nn
from msnb.core.compile import program_of
from msnb.core.spreading import spread_as
from msnb.ir.cost import flops, inner_jaxprs
from msnb.nn import _pipeline
from msnb.parallel import pipeline
from msnb.parallel.auto import written_outputs
from msnb.parallel.planning.estimate import Sent, computing_time
from msnb.parallel.planning.hardware import Hardware
from msnb.parallel.planning.strategies import Refused, Strategy, followed, whole
from msnb.parallel.search.costs import Layout, MeshCostModel
from msnb.parallel.search.flat import Equation, Value, flatten_jaxpr
from msnb.parallel.search.problem import Choice, NodeChoices, Problem, is_product
from msnb.parallel.semi_auto import input_specs

STAGES, ROWS = "stages", "rows"  # the axes of the mesh
_PARTS = 4  # parts for each stage, with which one idles in less than a fifth of the rounds


class Pipeline(NamedTuple):
    """A step in stages.

    Attributes:
        stages (int): How many.
        parts (int): Into how many parts a batch is divided.
        program (Program): The step as it would run.
        returned (dict[int, int]): {output: input} of the Parameters that it writes.
        problem (Problem): The choices.
        strategy (Strategy): What was chosen.
        inside (dict[int, list[Sent]]): What devices send within the equations that are loops, by their nodes.
        given (bool): Whether the step has its parts from an `nn.PipelineCell` in it.
    """

    stages: int
    parts: int
    program: Any
    returned: dict[int, int]
    problem: Problem
    strategy: Strategy
    inside: dict[int, list[Sent]]
    given: bool

    @property
    def bubble(self) -> float:
        """The share of the rounds in which a stage idles."""
        return pipeline.bubble(self.stages, self.parts)

    def known(self, hardware: Hardware, efficiency: float) -> dict[int, tuple[float, float]]:
        """(seconds that they compute, seconds that they send) of the equations that are loops."""
        problem, found = self.strategy[0], {}
        first = len(problem.graph.inputs)
        for node, sent in self.inside.items():
            body = problem.graph.equations[node - first].params["jaxpr"]
            weight = problem.cost_model.weights
            sending = sum(one.bytes * max(weight[a] for a in one.axes) / hardware.inside for one in sent)
            sending += hardware.latency * _messages(body)
            found[node] = _seconds(body, hardware, efficiency), sending
        return found


class _Staged:
    """How the step is traced, see `core.spreading.Spread`: as in other plans strategies are left aside."""

    axes: list[tuple[str, int]] = []

    def __init__(self, mesh: AbstractMesh) -> None:
        self.devices, self.stages = math.prod(mesh.shape.values()), mesh.shape[STAGES]
        self._mesh = mesh

    def within(self, value: Any) -> Any:
        """An argument as it is."""
        return value

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of a kernel."""
        return kernel.run(*arrays)

    def hold(self, array: Any, _strategy: tuple[int, ...], _what: str) -> Any:
        """An array as it is."""
        return array

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """What all stages make of each part."""
        return pipeline.run_pipeline(stage, arrays, keys, parts, self._mesh, (STAGES,))

    def places(self, program: Any) -> None:
        """Nowhere: it is not run."""

    def layouts(self, _program: Any, /) -> dict[str, Any]:
        """None are asked for."""
        return {}

    def shards(self, _program: Any, /) -> dict[str, Any]:
        """None are asked for."""
        return {}

    def operators(self, _program: Any, /) -> int:
        """None are asked for."""
        return 0


def pipelines(
    root: Any, arguments: tuple[Any, ...], devices: int, weights: Callable[..., Any]
) -> Iterator[Pipeline | Refused]:
    """The ways to divide a training step into stages, fewer first. What is refused when it is traced says why, and so
    does one whose blocks are equal, or that asks for stages, where there is no way at all.

    Args:
        root (Any): The step: a Cell with an `nn.PipelineCell` in it, or one that trains its `network`.
        arguments (tuple): What it is called with.
        devices (int): How many there are.
        weights (Callable): From a mesh {axis: devices} to what a byte along each axis costs.
    """
    found = _divided(root)
    if found is None:
        return
    network, parts = found
    missing, there = [], False
    for stages in (number for number in range(2, devices + 1) if devices % number == 0):
        sizes = {STAGES: stages, ROWS: devices // stages}
        try:
            _pipeline.blocks_of(network, stages)
            number = parts or _parts(arguments, stages, sizes[ROWS])
        except NotImplementedError as error:
            missing.append(Refused(f"{stages} stages", str(error)))
            continue
        machines = MeshCostModel({axis: size for axis, size in sizes.items() if size > 1}, weights(sizes))
        try:
            yield _pipelined(root, arguments, None if parts else network, machines, number)
        except NotImplementedError as error:  # what stands in the blocks is no stage, however many there are
            yield Refused(f"{stages} stages", str(error))
            return
        there = True
    if missing and not there and (parts or _has_blocks(network)):
        yield missing[0]


def _divided(root):
    """(the network that is divided, into how many parts: None where that is free), None where it cannot be."""
    if not isinstance(root, nn.Cell):
        return None
    for _, cell in root.cells_and_names():
        if isinstance(cell, nn.PipelineCell):
            return cell.network, cell.micro_size
    network = getattr(root, "network", None)
    trained = isinstance(network, nn.Cell) and isinstance(getattr(root, "optimizer", None), nn.Optimizer)
    return (network, None) if trained else None


def _has_blocks(network):
    """Whether there is anything that could be stages."""
    try:
        return len(_pipeline.blocks_of(network, 1)) > 1
    except NotImplementedError:
        return False


def _parts(arguments, stages, rows):
    """Into how many parts a batch is divided, so that the devices of a stage have as many rows of each.

    Raises:
        NotImplementedError: If it cannot be.
    """
    sizes = [a.shape[0] for a in arguments if getattr(a, "shape", ())]
    for least in (2, 1):  # rows of a device: with one alone, a product of many matrices is another graph than with more
        for parts in (_PARTS * stages, _PARTS // 2 * stages, stages):
            if sizes and all(size % (parts * rows) == 0 and size >= least * parts * rows for size in sizes):
                return parts
    raise NotImplementedError(
        f"{stages} stages get a batch in at least {stages} parts, and the {rows} devices of each stage as many rows of "
        f"each part: {stages * rows} should divide the first axis of each argument, but those are {sizes}."
    )


def _pipelined(root, arguments, network, machines, parts):
    mesh = AbstractMesh(
        tuple(machines.sizes.values()), tuple(machines.sizes), axis_types=(AxisType.Auto,) * len(machines.sizes)
    )
    with spread_as(_Staged(mesh)):
        if network is None:
            program = program_of(root, *arguments, anew=True)
        else:
            with _pipeline.divided(network, parts):
                program = program_of(root, *arguments, anew=True)
    back = written_outputs(program)
    problem, inside = Problem(flatten_jaxpr(program.jaxpr), machines, back), {}
    first = len(problem.graph.inputs)
    for number, equation in enumerate(problem.graph.equations, first):
        if equation.primitive.name == "shard_map":
            problem.nodes[number] = NodeChoices([_looping(equation, machines)])
            inside[number] = [one._replace(node=number) for one in _sent(equation.params["jaxpr"], machines.sizes)]
        elif equation.primitive.name == "sharding_constraint":
            problem.nodes[number] = _constrained(equation, problem.nodes[number])
    specs = input_specs(program.jaxpr.jaxpr)
    inputs = {
        number: _layout(specs[var], value) if var in specs else whole(problem, number)
        for number, (var, value) in enumerate(zip(program.jaxpr.jaxpr.invars, problem.graph.inputs, strict=True))
    }
    strategy = followed(problem, inputs)
    return Pipeline(machines.sizes[STAGES], parts, program, back, problem, strategy, inside, network is None)


def _layout(spec: PartitionSpec, value: Any) -> Layout:
    axes = [() if a is None else a if isinstance(a, tuple) else (a,) for a in spec]
    return (*axes, *[()] * (len(value.shape) - len(axes)))


def _looping(equation: Equation, machines: MeshCostModel) -> Choice:
    """The one way to compute the stages."""
    shapes = [i if isinstance(i, Value) else Value(i) for i in equation.inputs]
    inputs, outputs = (
        tuple(_layout(spec, value) for spec, value in zip(specs, values, strict=True))
        for specs, values in (
            (equation.params["in_specs"], shapes),
            (equation.params["out_specs"], equation.outputs),
        )
    )
    held = sum(o.bytes / machines.count_shards(lay) for o, lay in zip(equation.outputs, outputs, strict=True))
    memo: dict[int, Any] = {}
    operations = sum(flops(eqn, memo) for eqn in _opened(equation.params["jaxpr"]).eqns)
    return Choice(inputs, outputs, 0.0, float(operations), held)


def _constrained(equation: Equation, ways: NodeChoices) -> NodeChoices:
    """What is held to a layout lies so."""
    place: Any = equation.params["sharding"]
    wanted = _layout(place.spec, equation.outputs[0]) if isinstance(place, NamedSharding) else None
    return NodeChoices([choice for choice in ways if choice.outputs[0] == wanted] or ways)


def _opened(jaxpr):
    return getattr(jaxpr, "jaxpr", jaxpr)


def _within(jaxpr: Any, times: int = 1) -> Iterator[tuple[Any, int]]:
    """(equation, how often it runs) of what stands in a graph, loops and calls opened."""
    for eqn in _opened(jaxpr).eqns:
        inner = inner_jaxprs(eqn)
        rounds = eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1
        for one in inner:
            yield from _within(one, times * rounds)
        if not inner:
            yield eqn, times


def _axes(eqn):
    axes = eqn.params.get("axes", eqn.params.get("axis_name"))
    return tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)


def _sent(jaxpr: Any, sizes: dict[str, int]) -> list[Sent]:
    found = []
    for eqn, times in _within(jaxpr):
        name = eqn.primitive.name
        if name.startswith(("psum", "ppermute")) and all(axis in sizes for axis in _axes(eqn)):
            size, axes = sum(Value(v.aval).bytes for v in eqn.invars), _axes(eqn)
            number = math.prod(sizes[axis] for axis in axes)
            if name.startswith("psum"):
                found.append(Sent("all-reduce", axes, times * 2 * (number - 1) / number * size, 0))
            else:
                found.append(Sent("collective-permute", axes, float(times * size), 0))
    return found


def _messages(jaxpr: Any) -> int:
    return sum(times for eqn, times in _within(jaxpr) if eqn.primitive.name.startswith(("psum", "ppermute")))


def _seconds(jaxpr: Any, hardware: Hardware, efficiency: float) -> float:
    """How long a device computes what stands in a graph."""
    total, memo = 0.0, {}
    for eqn, times in _within(jaxpr):
        if not eqn.primitive.name.startswith(("psum", "ppermute")):
            made = [Value(v.aval) for v in eqn.outvars]
            one, size = Equation(eqn.primitive, eqn.params, [], made), float(sum(v.bytes for v in made))
            written = 0.0 if is_product(one) else size
            choice = Choice((), (), 0.0, float(flops(eqn, memo)), size, (), written)
            total += times * computing_time(one, choice, hardware, efficiency)
    return total
