"""Plans with pipeline stages: equal blocks of a network become stages, the step is traced as it would run, and its
costs are predicted.

The mesh has an axis for the stages and one for the devices of each stage, which share the batch axis of each
micro-batch. The stages are one equation in the forward pass and one in the backward pass. Each is a loop. The costs of
all its rounds are counted, including those in which a stage idles.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from msnb import nn
from msnb.core.program.program_cache import program_of
from msnb.core.sharding.partitioner import partition_as
from msnb.ir.cost import flops, inner_jaxprs
from msnb.nn._cell import pipeline as _pipeline
from msnb.parallel.cost_model.transfer_cost import Layout, MeshCostModel
from msnb.parallel.graph.flatten_jaxpr import Equation, Value, flatten_jaxpr
from msnb.parallel.modes import gpipe
from msnb.parallel.modes.auto import written_outputs
from msnb.parallel.modes.semi_auto import input_specs
from msnb.parallel.planning.estimate import Sent, computing_time
from msnb.parallel.planning.hardware import Hardware
from msnb.parallel.planning.strategies import Refused, Strategy, propagate_layouts, replicate
from msnb.parallel.search.choice_problem import Choice, NodeChoices, Problem, is_product

STAGES, ROWS = "stages", "rows"  # the axes of the mesh
_PARTS_PER_STAGE = 4  # micro-batches per stage: each stage idles in less than a fifth of the rounds


class Pipeline(NamedTuple):
    """A training step divided into pipeline stages.

    Attributes:
        stages (int): Number of stages.
        parts (int): Number of micro-batches.
        program (Program): The step as it would run.
        returned (dict[int, int]): {output: input} of the Parameters that it writes.
        problem (Problem): The search problem for the graph of the step.
        strategy (Strategy): The selected choices.
        inside (dict[int, list[Sent]]): Communication inside each loop equation, by the index of its node.
        has_pipeline_cell (bool): True if an `nn.PipelineCell` in the step divides the batch.
    """

    stages: int
    parts: int
    program: Any
    returned: dict[int, int]
    problem: Problem
    strategy: Strategy
    inside: dict[int, list[Sent]]
    has_pipeline_cell: bool

    @property
    def bubble(self) -> float:
        """Fraction of the rounds in which a stage idles."""
        return gpipe.bubble(self.stages, self.parts)

    def loop_times(self, hardware: Hardware, efficiency: float) -> dict[int, tuple[float, float]]:
        """Return {node: (seconds of computation, seconds of communication)} of the loop equations."""
        problem, times = self.strategy[0], {}
        first = len(problem.graph.inputs)
        for node, sent in self.inside.items():
            body = problem.graph.equations[node - first].params["jaxpr"]
            weight = problem.cost_model.weights
            sending = sum(one.bytes * max(weight[a] for a in one.axes) / hardware.inside for one in sent)
            sending += hardware.latency * _count_communication_runs(body)
            times[node] = _predict_compute_seconds(body, hardware, efficiency), sending
        return times


class _PipelinePartitioner:
    """Partitioner for tracing the step, see `core.sharding.partitioner`. As in other plans, strategies are ignored."""

    axes: list[tuple[str, int]] = []

    def __init__(self, mesh: AbstractMesh) -> None:
        self.devices, self.stages = math.prod(mesh.shape.values()), mesh.shape[STAGES]
        self._mesh = mesh

    def within(self, value: Any) -> Any:
        """Return the argument unchanged."""
        return value

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of a kernel."""
        return kernel.run(*arrays)

    def hold(self, array: Any, _strategy: tuple[int, ...], _what: str) -> Any:
        """Return the array unchanged."""
        return array

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """Return the result of all stages for each micro-batch."""
        return gpipe.run_pipeline(stage, arrays, keys, parts, self._mesh, (STAGES,))

    def places(self, program: Any) -> None:
        """Return None: the program does not run."""

    def layouts(self, _program: Any, /) -> dict[str, Any]:
        """Return an empty dict, which is not used."""
        return {}

    def shards(self, _program: Any, /) -> dict[str, Any]:
        """Return an empty dict, which is not used."""
        return {}

    def operators(self, _program: Any, /) -> int:
        """Return 0, which is not used."""
        return 0


def pipelines(
    root: Any, arguments: tuple[Any, ...], devices: int, weights: Callable[..., Any]
) -> Iterator[Pipeline | Refused]:
    """Iterate over the ways to divide a training step into stages, fewer stages first.

    A step that cannot be traced with stages is yielded as `Refused`, with the reason. So is a step with equal
    blocks, or with an `nn.PipelineCell`, if no number of stages fits.

    Args:
        root (Any): The step: a Cell with an `nn.PipelineCell` in it, or one that trains its `network`.
        arguments (tuple): Arguments of the step.
        devices (int): Number of devices.
        weights (Callable): Returns the cost of a byte along each axis of a mesh {axis: devices}.
    """
    divided = _find_network_to_divide(root)
    if divided is None:
        return
    network, parts = divided
    refusals, has_pipeline = [], False
    for stages in (number for number in range(2, devices + 1) if devices % number == 0):
        sizes = {STAGES: stages, ROWS: devices // stages}
        try:
            _pipeline.blocks_of(network, stages)
            number = parts or _choose_num_micro_batches(arguments, stages, sizes[ROWS])
        except NotImplementedError as error:
            refusals.append(Refused(f"{stages} stages", str(error)))
            continue
        cost_model = MeshCostModel({axis: size for axis, size in sizes.items() if size > 1}, weights(sizes))
        try:
            yield _plan_pipeline(root, arguments, None if parts else network, cost_model, number)
        except NotImplementedError as error:  # the blocks cannot be stages, for any number of micro-batches
            yield Refused(f"{stages} stages", str(error))
            return
        has_pipeline = True
    if refusals and not has_pipeline and (parts or _has_stage_blocks(network)):
        yield refusals[0]


def _find_network_to_divide(root):
    """Find the network to divide into stages. Return (network, number of micro-batches or None for any), or None if
    there is no such network.
    """
    if not isinstance(root, nn.Cell):
        return None
    for _, cell in root.cells_and_names():
        if isinstance(cell, nn.PipelineCell):
            return cell.network, cell.micro_size
    network = getattr(root, "network", None)
    is_train_step = isinstance(network, nn.Cell) and isinstance(getattr(root, "optimizer", None), nn.Optimizer)
    return (network, None) if is_train_step else None


def _has_stage_blocks(network):
    """Return True if the network has several blocks that could be stages."""
    try:
        return len(_pipeline.blocks_of(network, 1)) > 1
    except NotImplementedError:
        return False


def _choose_num_micro_batches(arguments, stages, stage_devices):
    """Return a number of micro-batches for which the devices of a stage have equal shards of each.

    Raises:
        NotImplementedError: If there is none.
    """
    sizes = [a.shape[0] for a in arguments if getattr(a, "shape", ())]
    # Prefer two examples per device: with a single one, a batched matrix product is traced as a different graph.
    for min_examples in (2, 1):
        for parts in (_PARTS_PER_STAGE * stages, _PARTS_PER_STAGE // 2 * stages, stages):
            if sizes and all(
                size % (parts * stage_devices) == 0 and size >= min_examples * parts * stage_devices for size in sizes
            ):
                return parts
    raise NotImplementedError(
        f"{stages} stages get a batch in at least {stages} parts, and the {stage_devices} devices of each stage as "
        f"many rows of each part: {stages * stage_devices} should divide the first axis of each argument, but those "
        f"are {sizes}."
    )


def _plan_pipeline(root, arguments, network, cost_model, parts):
    mesh = AbstractMesh(
        tuple(cost_model.sizes.values()), tuple(cost_model.sizes), axis_types=(AxisType.Auto,) * len(cost_model.sizes)
    )
    with partition_as(_PipelinePartitioner(mesh)):
        if network is None:
            program = program_of(root, *arguments, anew=True)
        else:
            with _pipeline.divided(network, parts):
                program = program_of(root, *arguments, anew=True)
    back = written_outputs(program)
    problem, loop_communication = Problem(flatten_jaxpr(program.jaxpr), cost_model, back), {}
    first = len(problem.graph.inputs)
    for number, equation in enumerate(problem.graph.equations, first):
        if equation.primitive.name == "shard_map":
            problem.nodes[number] = NodeChoices([_make_stage_loop_choice(equation, cost_model)])
            loop_communication[number] = [
                transfer._replace(node=number)
                for transfer in _find_communication(equation.params["jaxpr"], cost_model.sizes)
            ]
        elif equation.primitive.name == "sharding_constraint":
            problem.nodes[number] = _keep_constrained_choices(equation, problem.nodes[number])
    specs = input_specs(program.jaxpr.jaxpr)
    inputs = {
        number: _convert_spec_to_layout(specs[var], value) if var in specs else replicate(problem, number)
        for number, (var, value) in enumerate(zip(program.jaxpr.jaxpr.invars, problem.graph.inputs, strict=True))
    }
    strategy = propagate_layouts(problem, inputs)
    return Pipeline(
        cost_model.sizes[STAGES], parts, program, back, problem, strategy, loop_communication, network is None
    )


def _convert_spec_to_layout(spec: PartitionSpec, value: Any) -> Layout:
    axes = [() if a is None else a if isinstance(a, tuple) else (a,) for a in spec]
    return (*axes, *[()] * (len(value.shape) - len(axes)))


def _make_stage_loop_choice(equation: Equation, cost_model: MeshCostModel) -> Choice:
    """Return the only choice for the equation that computes the stages."""
    values_read = [i if isinstance(i, Value) else Value(i) for i in equation.inputs]
    inputs, outputs = (
        tuple(_convert_spec_to_layout(spec, value) for spec, value in zip(specs, values, strict=True))
        for specs, values in (
            (equation.params["in_specs"], values_read),
            (equation.params["out_specs"], equation.outputs),
        )
    )
    stored_bytes = sum(
        o.bytes / cost_model.count_shards(layout) for o, layout in zip(equation.outputs, outputs, strict=True)
    )
    memo: dict[int, Any] = {}
    operations = sum(flops(eqn, memo) for eqn in _unwrap_closed_jaxpr(equation.params["jaxpr"]).eqns)
    return Choice(inputs, outputs, 0.0, float(operations), stored_bytes)


def _keep_constrained_choices(equation: Equation, choices: NodeChoices) -> NodeChoices:
    """Return the choices with the layout that a sharding constraint requires."""
    sharding: Any = equation.params["sharding"]
    required_layout = (
        _convert_spec_to_layout(sharding.spec, equation.outputs[0]) if isinstance(sharding, NamedSharding) else None
    )
    return NodeChoices([choice for choice in choices if choice.outputs[0] == required_layout] or choices)


def _unwrap_closed_jaxpr(jaxpr):
    return getattr(jaxpr, "jaxpr", jaxpr)


def _iterate_nested_equations(jaxpr: Any, times: int = 1) -> Iterator[tuple[Any, int]]:
    """Iterate over (equation, number of runs) in a graph, including the bodies of loops and calls."""
    for eqn in _unwrap_closed_jaxpr(jaxpr).eqns:
        bodies = inner_jaxprs(eqn)
        rounds = eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1
        for body in bodies:
            yield from _iterate_nested_equations(body, times * rounds)
        if not bodies:
            yield eqn, times


def _get_collective_axes(eqn):
    axes = eqn.params.get("axes", eqn.params.get("axis_name"))
    return tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)


def _find_communication(jaxpr: Any, sizes: dict[str, int]) -> list[Sent]:
    transfers = []
    for eqn, times in _iterate_nested_equations(jaxpr):
        name = eqn.primitive.name
        if name.startswith(("psum", "ppermute")) and all(axis in sizes for axis in _get_collective_axes(eqn)):
            size, axes = sum(Value(v.aval).bytes for v in eqn.invars), _get_collective_axes(eqn)
            number = math.prod(sizes[axis] for axis in axes)
            if name.startswith("psum"):
                transfers.append(Sent("all-reduce", axes, times * 2 * (number - 1) / number * size, 0))
            else:
                transfers.append(Sent("collective-permute", axes, float(times * size), 0))
    return transfers


def _count_communication_runs(jaxpr: Any) -> int:
    return sum(
        times for eqn, times in _iterate_nested_equations(jaxpr) if eqn.primitive.name.startswith(("psum", "ppermute"))
    )


def _predict_compute_seconds(jaxpr: Any, hardware: Hardware, efficiency: float) -> float:
    """Return the seconds that a device computes the equations of a graph."""
    total, memo = 0.0, {}
    for eqn, times in _iterate_nested_equations(jaxpr):
        if not eqn.primitive.name.startswith(("psum", "ppermute")):
            results = [Value(v.aval) for v in eqn.outvars]
            equation, size = Equation(eqn.primitive, eqn.params, [], results), float(sum(v.bytes for v in results))
            written = 0.0 if is_product(equation) else size
            choice = Choice((), (), 0.0, float(flops(eqn, memo)), size, (), written)
            total += times * computing_time(equation, choice, hardware, efficiency)
    return total
