"""MindSpore's strategy files: how operators were cut, and how Parameters lay on the devices of a training.

The wire format is that of ``mindspore.straspb.ParallelStrategyMap``, a protocol buffer.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msnb._util import atomic_file
from msnb.formats.protobuf import WireError, decode, encode
from msnb.formats.text_files import BadFileError

_DIMS = {"dim": (1, "int", True)}
_SCHEMA = {
    "Map": {"stage": (1, "int", False), "strategies": (2, "Strategy", True), "layouts": (3, "Layout", True)},
    "Strategy": {"name": (1, "str", False), "cuts": (2, "Cuts", False)},
    "Cuts": {"stage": (1, "int", False), "inputs": (2, "Dims", True)},
    "Layout": {"name": (1, "str", False), "layout": (2, "Lying", False)},
    "Lying": {
        "dev_matrix": (1, "Dims", True),
        "tensor_map": (2, "Dims", True),
        "param_split_shape": (3, "Dims", True),
        "indices_offset": (4, "Dims", True),
        "field": (5, "int", False),
        "opt_weight_shard_step": (6, "int", False),
        "opt_weight_shard_size": (7, "int", False),
    },
    "Dims": _DIMS,
}


class Dims(NamedTuple):
    """A list of numbers, as the files have it.

    Attributes:
        dim (list[int]): The numbers.
    """

    dim: list[int]


class ParallelLayouts(NamedTuple):
    """How one Parameter lay, as the files have it: of each list there is one.

    Attributes:
        dev_matrix (list[Dims]): How the devices were arranged.
        tensor_map (list[Dims]): For each axis that of the matrix, counted from the last, by which it was cut; -1 for
            none.
        param_split_shape (list[Dims]): Rows of each slice, where a table was split by hand.
        indices_offset (list[Dims]): What was taken off the indices of each of these.
        field (int): 0.
        opt_weight_shard_step (int): 0; MindSpore 2 wants it, r1.1 passes it over.
        opt_weight_shard_size (int): 0; the same.
    """

    dev_matrix: Sequence[Dims]
    tensor_map: Sequence[Dims]
    param_split_shape: Sequence[Dims] = (Dims([]),)
    indices_offset: Sequence[Dims] = (Dims([]),)
    field: int = 0
    opt_weight_shard_step: int = 0
    opt_weight_shard_size: int = 0


def write(
    path: str | Path, strategies: Mapping[str, Sequence[Sequence[int]]], layouts: Mapping[str, ParallelLayouts]
) -> None:
    """Write a strategy file.

    Args:
        path (Union[str, Path]): The file.
        strategies (Mapping): For operators, called ``MatMul_weight`` by their name and that of their first Parameter,
            the parts of each axis of each input.
        layouts (Mapping): For Parameters, how they lie.

    Raises:
        OSError: If it cannot be written.
    """
    values = {
        "stage": 1,
        "strategies": [
            {"name": name, "cuts": {"stage": 0, "inputs": [{"dim": cuts} for cuts in strategy]}}
            for name, strategy in strategies.items()
        ],
        "layouts": [{"name": name, "layout": _lying(layout)} for name, layout in layouts.items()],
    }
    with atomic_file.writing(path, durable=False) as file:
        file.write(encode(_SCHEMA, "Map", values))


def _lying(layout):
    return {k: v if isinstance(v, int) else [{"dim": dims.dim} for dims in v] for k, v in layout._asdict().items()}


def read(path: str | Path) -> tuple[dict[str, tuple[tuple[int, ...], ...]], dict[str, ParallelLayouts]]:
    """(strategies, layouts) in a strategy file, see `write`.

    Raises:
        BadFileError: If it is none.
        OSError: If it cannot be read.
    """
    try:
        values = decode(_SCHEMA, "Map", Path(path).read_bytes())
        strategies = {
            one["name"]: tuple(tuple(dims.get("dim", ())) for dims in one.get("cuts", {}).get("inputs", ()))
            for one in values.get("strategies", ())
        }
        return strategies, {one["name"]: _layouts(one.get("layout", {})) for one in values.get("layouts", ())}
    except (WireError, KeyError, UnicodeDecodeError) as error:
        raise BadFileError(f"{path} is no strategy file of MindSpore: {error}.") from None


def _layouts(values: dict[str, Any]) -> ParallelLayouts:
    lists = {k: [Dims(d.get("dim", [])) for d in values.get(k, ())] for k in ParallelLayouts._fields[:4]}
    return ParallelLayouts(**lists, **{k: values.get(k, 0) for k in ParallelLayouts._fields[4:]})
