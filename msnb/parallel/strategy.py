"""From a strategy, how many parts each axis of each input is cut into, to how inputs and outputs lie on a mesh."""

import math
from typing import Any, NamedTuple

from jax.sharding import AbstractMesh, NamedSharding

from msnb.parallel.layout import DimSharding
from msnb.parallel.mesh import named_mesh, sharding, take_axes
from msnb.parallel.rules import Call, Rule, batch_rule, rule_of


class Laid(NamedTuple):
    """How one call lies on a mesh.

    Attributes:
        inputs (list[NamedSharding]): For each input.
        outputs (list[NamedSharding]): For each output; None where XLA decides.
        parts (dict[str, int]): Into how many parts the axes of each letter of the rule are cut, in the order of the
            device matrix.
        letters (list[str]): Those of each input; "." for an axis that stays whole.
        made (list[str]): Those of each output; None where XLA decides.
    """

    inputs: list[NamedSharding]
    outputs: list[NamedSharding | None]
    parts: dict[str, int]
    letters: list[str]
    made: list[str | None]


def laid_out(call: Call, strategy: Any, devices: int) -> Laid:
    """How the inputs and outputs of a call lie on so many devices.

    Args:
        call (Call): The call.
        strategy (tuple): For each input a tuple with a number for each axis.
        devices (int): How many there are.

    Raises:
        RuntimeError: If the strategy does not fit the shapes, the operator or the number of devices.
        MissingEntry: If the operator has no sharding rule, and the strategy cuts more than rows.
    """
    rule = rule_of(call)
    normal = _normal(call, strategy, rule)
    rule = rule or batch_rule(call, normal)
    parts = _parts(call, rule, normal)
    named = _by_name(call, rule, normal, devices)
    wrong = rule.find_error(parts, devices)
    if wrong:
        raise RuntimeError(f"{_of(call, strategy)} {wrong}.")
    used = math.prod(parts.values())
    if used > devices or devices % used:
        raise RuntimeError(
            f"{_of(call, strategy)} cuts into {used} parts, which does not divide the {devices} devices (device_num)."
        )
    mesh = named_mesh(devices)
    axes = named or dict(zip(parts, take_axes(mesh, tuple(parts.values())), strict=True))
    return Laid(
        [_lying(mesh, axes, letters) for letters in rule.inputs],
        [None if letters is None else _lying(mesh, axes, letters) for letters in rule.outputs],
        parts,
        list(rule.inputs),
        list(rule.outputs),
    )


def _by_name(call, rule, strategy, devices):
    """{letter: axes of the mesh} where the strategy is of layouts that name axes of the devices; None where it is not.

    Raises:
        RuntimeError: If they are of several grids, or name axes that cannot go together.
    """
    said = [(number, lying) for number, lying in enumerate(strategy) if isinstance(lying, DimSharding)]
    if not said:
        return None
    if any(not isinstance(cuts, DimSharding) and cuts and max(cuts) > 1 for cuts in strategy):
        raise RuntimeError(f"{_of(call, strategy)} has layouts and plain numbers; it should have one or the other.")
    (_, first), *_ = said
    if any((lying.matrix, lying.names) != (first.matrix, first.names) for _, lying in said):
        raise RuntimeError(f"{_of(call, strategy)} has layouts of several device matrices; it should have one.")
    if devices % math.prod(first.matrix):
        raise RuntimeError(f"{_of(call, strategy)} is of {first.matrix} devices, which do not divide {devices}.")
    grid = take_axes(named_mesh(devices), first.matrix)
    found, owners = {}, {}
    for number, lying in said:
        letters, _ = rule.strategy_axes.get(number, (rule.inputs[number], None))
        for letter, cut in zip(letters, lying.axes, strict=True):
            if letter != "." and found.setdefault(letter, cut) != cut:
                one, other = (tuple(first.names[a] for a in axes) for axes in (found[letter], cut))
                raise RuntimeError(f"{_of(call, strategy)} cuts axes that belong together along {one} and {other}.")
            for axis in cut:
                if owners.setdefault(axis, letter) != letter:
                    raise RuntimeError(
                        f"{_of(call, strategy)} cuts axes that do not belong together along {first.names[axis]!r}."
                    )
    return {letter: tuple(name for axis in cut for name in grid[axis]) for letter, cut in found.items()}


def cut_as(shape: tuple[int, ...], strategy: tuple[int, ...], devices: int, what: str) -> NamedSharding:
    """How an array lies of which each axis is cut into so many parts.

    Args:
        shape (tuple[int]): Its shape.
        strategy (tuple[int]): The parts of each axis.
        devices (int): How many devices there are.
        what (str): What it is, for errors.

    Raises:
        RuntimeError: If that cannot be.
    """
    fits = len(strategy) == len(shape) and all(type(c) is int and c > 0 for c in strategy)
    if not fits or any(n % c for n, c in zip(shape, strategy)) or devices % math.prod(strategy):
        raise RuntimeError(
            f"The {what} has shape {shape} and cannot be cut by the strategy {strategy} over {devices} devices "
            f"(device_num): there should be a number for each axis that divides it, and their product the devices."
        )
    mesh = named_mesh(devices)
    if isinstance(strategy, DimSharding):
        grid = take_axes(mesh, strategy.matrix)
        return sharding(mesh, [tuple(name for axis in cut for name in grid[axis]) for cut in strategy.axes])
    return sharding(mesh, take_axes(mesh, strategy))


def _lying(mesh: AbstractMesh, axes: dict[str, tuple[str, ...]], letters: str) -> NamedSharding:
    return sharding(mesh, [axes.get(letter, ()) for letter in letters])


def _normal(call, strategy, rule):
    """The strategy with one tuple for each array that it speaks of; numbers at the end may be left out, and what a rule
    says, which is None then."""
    given = [tuple(s) if isinstance(s, list) else s for s in strategy]
    shapes = call.shapes[: rule and rule.num_inputs]
    missing = shapes[len(given) :]
    enough = rule is not None and rule.min_inputs is not None and len(given) >= rule.min_inputs
    if len(given) > len(shapes) or not enough and any(shape != () for shape in missing):
        raise RuntimeError(
            f"{_of(call, strategy)} should have one tuple for each of the {len(shapes)} inputs, but has {len(given)}."
        )
    return [*given, *(None if shape else () for shape in missing)]


def _parts(call: Call, rule: Rule, strategy: list[Any]) -> dict[str, int]:
    """Into how many parts each letter is cut."""
    parts: dict[str, int] = {}
    for number, (shape, letters, cuts) in enumerate(zip(call.shapes, rule.inputs, strategy)):
        if cuts is None:
            continue
        letters, shape = rule.strategy_axes.get(number, (letters, shape))
        if not isinstance(cuts, tuple) or not all(type(c) is int and c > 0 for c in cuts):
            raise RuntimeError(f"{_of(call, strategy)} should have positive ints, but input {number} has {cuts!r}.")
        if len(cuts) != len(shape):
            raise RuntimeError(
                f"{_of(call, strategy)} should have {len(shape)} numbers for input {number} of shape {shape}, but has "
                f"{cuts}."
            )
        for size, letter, cut in zip(shape, letters, cuts, strict=True):
            if size % cut:
                raise RuntimeError(
                    f"{_of(call, strategy)} cuts an axis of {size} into {cut} parts, which are not equal: input "
                    f"{number} has shape {shape}."
                )
            if cut > 1 and (letter == "." or letter in rule.unsharded):
                allowed = tuple(1 if c == "." or c in rule.unsharded else n for c, n in zip(letters, cuts))
                raise RuntimeError(
                    f"{_of(call, strategy)} cuts an axis of input {number} that has to stay whole: of shape {shape}, "
                    f"{cuts} may be {allowed}."
                )
            if letter != "." and parts.setdefault(letter, cut) != cut:
                raise RuntimeError(
                    f"{_of(call, strategy)} cuts axes that belong together differently: into {parts[letter]} and "
                    f"{cut} parts."
                )
    return parts


def _of(call, strategy):
    return f"For '{call.operator}', the strategy {tuple(strategy)}"
