"""Convert strategies, the number of shards along each axis of each input, to shardings on a mesh."""

import math
from typing import Any, NamedTuple

from jax.sharding import AbstractMesh, NamedSharding

from msnb.parallel.rules import Call, Rule, batch_rule, rule_of
from msnb.parallel.sharding.mesh import named_mesh, sharding, take_axes
from msnb.parallel.sharding.named_layout import DimSharding


class OpShardings(NamedTuple):
    """Shardings of the inputs and outputs of one operator call.

    Attributes:
        inputs (list[NamedSharding]): The sharding of each input.
        outputs (list[NamedSharding]): The sharding of each output; None where XLA decides.
        shard_counts (dict[str, int]): Number of shards of each letter of the rule, in the order of the device matrix.
        input_letters (list[str]): Letters of each input; "." for an axis that is not sharded.
        output_letters (list[str]): Letters of each output; None where XLA decides.
    """

    inputs: list[NamedSharding]
    outputs: list[NamedSharding | None]
    shard_counts: dict[str, int]
    input_letters: list[str]
    output_letters: list[str | None]


def shardings_of_call(call: Call, strategy: Any, devices: int) -> OpShardings:
    """Return the shardings of a call's inputs and outputs.

    Args:
        call (Call): The call.
        strategy (tuple): For each input a tuple of the number of shards along each axis.
        devices (int): Number of devices.

    Raises:
        RuntimeError: If the strategy does not fit the shapes, the operator or the number of devices.
        MissingEntry: If the operator has no sharding rule, and the strategy shards more than the batch.
    """
    rule = rule_of(call)
    normal = _normalize_strategy(call, strategy, rule)
    rule = rule or batch_rule(call, normal)
    shard_counts = _count_shards(call, rule, normal)
    named_axes = _collect_layout_axes(call, rule, normal, devices)
    error = rule.find_error(shard_counts, devices)
    if error:
        raise RuntimeError(f"{_describe(call, strategy)} {error}.")
    used = math.prod(shard_counts.values())
    if used > devices or devices % used:
        raise RuntimeError(
            f"{_describe(call, strategy)} cuts into {used} parts, which does not divide the {devices} devices "
            f"(device_num)."
        )
    mesh = named_mesh(devices)
    axes = named_axes or dict(zip(shard_counts, take_axes(mesh, tuple(shard_counts.values())), strict=True))
    return OpShardings(
        [_make_sharding_from_letters(mesh, axes, letters) for letters in rule.inputs],
        [None if letters is None else _make_sharding_from_letters(mesh, axes, letters) for letters in rule.outputs],
        shard_counts,
        list(rule.inputs),
        list(rule.outputs),
    )


def _collect_layout_axes(call, rule, strategy, devices):
    """Return {letter: mesh axes} for a strategy of layouts with named device axes; None for one of plain numbers.

    A letter names a dimension in the rule of an operator.

    Raises:
        RuntimeError: If the layouts have several device matrices, or their axes contradict each other.
    """
    layouts = [(number, layout) for number, layout in enumerate(strategy) if isinstance(layout, DimSharding)]
    if not layouts:
        return None
    if any(not isinstance(cuts, DimSharding) and cuts and max(cuts) > 1 for cuts in strategy):
        raise RuntimeError(
            f"{_describe(call, strategy)} has layouts and plain numbers; it should have one or the other."
        )
    (_, first), *_ = layouts
    if any((layout.matrix, layout.names) != (first.matrix, first.names) for _, layout in layouts):
        raise RuntimeError(f"{_describe(call, strategy)} has layouts of several device matrices; it should have one.")
    if devices % math.prod(first.matrix):
        raise RuntimeError(f"{_describe(call, strategy)} is of {first.matrix} devices, which do not divide {devices}.")
    grid = take_axes(named_mesh(devices), first.matrix)
    axes_of_letter, owners = {}, {}
    for number, layout in layouts:
        letters, _ = rule.strategy_axes.get(number, (rule.inputs[number], None))
        for letter, device_axes in zip(letters, layout.axes, strict=True):
            if letter != "." and axes_of_letter.setdefault(letter, device_axes) != device_axes:
                one, other = (tuple(first.names[a] for a in axes) for axes in (axes_of_letter[letter], device_axes))
                raise RuntimeError(
                    f"{_describe(call, strategy)} cuts axes that belong together along {one} and {other}."
                )
            for axis in device_axes:
                if owners.setdefault(axis, letter) != letter:
                    raise RuntimeError(
                        f"{_describe(call, strategy)} cuts axes that do not belong together along "
                        f"{first.names[axis]!r}."
                    )
    return {
        letter: tuple(name for axis in device_axes for name in grid[axis])
        for letter, device_axes in axes_of_letter.items()
    }


def sharding_of_array(shape: tuple[int, ...], strategy: tuple[int, ...], devices: int, what: str) -> NamedSharding:
    """Return the sharding of an array with the given number of shards along each axis.

    Args:
        shape (tuple[int]): Shape of the array.
        strategy (tuple[int]): The number of shards along each axis.
        devices (int): Number of devices.
        what (str): Description of the array, for errors.

    Raises:
        RuntimeError: If the strategy does not fit.
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
        return sharding(
            mesh, [tuple(name for axis in device_axes for name in grid[axis]) for device_axes in strategy.axes]
        )
    return sharding(mesh, take_axes(mesh, strategy))


def _make_sharding_from_letters(mesh: AbstractMesh, axes: dict[str, tuple[str, ...]], letters: str) -> NamedSharding:
    return sharding(mesh, [axes.get(letter, ()) for letter in letters])


def _normalize_strategy(call, strategy, rule):
    """Return the strategy with one entry for each array that it describes.

    Entries of scalars at the end, and those that a rule makes optional, may be missing. The latter become None.
    """
    entries = [tuple(s) if isinstance(s, list) else s for s in strategy]
    shapes = call.shapes[: rule and rule.num_inputs]
    missing = shapes[len(entries) :]
    is_optional = rule is not None and rule.min_inputs is not None and len(entries) >= rule.min_inputs
    if len(entries) > len(shapes) or not is_optional and any(shape != () for shape in missing):
        raise RuntimeError(
            f"{_describe(call, strategy)} should have one tuple for each of the {len(shapes)} inputs, but has "
            f"{len(entries)}."
        )
    return [*entries, *(None if shape else () for shape in missing)]


def _count_shards(call: Call, rule: Rule, strategy: list[Any]) -> dict[str, int]:
    """Return {letter: number of shards}; a letter names a dimension in `rule`."""
    shard_counts: dict[str, int] = {}
    for number, (shape, letters, cuts) in enumerate(zip(call.shapes, rule.inputs, strategy)):
        if cuts is None:
            continue
        letters, shape = rule.strategy_axes.get(number, (letters, shape))
        if not isinstance(cuts, tuple) or not all(type(c) is int and c > 0 for c in cuts):
            raise RuntimeError(
                f"{_describe(call, strategy)} should have positive ints, but input {number} has {cuts!r}."
            )
        if len(cuts) != len(shape):
            raise RuntimeError(
                f"{_describe(call, strategy)} should have {len(shape)} numbers for input {number} of shape {shape}, "
                f"but has {cuts}."
            )
        for size, letter, cut in zip(shape, letters, cuts, strict=True):
            if size % cut:
                raise RuntimeError(
                    f"{_describe(call, strategy)} cuts an axis of {size} into {cut} parts, which are not equal: input "
                    f"{number} has shape {shape}."
                )
            if cut > 1 and (letter == "." or letter in rule.unsharded):
                allowed = tuple(1 if c == "." or c in rule.unsharded else n for c, n in zip(letters, cuts))
                raise RuntimeError(
                    f"{_describe(call, strategy)} cuts an axis of input {number} that has to stay whole: of shape "
                    f"{shape}, {cuts} may be {allowed}."
                )
            if letter != "." and shard_counts.setdefault(letter, cut) != cut:
                raise RuntimeError(
                    f"{_describe(call, strategy)} cuts axes that belong together differently: into "
                    f"{shard_counts[letter]} and {cut} parts."
                )
    return shard_counts


def _describe(call, strategy):
    return f"For '{call.operator}', the strategy {tuple(strategy)}"
