"""What a program's strategies are, and how its Parameters and arguments lie by them, in the words of r1.1.

A layout is ``(device matrix, tensor map, shape of a slice, 0, True, group)``: how the devices are arranged, and for
each axis which of the matrix's, counted from the last, it is cut along; -1 for none. The group is of the devices that
have the same slice, where a parallel optimizer divides it among them: "4-devices"; else it is "".
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import Literal

from msnb.formats import strategies as strategies_file
from msnb.formats.strategies import Dims, ParallelLayouts
from msnb.parallel.calls import iterate_equations, operator_calls
from msnb.parallel.rules import Call
from msnb.parallel.rules.lookups import rows_of
from msnb.parallel.strategy import Laid, laid_out

Layout = tuple[list[int], list[int], list[int], int, bool, str]


class Placed(NamedTuple):
    """A call in a graph that has a strategy.

    Attributes:
        name (str): What r1.1 calls it, ``Default/network-Net/MatMul-op1``.
        strategy (tuple): For each input a tuple with a number for each axis.
        laid (Laid): How it lies.
        inputs (list): Its inputs in the graph: variables, or literals.
        operator (str): Name of the operator.
        settings (dict): Its attributes and marks.
    """

    name: str
    strategy: tuple[tuple[int, ...], ...]
    laid: Laid
    inputs: list[Any]
    operator: str
    settings: dict[str, Any]


def placed(jaxpr: Any, devices: int) -> Iterator[Placed]:
    """The calls in a graph that have a strategy, in its order."""
    for call in operator_calls(jaxpr):
        meaning = call.meaning
        if meaning.strategy is not None:
            inputs = call.inputs
            shaped = Call(meaning.operator, meaning.settings, [np.shape(v.aval) for v in inputs])
            laid = laid_out(shaped, meaning.strategy, devices)
            yield Placed(call.name, meaning.strategy, laid, inputs, *shaped[:2])


def read_as(program: Any, devices: int) -> Iterator[tuple[int, Placed, int]]:
    """(number of a program's input, the call that reads it, which of its inputs it is there) of each reader that has
    a strategy; a copy in another type is read as the input itself."""
    jaxpr = program.jaxpr.jaxpr
    origin = {v: i for i, v in enumerate(jaxpr.invars)}
    for eqn in iterate_equations(jaxpr):
        read = eqn.invars[0] if eqn.invars and not isinstance(eqn.invars[0], Literal) else None
        if read in origin and is_copy(eqn):
            origin[eqn.outvars[0]] = origin[read]
    for call in placed(jaxpr, devices):
        for place, var in enumerate(call.inputs):
            if not isinstance(var, Literal) and var in origin:
                yield origin[var], call, place


def is_copy(eqn: Any) -> bool:
    """Whether an equation only casts its input, or holds it to a layout."""
    meaning = getattr(eqn.params.get("name"), "meaning", None)
    return eqn.primitive.name in ("convert_element_type", "sharding_constraint") or (
        meaning is not None and meaning.operator == "Cast"
    )


def layouts(program: Any, devices: int, divided: bool = False) -> dict[str, Layout]:
    """How the Parameters and arguments of a program lie by their first readers: {name: layout}.

    What an optimizer keeps of a Parameter, under that name with another in front of it, lies as that does; what a
    gradient begins with, as the output that it is of.

    Args:
        program (Program): What was traced.
        devices (int): Over how many devices.
        divided (bool): Whether a parallel optimizer divides what several devices have of a trained Parameter.
            Default: False.
    """
    found: dict[str, Layout] = {}
    written = {p.name for p in program.written} if divided else ()
    for number, call, place in read_as(program, devices):
        kind = program.inputs[number]
        if kind[0] != "random" and np.shape(program.jaxpr.jaxpr.invars[number].aval):
            layout = _layout(call, call.laid.letters[place], np.shape(call.inputs[place].aval), devices)
            found.setdefault(kind[1], _with_group(layout, devices) if kind[1] in written else layout)
    for number, layout in _sensitivities(program, devices):
        found.setdefault(program.inputs[number][1], layout)
    for kind in program.inputs:
        of = next((name for name in found if kind[1].endswith(f".{name}")), None)
        if kind[0] == "param" and of is not None:
            found.setdefault(kind[1], found[of])
    return found


def _layout(call, letters, shape, devices):
    parts = {letter: cut for letter, cut in call.laid.parts.items() if cut > 1}
    spread = math.prod(parts.values())
    matrix = [*([devices // spread] if spread < devices else []), *parts.values()]
    axes = [*([None] if spread < devices else []), *parts]
    tensor_map = [len(axes) - 1 - axes.index(c) if c in parts else -1 for c in letters]
    slice_shape = [n // parts.get(c, 1) for n, c in zip(shape, letters, strict=True)]
    return matrix or [devices], tensor_map, slice_shape, 0, True, ""


def of_cuts(cuts: list[int], shape: tuple[int, ...], devices: int) -> Layout:
    """The layout of an array whose axes are cut into so many parts each, in their order.

    Examples:
        >>> of_cuts([1, 4], (8, 4), 8)
        ([2, 4], [-1, 0], [8, 1], 0, True, '')
    """
    spread, parts = math.prod(cuts), [cut for cut in cuts if cut > 1]
    matrix = [*([devices // spread] if spread < devices else []), *parts]
    places = iter(range(len(parts) - 1, -1, -1))
    tensor_map = [next(places) if cut > 1 else -1 for cut in cuts]
    return matrix or [devices], tensor_map, [n // cut for n, cut in zip(shape, cuts, strict=True)], 0, True, ""


def _with_group(layout, devices):
    """The same with the group of the devices that have one slice, where its first axis can be divided among them."""
    _, tensor_map, own = layout[:3]
    matrix = layout[0][::-1]
    same = devices // math.prod(matrix[axis] for axis in tensor_map if axis >= 0)
    return (*layout[:5], f"{same}-devices" if same > 1 and own and own[0] % same == 0 else "")


def _sensitivities(program, devices):
    """(number of an input that is held as the output of a call lies, that layout)."""
    jaxpr = program.jaxpr.jaxpr
    numbers = {v: i for i, v in enumerate(jaxpr.invars) if program.inputs[i][0] not in ("param", "random")}
    held = {}
    for eqn in iterate_equations(jaxpr):
        if eqn.primitive.name == "sharding_constraint" and eqn.invars[0] in numbers:
            held.setdefault(eqn.invars[0], eqn.params["sharding"].spec)
    for call in placed(jaxpr, devices) if held else ():
        for place, letters in zip(call.laid.outputs, call.laid.made):
            for var, spec in held.items():
                if place is not None and place.spec == spec and len(letters) == len(var.aval.shape):
                    yield numbers[var], _layout(call, letters, var.aval.shape, devices)


def strategies(program: Any, devices: int) -> dict[str, list[list[int]]]:
    """The strategies of a program's calls that have one: {what r1.1 calls it: [[parts of each axis], ...]}."""
    return {call.name: [list(cuts) for cuts in call.strategy] for call in placed(program.jaxpr.jaxpr, devices)}


def check_parameters(program: Any, devices: int) -> None:
    """Refuse a Parameter, or an argument, that two operators want to lie differently, as r1.1 does.

    Raises:
        RuntimeError: If there is one.
    """
    first: dict[int, tuple[Any, Placed]] = {}
    for number, call, place in read_as(program, devices):
        kind, called = program.inputs[number][:2]
        if kind == "random":
            continue
        lies = call.laid.inputs[place]
        known, other = first.setdefault(number, (lies, call))
        if known.spec != lies.spec:
            what, instead = ("Parameter", "two Parameters") if kind == "param" else ("argument", "hand it over twice")
            raise RuntimeError(
                f"The {what} '{called}' is cut in two ways over the {devices} devices: for {other.name} by the "
                f"strategy {other.strategy}, for {call.name} by {call.strategy}. Give both one, or {instead}."
            )


def save(program: Any, devices: int, path: str) -> None:
    """Write the strategies of the operators that read Parameters, and how these lie, as MindSpore's strategy file.

    Raises:
        OSError: If it cannot be written.
    """
    cuts: dict[str, Any] = {}
    found: dict[str, ParallelLayouts] = {}
    for number, call, place in read_as(program, devices):
        kind, name = program.inputs[number][:2]
        if kind != "param" or name in found:
            continue
        cuts.setdefault(f"{call.operator}_{name}", call.strategy)
        shape, letters = np.shape(call.inputs[place].aval), call.laid.letters[place]
        matrix, tensor_map = _layout(call, letters, shape, devices)[:2]
        split = ParallelLayouts([Dims(matrix)], [Dims(tensor_map)])
        found[name] = split._replace(param_split_shape=[Dims(rows_of(call.settings))])
    for name, layout in layouts(program, devices).items():
        if any(kind[:2] == ("param", name) for kind in program.inputs):
            found.setdefault(name, ParallelLayouts([Dims(layout[0])], [Dims(layout[1])]))
    strategies_file.write(path, cuts, found)


def kept_by_optimizers(program: Any) -> dict[str, Any]:
    """{name: Parameter} of what optimizers keep of Parameters that a program trains, such as their moments: of the
    same shape, under its name with one more in front, and nothing is kept of that in turn."""
    trained = {p.name: p for p in program.written}
    behind = {name: trained.get(name.partition(".")[2]) for name in trained}
    of = {name: p for name, p in behind.items() if p is not None and p.shape == trained[name].shape}
    kept = {p.name for p in behind.values() if p is not None}
    return {name: p for name, p in of.items() if name not in kept}
