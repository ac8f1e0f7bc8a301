"""Alignment of the arrays in a file with the Parameters of a network."""

import difflib
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from msnb.train.weights.slots import Slot, iterate_modules

Rule = tuple[str, str | None | tuple[str, ...]]
Rename = Mapping[str, str | None] | Callable[[str], str | None] | list[Rule]

BY_NAME, BY_KIND, RENAMED = "name", "kind of Cell", "rename"
GUESSED = "order and shape: a guess"
LEFT_OVER, MISFIT, MISSING = "not in the network", "shape does not fit", "not in the file"
_PIECE = " piece "
_COUNTER = "num_batches_tracked"  # PyTorch counts the batches of a BatchNorm; MindSpore does not


class Match(NamedTuple):
    """A Slot and the names of its arrays in the file.

    Attributes:
        slot (Slot): the Slot.
        names (tuple[str]): names in the file, as they are there.
        how (str): the reason for this match.
    """

    slot: Slot
    names: tuple[str, ...]
    how: str


class Alignment(NamedTuple):
    """Matches, and what has none.

    Attributes:
        matches (list[Match]): matches whose shapes fit.
        misfits (list[Match]): matches by name whose shapes do not fit.
        missing (list[Slot]): Slots without a match.
        left_over (list[str]): names in the file without a match.
        left_out (dict[str, str]): names in the file that are not needed -> reason.
    """

    matches: list[Match]
    misfits: list[Match]
    missing: list[Slot]
    left_over: list[str]
    left_out: dict[str, str]


def align(slots: list[Slot], arrays: Mapping[str, Any], rename: Rename | None) -> Alignment:
    """Return the alignment of the arrays in a file.

    The steps are: `rename` gives names of the file new ones; a name is equal to that of a Parameter; a name is that of
    PyTorch for the kind of the Cell; a prefix that all names of the file have more is left out; and modules that are
    left on both sides are matched in their order if all shapes fit.
    """
    left_out: dict[str, str] = {}
    file_names = _rename(arrays, rename, left_out)
    prefix = _choose_prefix(slots, file_names)
    for name in [name for name in file_names if not name.startswith(prefix)]:
        left_out[file_names.pop(name)] = f"not below {prefix!r}"
    file_names = {name.removeprefix(prefix): source for name, source in file_names.items()}
    matches, misfits, missing = [], [], []
    for slot in slots:
        candidate = _match_by_name(slot, file_names)
        if candidate is None:
            missing.append(slot)
            continue
        names, how = candidate
        sources = tuple(file_names.pop(name) for name in names)
        if any(prefix + name != source for name, source in zip(names, sources, strict=True)):
            how = RENAMED
        match = Match(slot, sources, f"{how}, without {prefix!r}" if prefix else how)
        (matches if _fits(slot, sources, arrays) else misfits).append(match)
    aliases = {alias for slot in slots for alias in slot.aliases}
    for name in list(file_names):
        if name.rpartition(".")[2] == _COUNTER:
            left_out[file_names.pop(name)] = "MindSpore has no such counter"
        elif name in aliases:
            left_out[file_names.pop(name)] = "a shared Parameter"
    guesses = _match_by_order(missing, list(file_names.values()), arrays)
    if guesses:
        matches += guesses
        missing, file_names = [], {}
    return Alignment(matches, misfits, missing, list(file_names.values()), left_out)


def _rename(arrays, rename, left_out):
    """Return new name -> name in the file. Names that `rename` maps to None are added to `left_out`."""
    change = _get_rename_function(rename)
    out: dict[str, str] = {}
    for source in arrays:
        name = change(source)
        if name is None:
            left_out[source] = "rename"
        elif not isinstance(name, str):
            raise TypeError(
                f"For 'load_weights', 'rename' should return a str or None, but got {name!r} of {source!r}."
            )
        elif name in out:
            raise ValueError(f"For 'load_weights', 'rename' maps both {out[name]!r} and {source!r} to {name!r}.")
        else:
            out[name] = source
    return out


def _get_rename_function(rename):
    if rename is None:
        return lambda name: name
    if isinstance(rename, Mapping):
        return lambda name: _rename_by_dict(rename, name)
    if isinstance(rename, list | tuple):
        return lambda name: _rename_by_rules(rename, name)
    if callable(rename):
        return rename
    raise TypeError(
        "For 'load_weights', 'rename' should be a dict, a function, or a list of (regular expression, text), but got "
        f"{type(rename).__name__}."
    )


def _rename_by_dict(names, name):
    """Return the new name. A key is a complete name, or that of a module with all names below it."""
    for end in (len(name), *(at for at in range(len(name) - 1, 0, -1) if name[at] == ".")):
        if name[:end] in names:
            new = names[name[:end]]
            return new if new is None else (new + name[end:]).lstrip(".")
    return name


def _rename_by_rules(rules, name):
    name, _, index = name.partition(_PIECE)  # the name of a piece ends in its index
    for pattern, text in rules:
        try:
            if text is None:
                if re.search(pattern, name):
                    return None
            elif isinstance(text, tuple):
                if index:
                    name = re.sub(pattern, text[int(index)], name)
            else:
                name = re.sub(pattern, text, name)
        except re.error as error:
            raise ValueError(f"For 'load_weights', the rule {(pattern, text)} of 'rename' is wrong: {error}.") from None
    return name


def split_packed_arrays(arrays: Mapping[str, Any], rename: Rename | None) -> Mapping[str, Any]:
    """Return the arrays, with the pieces of those for which a rule of `rename` has several texts.

    The pieces lie along the longest axis. Where that is the second axis of a matrix, the file stores it transposed.
    """
    if not isinstance(rename, list | tuple) or not any(isinstance(text, tuple) for _, text in rename):
        return arrays
    split: dict[str, Any] = {}
    for name, array in arrays.items():
        count = _count_pieces(rename, name)
        shape = _get_shape(array)
        if not count:
            split[name] = array
            continue
        axis = int(np.argmax(shape)) if shape else 0
        if not shape or shape[axis] % count:
            raise ValueError(
                f"For 'load_weights', a rule of 'rename' splits {name!r} into {count} equal pieces, but its shape is "
                f"{shape}."
            )
        for index, piece in enumerate(np.split(np.asarray(array), count, axis)):
            split[f"{name}{_PIECE}{index}"] = piece.T if len(shape) == 2 and axis == 1 else piece
    return split


def _count_pieces(rules, name):
    """Return the number of texts of the first rule with several that matches a name, or 0."""
    for number, (pattern, text) in enumerate(rules):
        if isinstance(text, tuple):
            earlier = _rename_by_rules(rules[:number], name)
            if earlier is not None and re.search(pattern, earlier):
                return len(text)
    return 0


def _match_by_name(slot, names):
    """Return (names, how) of a Slot, or None."""
    own = next((name for name in slot.own_names if name in names), None)
    if own is not None and (slot.pack is None or not all(name in names for name in slot.names)):
        return (own,), BY_NAME
    if all(name in names for name in slot.names):
        return slot.names, BY_NAME if slot.names[0] in slot.own_names else BY_KIND
    return None


def _choose_prefix(slots, names):
    """Return the prefix, "" or ending in ".", below which most Slots have a name in the file."""
    prefixes = {name[: at + 1] for name in names for at, letter in enumerate(name) if letter == "."}
    targets = {name for slot in slots for name in (*slot.names, *slot.own_names)}
    counts = dict.fromkeys(["", *prefixes], 0)
    for name in names:
        for at in [0, *(i + 1 for i, letter in enumerate(name) if letter == ".")]:
            counts[name[:at]] += name[at:] in targets
    best = max(counts.values())
    return min((prefix for prefix in counts if counts[prefix] == best), key=len)


def _get_shape(array):
    return tuple(np.shape(array))


def _fits(slot, sources, arrays):
    if slot.pack is not None and len(sources) == 1:  # packed in the file, too
        return _get_shape(arrays[sources[0]]) == tuple(slot.parameter.shape)
    return all(
        fit_layout(slot, shape, _get_shape(arrays[source])) is not None
        for shape, source in zip(slot.shapes, sources, strict=True)
    )


def fit_layout(slot: Slot, shape: tuple[int, ...], stored: tuple[int, ...]) -> str | None:
    """Return the layout of an array of shape `stored` for a Slot of `shape`: "same", "reshaped", "transposed", None."""
    if stored == shape:
        return "same"
    if [size for size in stored if size != 1] == [size for size in shape if size != 1]:
        return "reshaped"
    if slot.is_dense and stored == shape[::-1]:
        return "transposed"
    return None


def find_transposed_modules(matches: list[Match], arrays: Mapping[str, Any]) -> set[str]:
    """Return the last names of Dense layers whose weights are stored transposed.

    A square matrix does not show it, so a layer follows those of its name: GPT-2's `attn.c_proj` follows `mlp.c_proj`.
    """
    return {
        names[0].split(".")[-2]
        for slot, names, _ in matches
        if slot.is_dense and "." in names[0]
        if fit_layout(slot, slot.shapes[0], _get_shape(arrays[names[0]])) == "transposed"
    }


def _match_by_order(slots, names, arrays):
    """Return matches of modules in their order, or [] if they differ in number or in shape."""
    if not slots or not names or any(len(slot.names) > 1 for slot in slots):
        return []
    by_cell: dict[str, list[Slot]] = {}
    for slot in slots:
        by_cell.setdefault(slot.cell_path, []).append(slot)
    groups = list(iterate_modules(names))
    matches: list[Match] = []
    if len(groups) == len(by_cell):
        for group, cell_slots in zip(groups, by_cell.values(), strict=True):
            by_leaf = {name.rpartition(".")[2]: name for name in group}
            leaves = [slot.names[0].rpartition(".")[2] for slot in cell_slots]
            if sorted(by_leaf) != sorted(leaves) or len(by_leaf) != len(group):
                return []
            matches += [Match(slot, (by_leaf[leaf],), GUESSED) for slot, leaf in zip(cell_slots, leaves, strict=True)]
    elif len(names) == len(slots):  # names without modules, such as those of an ONNX file
        matches = [Match(slot, (name,), GUESSED) for slot, name in zip(slots, names, strict=True)]
    return matches if all(_fits(match.slot, match.names, arrays) for match in matches) else []


def describe_problems(alignment: Alignment, arrays: Mapping[str, Any], source: str) -> str:
    """Return the text of the error for names that are left and shapes that do not fit, or ""."""
    lines = []
    for slot, names, _ in alignment.misfits[:5]:
        shapes = ", ".join(f"{name!r} {_get_shape(arrays[name])}" for name in names)
        own = tuple(slot.parameter.shape)
        lines.append(f"{slot.parameter.name!r} has shape {own} in the network, but the file has {shapes}")
    _add_count(lines, alignment.misfits)
    for slot in alignment.missing[:5]:
        shape = tuple(slot.parameter.shape)
        near = difflib.get_close_matches(slot.names[0], alignment.left_over, 3, 0.4) or [
            name for name in alignment.left_over if math.prod(_get_shape(arrays[name])) == math.prod(shape)
        ]
        lines.append(
            f"{slot.parameter.name!r} {shape} has no values in the file"
            + (f"; the nearest names there: {', '.join(map(repr, near[:3]))}" if near else "")
        )
    _add_count(lines, alignment.missing)
    targets = [slot.names[0] for slot in alignment.missing]
    for name in alignment.left_over[:5]:
        near = difflib.get_close_matches(name, targets, 3, 0.4)
        lines.append(
            f"{name!r} {_get_shape(arrays[name])} of the file has no Parameter"
            + (f"; the nearest: {', '.join(map(repr, near))}" if near else "")
        )
    _add_count(lines, alignment.left_over)
    if not lines:
        return ""
    return (
        f"For 'load_weights', {source} does not fit the network, and nothing was loaded.\n  - "
        + "\n  - ".join(lines)
        + "\nrename={'name in the file': 'name in the network'} or [(r'regular expression', 'text')] aligns them, None "
        "in the place of a name leaves it out, and strict=False loads the rest."
    )


def _add_count(lines, items):
    if len(items) > 5:
        lines.append(f"... and {len(items) - 5} more")
