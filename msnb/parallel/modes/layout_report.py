"""Report the strategies of a program, and the layouts of its Parameters and arguments, in r1.1's form.

A layout is ``(device matrix, tensor map, slice shape, 0, True, group)``. The tensor map has for each axis the device
axis that shards it, counted from the last one, or -1. The group names the devices that have the same slice if a
parallel optimizer shards it further among them, for example "4-devices"; otherwise it is "".
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import Literal

from msnb.formats import strategies as strategies_file
from msnb.formats.strategies import Dims, ParallelLayouts
from msnb.parallel.graph.operator_calls import iterate_equations, operator_calls
from msnb.parallel.rules import Call
from msnb.parallel.rules.embedding_rules import manual_split_rows
from msnb.parallel.sharding.strategy import OpShardings, shardings_of_call

Layout = tuple[list[int], list[int], list[int], int, bool, str]


class ShardedCall(NamedTuple):
    """A call in a graph that has a strategy.

    Attributes:
        name (str): Name of the call in r1.1, ``Default/network-Net/MatMul-op1``.
        strategy (tuple): For each input a tuple of the number of shards along each axis.
        shardings (OpShardings): The shardings of its inputs and outputs.
        inputs (list): Inputs of the call in the graph: variables, or literals.
        operator (str): Name of the operator.
        settings (dict): Attributes of the operator, and settings such as those of `add_prim_attr`.
    """

    name: str
    strategy: tuple[tuple[int, ...], ...]
    shardings: OpShardings
    inputs: list[Any]
    operator: str
    settings: dict[str, Any]


def sharded_calls(jaxpr: Any, devices: int) -> Iterator[ShardedCall]:
    """Iterate over the calls in a graph that have a strategy, in the graph's order."""
    for call in operator_calls(jaxpr):
        meaning = call.meaning
        if meaning.strategy is not None:
            inputs = call.inputs
            call_shapes = Call(meaning.operator, meaning.settings, [np.shape(v.aval) for v in inputs])
            shardings = shardings_of_call(call_shapes, meaning.strategy, devices)
            yield ShardedCall(call.name, meaning.strategy, shardings, inputs, *call_shapes[:2])


def input_readers(program: Any, devices: int) -> Iterator[tuple[int, ShardedCall, int]]:
    """Iterate over (index of a program's input, call with a strategy that reads it, index among the call's inputs).

    A reader of a cast or constrained copy of an input counts as a reader of the input.
    """
    jaxpr = program.jaxpr.jaxpr
    origin = {v: i for i, v in enumerate(jaxpr.invars)}
    for eqn in iterate_equations(jaxpr):
        source = eqn.invars[0] if eqn.invars and not isinstance(eqn.invars[0], Literal) else None
        if source in origin and is_copy(eqn):
            origin[eqn.outvars[0]] = origin[source]
    for call in sharded_calls(jaxpr, devices):
        for index, var in enumerate(call.inputs):
            if not isinstance(var, Literal) and var in origin:
                yield origin[var], call, index


def is_copy(eqn: Any) -> bool:
    """Return True if an equation only casts its input or constrains its sharding."""
    meaning = getattr(eqn.params.get("name"), "meaning", None)
    return eqn.primitive.name in ("convert_element_type", "sharding_constraint") or (
        meaning is not None and meaning.operator == "Cast"
    )


def collect_layouts(program: Any, devices: int, divided: bool = False) -> dict[str, Layout]:
    """Return {name: layout} for the Parameters and arguments of a program, by their first readers.

    The optimizer's state of a Parameter has the same layout; its name ends with that of the Parameter. The initial
    value of a gradient has the layout of the output that it belongs to.

    Args:
        program (Program): The traced program.
        devices (int): Number of devices.
        divided (bool): True if a parallel optimizer shards trained Parameters further. Default: False.
    """
    layouts: dict[str, Layout] = {}
    written = {p.name for p in program.written} if divided else ()
    for number, call, index in input_readers(program, devices):
        kind = program.inputs[number]
        if kind[0] != "random" and np.shape(program.jaxpr.jaxpr.invars[number].aval):
            layout = _make_layout_from_letters(
                call, call.shardings.input_letters[index], np.shape(call.inputs[index].aval), devices
            )
            layouts.setdefault(kind[1], _add_replica_group(layout, devices) if kind[1] in written else layout)
    for number, layout in _iterate_constrained_layouts(program, devices):
        layouts.setdefault(program.inputs[number][1], layout)
    for kind in program.inputs:
        owner = next((name for name in layouts if kind[1].endswith(f".{name}")), None)
        if kind[0] == "param" and owner is not None:
            layouts.setdefault(kind[1], layouts[owner])
    return layouts


def _make_layout_from_letters(call, letters, shape, devices):
    shard_counts = {letter: count for letter, count in call.shardings.shard_counts.items() if count > 1}
    used_devices = math.prod(shard_counts.values())
    matrix = [*([devices // used_devices] if used_devices < devices else []), *shard_counts.values()]
    axes = [*([None] if used_devices < devices else []), *shard_counts]
    tensor_map = [len(axes) - 1 - axes.index(c) if c in shard_counts else -1 for c in letters]
    slice_shape = [n // shard_counts.get(c, 1) for n, c in zip(shape, letters, strict=True)]
    return matrix or [devices], tensor_map, slice_shape, 0, True, ""


def layout_of_shards(shard_counts: list[int], shape: tuple[int, ...], devices: int) -> Layout:
    """Return the layout of an array from the number of shards along each axis.

    Examples:
        >>> layout_of_shards([1, 4], (8, 4), 8)
        ([2, 4], [-1, 0], [8, 1], 0, True, '')
    """
    used_devices, sharded = math.prod(shard_counts), [count for count in shard_counts if count > 1]
    matrix = [*([devices // used_devices] if used_devices < devices else []), *sharded]
    device_axes = iter(range(len(sharded) - 1, -1, -1))
    tensor_map = [next(device_axes) if count > 1 else -1 for count in shard_counts]
    return (
        matrix or [devices],
        tensor_map,
        [n // count for n, count in zip(shape, shard_counts, strict=True)],
        0,
        True,
        "",
    )


def _add_replica_group(layout, devices):
    """Add to `layout` the group of devices that have the same slice, if the first axis of the slice can be split among
    them.
    """
    _, tensor_map, slice_shape = layout[:3]
    matrix = layout[0][::-1]
    replicas = devices // math.prod(matrix[axis] for axis in tensor_map if axis >= 0)
    return (
        *layout[:5],
        f"{replicas}-devices" if replicas > 1 and slice_shape and slice_shape[0] % replicas == 0 else "",
    )


def _iterate_constrained_layouts(program, devices):
    """Iterate over (input index, layout) for inputs with a sharding constraint equal to that of a call's output."""
    jaxpr = program.jaxpr.jaxpr
    numbers = {v: i for i, v in enumerate(jaxpr.invars) if program.inputs[i][0] not in ("param", "random")}
    constrained = {}
    for eqn in iterate_equations(jaxpr):
        if eqn.primitive.name == "sharding_constraint" and eqn.invars[0] in numbers:
            constrained.setdefault(eqn.invars[0], eqn.params["sharding"].spec)
    for call in sharded_calls(jaxpr, devices) if constrained else ():
        for sharding, letters in zip(call.shardings.outputs, call.shardings.output_letters):
            for var, spec in constrained.items():
                if sharding is not None and sharding.spec == spec and len(letters) == len(var.aval.shape):
                    yield numbers[var], _make_layout_from_letters(call, letters, var.aval.shape, devices)


def collect_strategies(program: Any, devices: int) -> dict[str, list[list[int]]]:
    """Return {name in r1.1: [[number of shards of each axis], ...]} for a program's calls with a strategy."""
    return {call.name: [list(cuts) for cuts in call.strategy] for call in sharded_calls(program.jaxpr.jaxpr, devices)}


def check_parameters(program: Any, devices: int) -> None:
    """Raise an error if two operators require different shardings of one Parameter or argument, as r1.1 does.

    Raises:
        RuntimeError: If there are two such operators.
    """
    first_uses: dict[int, tuple[Any, ShardedCall]] = {}
    for number, call, index in input_readers(program, devices):
        kind, name = program.inputs[number][:2]
        if kind == "random":
            continue
        sharding = call.shardings.inputs[index]
        first_sharding, first_call = first_uses.setdefault(number, (sharding, call))
        if first_sharding.spec != sharding.spec:
            noun, remedy = ("Parameter", "two Parameters") if kind == "param" else ("argument", "hand it over twice")
            raise RuntimeError(
                f"The {noun} '{name}' is cut in two ways over the {devices} devices: for {first_call.name} by the "
                f"strategy {first_call.strategy}, for {call.name} by {call.strategy}. Give both one, or {remedy}."
            )


def write_strategy_file(program: Any, devices: int, path: str) -> None:
    """Write the strategies of operators that read Parameters, and the Parameters' layouts, as MindSpore's strategy
    file.

    Raises:
        OSError: If the file cannot be written.
    """
    cuts: dict[str, Any] = {}
    parameter_layouts: dict[str, ParallelLayouts] = {}
    for number, call, index in input_readers(program, devices):
        kind, name = program.inputs[number][:2]
        if kind != "param" or name in parameter_layouts:
            continue
        cuts.setdefault(f"{call.operator}_{name}", call.strategy)
        shape, letters = np.shape(call.inputs[index].aval), call.shardings.input_letters[index]
        matrix, tensor_map = _make_layout_from_letters(call, letters, shape, devices)[:2]
        split = ParallelLayouts([Dims(matrix)], [Dims(tensor_map)])
        parameter_layouts[name] = split._replace(param_split_shape=[Dims(manual_split_rows(call.settings))])
    for name, layout in collect_layouts(program, devices).items():
        if any(kind[:2] == ("param", name) for kind in program.inputs):
            parameter_layouts.setdefault(name, ParallelLayouts([Dims(layout[0])], [Dims(layout[1])]))
    strategies_file.write(path, cuts, parameter_layouts)


def optimizer_states(program: Any) -> dict[str, Any]:
    """Return {state name: Parameter} for the optimizer's states of trained Parameters, such as moments.

    A state has the shape of its Parameter, and its name with one more component in front. A Parameter that has a
    state is not itself a state.
    """
    trained = {p.name: p for p in program.written}
    owners = {name: trained.get(name.partition(".")[2]) for name in trained}
    states = {name: p for name, p in owners.items() if p is not None and p.shape == trained[name].shape}
    owner_names = {p.name for p in owners.values() if p is not None}
    return {name: p for name, p in states.items() if name not in owner_names}
