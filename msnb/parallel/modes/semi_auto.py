"""SEMI_AUTO_PARALLEL: operators are sharded by their strategies, and all others follow their neighbors.

While a program is traced, the inputs and outputs of each operator with a strategy get sharding constraints, and so do
their gradients. XLA partitions the computation and inserts the communication.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Var
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from msnb import context, log
from msnb.communication._comm_helper import world_size
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.sharding.partitioner import ArrayShardings
from msnb.parallel.graph.operator_calls import is_identity, iterate_equations
from msnb.parallel.modes import gpipe, layout_report, multiprocess_mesh
from msnb.parallel.rules import (  # noqa: F401 - which fill the rules
    Call,
    embedding_rules,
    operator_rules,
)
from msnb.parallel.sharding.mesh import device_mesh, named_mesh, take_axes
from msnb.parallel.sharding.strategy import sharding_of_array, shardings_of_call
from msnb.parallel.sharding.strategy_file import StrategyFile


class SemiAuto:
    """Shard a program by the strategies of its operators.

    Args:
        devices (int): Number of devices.
        full_batch (bool): True if each device gets every argument in full, rather than its shard of the batch.

    Attributes:
        optimizer (bool): True if the optimizer's states are sharded further over the devices.
        strategy_file (StrategyFile): Strategies of a file, which override those of `shard`; None without a file.
        strategies (list): (GraphName, strategy, OpShardings) of each operator with a strategy, in the order of the
            trace.
    """

    axes: list[tuple[str, int]] = []  # no axes: the program is traced as for one device

    def __init__(self, devices: int, full_batch: bool) -> None:
        self.devices, self.full_batch = devices, full_batch
        self.stages: int = context._parallel.values.pipeline_stages
        self.optimizer = context._parallel.values.enable_parallel_optimizer
        self.strategies: list[tuple[Any, Any, Any]] = []
        self._has_stages = False
        file = context._parallel.values.strategy_ckpt_load_file
        self.strategy_file: StrategyFile | None = StrategyFile(file) if file else None

    def within(self, value: Any) -> Any:
        """Return the argument, or the shape of the global batch if each process passes its own part. See
        `Partitioner`.
        """
        shape = np.shape(value)
        if world_size() == 1 or self.full_batch or not shape:
            return value
        return jax.ShapeDtypeStruct((shape[0] * world_size(), *shape[1:]), value.dtype)

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of a kernel with the sharding constraints of its strategy; see `Partitioner`."""
        if self.strategy_file is None:
            return self._run_sharded_operator(kernel, arrays)
        out = self._run_sharded_operator(self.strategy_file.apply(kernel, arrays), arrays)
        self.strategy_file.record_cast(kernel, arrays, out)
        return out

    def _run_sharded_operator(self, kernel, arrays):
        meaning, strategy = kernel.name.meaning, kernel.name.meaning.strategy
        if strategy is None or is_identity(meaning, np.shape(arrays[0])):
            embedding_rules.check_manual_split(meaning.operator, meaning.marks)
            return kernel.run(*arrays)
        operator = REGISTRY.get(meaning.operator)
        # The first input of an operator that draws random numbers is a key, which is not sharded.
        first = 1 if operator is not None and operator.random else 0
        shapes = [np.shape(a) for a in arrays[first:]]
        shardings = shardings_of_call(Call(meaning.operator, meaning.settings, shapes), strategy, self.devices)
        self.strategies.append((kernel.name, strategy, shardings))
        inputs = [_constrain_array(a, sharding) for a, sharding in zip(arrays[first:], shardings.inputs, strict=True)]
        out = kernel.run(*arrays[:first], *inputs)
        outs = out if type(out) is tuple else (out,)
        constrained = [
            _constrain_array(o, sharding)
            for o, sharding in zip(outs, shardings.outputs or [None] * len(outs), strict=True)
        ]
        out_strategy = meaning.settings.get("out_strategy")
        if out_strategy is not None:
            constrained = self._constrain_outputs(meaning.operator, constrained, out_strategy)
        return tuple(constrained) if type(out) is tuple else constrained[0]

    def _constrain_outputs(self, operator, outs, strategy):
        """Constrain the outputs of an operator to its output strategy."""
        if len(strategy) != len(outs):
            raise RuntimeError(
                f"For '{operator}', 'out_strategy' should have one tuple for each of the {len(outs)} outputs, but is "
                f"{strategy}."
            )
        return [
            self.hold(o, shard_counts, f"output {number} of {operator}")
            for number, (o, shard_counts) in enumerate(zip(outs, strategy, strict=True))
        ]

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """Return the result of all stages for each micro-batch; see `Partitioner`."""
        self._has_stages = True
        mesh = named_mesh(self.devices)
        (axes,) = take_axes(mesh, (self.stages,))
        return gpipe.run_pipeline(stage, arrays, keys, parts, mesh, axes)

    def hold(self, array: Any, strategy: tuple[int, ...], what: str) -> Any:
        """Constrain a traced array to a strategy; see `Partitioner`."""
        return _constrain_array(array, sharding_of_array(np.shape(array), strategy, self.devices, what))

    def places(self, program: Any) -> ArrayShardings:
        """Return the shardings of a traced program's arrays. Write the strategy file if one is set."""
        layout_report.check_parameters(program, self.devices)
        if self.stages > 1 and program.written and not self._has_stages:
            log.once(
                f"pipeline_stages={self.stages} has no effect where no nn.PipelineCell is called: wrap the network "
                f"that returns the loss, nn.PipelineCell(network, parts), and train that."
            )
        if context._parallel.values.strategy_ckpt_save_file:
            layout_report.write_strategy_file(program, self.devices, context._parallel.values.strategy_ckpt_save_file)
        mesh = device_mesh(self.devices)
        specs, optimizer_states = input_specs(program.jaxpr.jaxpr), _find_shardable_states(program)
        replicated = NamedSharding(mesh, PartitionSpec())
        by_param, rest, argument_shardings = {}, [], self._get_dataset_shardings(program, mesh)
        for var, kind, param in zip(
            program.jaxpr.jaxpr.invars, program.inputs, _list_input_parameters(program), strict=True
        ):
            spec = specs.get(var)
            if param is not None:
                if self.optimizer and var in optimizer_states:
                    spec = _shard_first_axis_further(mesh, spec, var.aval.shape)
                by_param[id(param)] = replicated if spec is None else NamedSharding(mesh, spec)
            elif kind[0] == "random":
                rest.append(replicated)
            elif argument_shardings is not None:
                rest.append(argument_shardings.pop(0))
            else:
                rest.append(
                    replicated
                    if self.full_batch
                    else NamedSharding(mesh, self._choose_argument_spec(mesh, var.aval.shape, spec))
                )
        written, read = ([by_param[id(p)] for p in params] for params in (program.written, program.read))
        return self.extend_to_processes(ArrayShardings(written, read, rest), program, mesh)

    def extend_to_processes(self, places: ArrayShardings, program: Any, mesh: Mesh) -> ArrayShardings:
        """Return the shardings extended to several processes, or unchanged in a single process."""
        return (
            places
            if world_size() == 1
            else multiprocess_mesh.extend_to_processes(places, program, mesh, self.full_batch)
        )

    def layouts(self, program: Any) -> dict[str, Any]:
        """Return the layouts of Parameters and arguments; see `Partitioner`."""
        layout_report.check_parameters(program, self.devices)
        return layout_report.collect_layouts(program, self.devices, self.optimizer)

    def shards(self, program: Any) -> dict[str, Any]:
        """Return the strategies of a program's operators; see `Partitioner`."""
        return layout_report.collect_strategies(program, self.devices)

    def operators(self, _program: Any) -> int:
        """Return 0: no strategies are searched; see `Partitioner`."""
        return 0

    def _get_dataset_shardings(self, program, mesh):
        """Return the shardings of arguments by `dataset_strategy`, or None if it does not apply."""
        strategy = context._parallel.values.dataset_strategy
        if not isinstance(strategy, tuple) or world_size() > 1:
            return None
        inputs = zip(program.jaxpr.jaxpr.invars, program.inputs, strict=True)
        shapes = [var.aval.shape for var, kind in inputs if kind[0] not in ("param", "random")]
        if len(strategy) != len(shapes):
            log.once(
                f"dataset_strategy={strategy} is of {len(strategy)} arguments, and programs with another number of "
                f"them are given rows."
            )
            return None
        shardings = [
            sharding_of_array(shape, one, self.devices, "argument") for shape, one in zip(shapes, strategy, strict=True)
        ]
        return [NamedSharding(mesh, sharding.spec) for sharding in shardings]

    def _choose_argument_spec(self, mesh, shape, spec):
        """Return the spec of an argument: the spec that its first reader requires, otherwise one that shards the batch
        axis.
        """
        if spec is not None:
            return spec
        return PartitionSpec(mesh.axis_names) if shape and shape[0] % self.devices == 0 else PartitionSpec()


def _find_shardable_states(program):
    """Return the program's inputs that are optimizer states and may be sharded."""
    states = layout_report.optimizer_states(program)
    inputs = zip(program.jaxpr.jaxpr.invars, program.params)
    return {var for var, param in inputs if param.name in states and states[param.name].parallel_optimizer}


def _shard_first_axis_further(mesh, spec, shape):
    """Return a spec whose first axis is also sharded by unused mesh axes, as far as shards are equal."""
    axes = [() if a is None else a if isinstance(a, tuple) else (a,) for a in (spec or ())]
    axes += [()] * (len(shape) - len(axes))
    free = [name for name in mesh.axis_names if not any(name in used for used in axes)]
    for name in free if axes else ():
        shards = math.prod(mesh.shape[a] for a in (*axes[0], name))
        if shape[0] % shards == 0:
            axes[0] = (*axes[0], name)
    return PartitionSpec(*(a or None for a in axes))


def _list_input_parameters(program):
    return [*program.params, *[None] * (len(program.inputs) - len(program.params))]


def _constrain_array(array, sharding):
    return array if sharding is None or not np.ndim(array) else jax.lax.with_sharding_constraint(array, sharding)


def input_specs(jaxpr: Any) -> dict[Var, PartitionSpec]:
    """Return the spec of each input of a graph, as required by the first operator with a strategy that reads it.

    An optimizer state has the spec of its Parameter. Inputs without a spec are left out.

    Args:
        jaxpr (Jaxpr): The graph.
    """
    specs: dict[Var, PartitionSpec] = {}
    copy_sources: dict[Var, Var] = {}  # {copy in another type: its source}
    inputs = set(jaxpr.invars)
    for eqn in iterate_equations(jaxpr):
        source = eqn.invars[0] if eqn.invars else None
        if not isinstance(source, Var):
            continue
        source = copy_sources.get(source, source)
        if source not in inputs:
            continue
        if eqn.primitive.name == "sharding_constraint":
            spec = eqn.params["sharding"].spec  # an axis that vmap has added is unconstrained
            specs.setdefault(source, PartitionSpec(*(None if a is PartitionSpec.UNCONSTRAINED else a for a in spec)))
        elif layout_report.is_copy(eqn):
            copy_sources[eqn.outvars[0]] = source
    for eqn in iterate_equations(jaxpr):
        input_vars = [v for v in eqn.invars if isinstance(v, Var) and v in inputs and v.aval.shape]
        specs_by_shape = {v.aval.shape: specs[v] for v in input_vars if v in specs}
        for v in input_vars:
            if v not in specs and v.aval.shape in specs_by_shape and len(input_vars) > 1:
                specs[v] = specs_by_shape[v.aval.shape]
    return specs
