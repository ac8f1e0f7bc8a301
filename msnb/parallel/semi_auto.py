"""SEMI_AUTO_PARALLEL: operators lie on the devices as their strategies say, and what has none follows its neighbours.

While a program is traced, the inputs and outputs of each operator that has a strategy are held to it; gradients are
held to the same. XLA divides the work between the devices and puts the communication in.
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
from msnb.core.operator import REGISTRY
from msnb.core.spreading import Places
from msnb.parallel import across, layouts, pipeline
from msnb.parallel.calls import is_identity, iterate_equations
from msnb.parallel.loaded import StrategyFile
from msnb.parallel.mesh import device_mesh, named_mesh, take_axes
from msnb.parallel.rules import Call, lookups, tables  # noqa: F401 - which fill the rules
from msnb.parallel.strategy import cut_as, laid_out


class SemiAuto:
    """How a program is spread by the strategies of its operators.

    Args:
        devices (int): Over how many devices.
        full_batch (bool): Whether each device is given the whole of each argument, rather than its rows.

    Attributes:
        optimizer (bool): Whether what an optimizer keeps is cut further, so that each device has a part of it.
        loaded (Loaded): The strategies of a file, which come before those of `shard`; None where there is no file.
        strategies (list): (GraphName, strategy, Laid) of each operator with a strategy, in the order of the trace.
    """

    axes: list[tuple[str, int]] = []  # it is traced as if one device computed all

    def __init__(self, devices: int, full_batch: bool) -> None:
        self.devices, self.full_batch = devices, full_batch
        self.stages: int = context._parallel.values.pipeline_stages
        self.optimizer = context._parallel.values.enable_parallel_optimizer
        self.strategies: list[tuple[Any, Any, Any]] = []
        self._has_stages = False
        file = context._parallel.values.strategy_ckpt_load_file
        self.loaded: StrategyFile | None = StrategyFile(file) if file else None

    def within(self, value: Any) -> Any:
        """An argument as it is, with the rows of all processes where each brings its own; see `core.spreading`."""
        shape = np.shape(value)
        if world_size() == 1 or self.full_batch or not shape:
            return value
        return jax.ShapeDtypeStruct((shape[0] * world_size(), *shape[1:]), value.dtype)

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of a kernel, held to its strategy; see `core.spreading`."""
        if self.loaded is None:
            return self._run(kernel, arrays)
        out = self._run(self.loaded.apply(kernel, arrays), arrays)
        self.loaded.record_cast(kernel, arrays, out)
        return out

    def _run(self, kernel, arrays):
        meaning, strategy = kernel.name.meaning, kernel.name.meaning.strategy
        if strategy is None or is_identity(meaning, np.shape(arrays[0])):
            lookups.check_manual_split(meaning.operator, meaning.marks)
            return kernel.run(*arrays)
        operator = REGISTRY.get(meaning.operator)
        first = 1 if operator is not None and operator.random else 0  # of what is drawn, a key stands before the inputs
        shapes = [np.shape(a) for a in arrays[first:]]
        laid = laid_out(Call(meaning.operator, meaning.settings, shapes), strategy, self.devices)
        self.strategies.append((kernel.name, strategy, laid))
        inputs = [_held(a, place) for a, place in zip(arrays[first:], laid.inputs, strict=True)]
        out = kernel.run(*arrays[:first], *inputs)
        outs = out if type(out) is tuple else (out,)
        held = [_held(o, place) for o, place in zip(outs, laid.outputs or [None] * len(outs), strict=True)]
        told = meaning.settings.get("out_strategy")
        if told is not None:
            held = self._told(meaning.operator, held, told)
        return tuple(held) if type(out) is tuple else held[0]

    def _told(self, operator, outs, strategy):
        """The outputs of an operator as its own strategy for them says."""
        if len(strategy) != len(outs):
            raise RuntimeError(
                f"For '{operator}', 'out_strategy' should have one tuple for each of the {len(outs)} outputs, but is "
                f"{strategy}."
            )
        return [
            self.hold(o, cuts, f"output {number} of {operator}")
            for number, (o, cuts) in enumerate(zip(outs, strategy, strict=True))
        ]

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """What all stages make of each part; see `core.spreading`."""
        self._has_stages = True
        mesh = named_mesh(self.devices)
        (axes,) = take_axes(mesh, (self.stages,))
        return pipeline.run_pipeline(stage, arrays, keys, parts, mesh, axes)

    def hold(self, array: Any, strategy: tuple[int, ...], what: str) -> Any:
        """An array of the trace, held to a strategy of its own; see `core.spreading`."""
        return _held(array, cut_as(np.shape(array), strategy, self.devices, what))

    def places(self, program: Any) -> Places:
        """Where the arrays of a traced program are to be; see `core.spreading`."""
        layouts.check_parameters(program, self.devices)
        if self.stages > 1 and program.written and not self._has_stages:
            log.once(
                f"pipeline_stages={self.stages} has no effect where no nn.PipelineCell is called: wrap the network "
                f"that returns the loss, nn.PipelineCell(network, parts), and train that."
            )
        if context._parallel.values.strategy_ckpt_save_file:
            layouts.write_strategy_file(program, self.devices, context._parallel.values.strategy_ckpt_save_file)
        mesh = device_mesh(self.devices)
        found, kept = lying(program.jaxpr.jaxpr), _of_optimizers(program)
        whole = NamedSharding(mesh, PartitionSpec())
        by_param, rest, said = {}, [], self._said_of_arguments(program, mesh)
        for var, kind, param in zip(program.jaxpr.jaxpr.invars, program.inputs, _padded(program), strict=True):
            spec = found.get(var)
            if param is not None:
                if self.optimizer and var in kept:
                    spec = _cut_further(mesh, spec, var.aval.shape)
                by_param[id(param)] = whole if spec is None else NamedSharding(mesh, spec)
            elif kind[0] == "random":
                rest.append(whole)
            elif said is not None:
                rest.append(said.pop(0))
            else:
                rest.append(whole if self.full_batch else NamedSharding(mesh, self._rows(mesh, var.aval.shape, spec)))
        written, read = ([by_param[id(p)] for p in params] for params in (program.written, program.read))
        return self.over_processes(Places(written, read, rest), program, mesh)

    def over_processes(self, places: Places, program: Any, mesh: Mesh) -> Places:
        """The same where there are several processes; as it is in one."""
        return places if world_size() == 1 else across.extend_to_processes(places, program, mesh, self.full_batch)

    def layouts(self, program: Any) -> dict[str, Any]:
        """How Parameters and arguments lie; see `core.spreading`."""
        layouts.check_parameters(program, self.devices)
        return layouts.collect_layouts(program, self.devices, self.optimizer)

    def shards(self, program: Any) -> dict[str, Any]:
        """The strategies that a program's operators were given; see `core.spreading`."""
        return layouts.collect_strategies(program, self.devices)

    def operators(self, _program: Any) -> int:
        """None: strategies are given; see `core.spreading`."""
        return 0

    def _said_of_arguments(self, program, mesh):
        """Where arguments are by `dataset_strategy`; None where it says nothing of them."""
        said = context._parallel.values.dataset_strategy
        if not isinstance(said, tuple) or world_size() > 1:
            return None
        inputs = zip(program.jaxpr.jaxpr.invars, program.inputs, strict=True)
        shapes = [var.aval.shape for var, kind in inputs if kind[0] not in ("param", "random")]
        if len(said) != len(shapes):
            log.once(
                f"dataset_strategy={said} is of {len(said)} arguments, and programs with another number of them are "
                f"given rows."
            )
            return None
        cuts = [cut_as(shape, one, self.devices, "argument") for shape, one in zip(shapes, said, strict=True)]
        return [NamedSharding(mesh, cut.spec) for cut in cuts]

    def _rows(self, mesh, shape, spec):
        """Of an argument: as its first reader wants it, else by rows."""
        if spec is not None:
            return spec
        return PartitionSpec(mesh.axis_names) if shape and shape[0] % self.devices == 0 else PartitionSpec()


def _of_optimizers(program):
    """The inputs that hold what an optimizer keeps of a Parameter, where that may be cut."""
    kept = layouts.optimizer_states(program)
    inputs = zip(program.jaxpr.jaxpr.invars, program.params)
    return {var for var, param in inputs if param.name in kept and kept[param.name].parallel_optimizer}


def _cut_further(mesh, spec, shape):
    """A layout whose first axis is also cut by the axes of the mesh that cut none, where that gives equal parts."""
    axes = [() if a is None else a if isinstance(a, tuple) else (a,) for a in (spec or ())]
    axes += [()] * (len(shape) - len(axes))
    free = [name for name in mesh.axis_names if not any(name in cut for cut in axes)]
    for name in free if axes else ():
        parts = math.prod(mesh.shape[a] for a in (*axes[0], name))
        if shape[0] % parts == 0:
            axes[0] = (*axes[0], name)
    return PartitionSpec(*(a or None for a in axes))


def _padded(program):
    return [*program.params, *[None] * (len(program.inputs) - len(program.params))]


def _held(array, place):
    return array if place is None or not np.ndim(array) else jax.lax.with_sharding_constraint(array, place)


def lying(jaxpr: Any) -> dict[Var, PartitionSpec]:
    """How the inputs of a graph lie, as far as it says: as their first reader with a strategy holds them.

    What an optimizer keeps of a Parameter lies as that does.

    Args:
        jaxpr (Jaxpr): The graph.
    """
    found: dict[Var, PartitionSpec] = {}
    same: dict[Var, Var] = {}  # a copy in another type -> what it was made of
    inputs = set(jaxpr.invars)
    for eqn in iterate_equations(jaxpr):
        read = eqn.invars[0] if eqn.invars else None
        if not isinstance(read, Var):
            continue
        read = same.get(read, read)
        if read not in inputs:
            continue
        if eqn.primitive.name == "sharding_constraint":
            spec = eqn.params["sharding"].spec  # an axis that vmap has put in front is left open
            found.setdefault(read, PartitionSpec(*(None if a is PartitionSpec.UNCONSTRAINED else a for a in spec)))
        elif layouts.is_copy(eqn):
            same[eqn.outvars[0]] = read
    for eqn in iterate_equations(jaxpr):
        kept = [v for v in eqn.invars if isinstance(v, Var) and v in inputs and v.aval.shape]
        told = {v.aval.shape: found[v] for v in kept if v in found}
        for v in kept:
            if v not in found and v.aval.shape in told and len(kept) > 1:
                found[v] = told[v.aval.shape]
    return found
