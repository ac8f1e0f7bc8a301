"""Reader and writer of MindSpore's strategy files: sharding of operators, and layouts of Parameters.

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
    """List of numbers in a strategy file.

    Attributes:
        dim (list[int]): The numbers.
    """

    dim: list[int]


class ParallelLayouts(NamedTuple):
    """Layout of one Parameter in a strategy file. Each list has one element.

    Attributes:
        dev_matrix (list[Dims]): The device matrix.
        tensor_map (list[Dims]): For each axis of the Parameter, the axis of the device matrix that shards it, counted
            from the last; -1 if the axis is not sharded.
        param_split_shape (list[Dims]): Number of rows of each slice of an embedding table that is split manually.
        indices_offset (list[Dims]): Number that is subtracted from the indices for each of these slices.
        field (int): Always 0 in files of msnb.
        opt_weight_shard_step (int): 0; MindSpore 2 needs it, r1.1 ignores it.
        opt_weight_shard_size (int): 0; MindSpore 2 needs it, r1.1 ignores it.
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
        strategies (Mapping): Maps the name of an operator to the number of shards of each axis of each input. A name
            has the operator's type and its first Parameter: ``MatMul_weight``.
        layouts (Mapping): The layouts of Parameters.

    Raises:
        OSError: If it cannot be written.
    """
    values = {
        "stage": 1,
        "strategies": [
            {"name": name, "cuts": {"stage": 0, "inputs": [{"dim": cuts} for cuts in strategy]}}
            for name, strategy in strategies.items()
        ],
        "layouts": [{"name": name, "layout": _make_layout_message(layout)} for name, layout in layouts.items()],
    }
    with atomic_file.writing(path, durable=False) as file:
        file.write(encode(_SCHEMA, "Map", values))


def _make_layout_message(layout):
    return {k: v if isinstance(v, int) else [{"dim": dims.dim} for dims in v] for k, v in layout._asdict().items()}


def read(path: str | Path) -> tuple[dict[str, tuple[tuple[int, ...], ...]], dict[str, ParallelLayouts]]:
    """Read a strategy file. Return (strategies, layouts), see `write`.

    Raises:
        BadFileError: If it is not a strategy file.
        OSError: If it cannot be read.
    """
    try:
        values = decode(_SCHEMA, "Map", Path(path).read_bytes())
        strategies = {
            entry["name"]: tuple(tuple(dims.get("dim", ())) for dims in entry.get("cuts", {}).get("inputs", ()))
            for entry in values.get("strategies", ())
        }
        return strategies, {
            entry["name"]: _parse_layout(entry.get("layout", {})) for entry in values.get("layouts", ())
        }
    except (WireError, KeyError, UnicodeDecodeError) as error:
        raise BadFileError(f"{path} is no strategy file of MindSpore: {error}.") from None


def _parse_layout(values: dict[str, Any]) -> ParallelLayouts:
    lists = {k: [Dims(d.get("dim", [])) for d in values.get(k, ())] for k in ParallelLayouts._fields[:4]}
    return ParallelLayouts(**lists, **{k: values.get(k, 0) for k in ParallelLayouts._fields[4:]})
