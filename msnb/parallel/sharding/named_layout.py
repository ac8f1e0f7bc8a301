"""`Layout`: named axes of a device grid, and shardings of Tensors by these names, as in MindSpore 2.3 and later."""

import math
from typing import Any

from msnb import log
from msnb.core.errors.messages import describe

__all__ = ["Layout"]

_NONE = "None"
_INTERLEAVED = "interleaved_parallel"  # an axis whose shards one device computes one after the other


class DimSharding(tuple[int, ...]):
    """A strategy of one Tensor (a number of shards for each axis) that also names the device axes of each shard.

    Attributes:
        matrix (tuple[int, ...]): Number of devices along each device axis.
        names (tuple[str, ...]): The names of the device axes.
        axes (tuple[tuple[int, ...], ...]): For each axis of the Tensor the indices in `matrix` of its device axes.
    """

    matrix: tuple[int, ...]
    names: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    _map: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the layout in MindSpore's form. "tensor_map" counts device axes from the last one."""
        return {
            "device_matrix": self.matrix,
            "tensor_map": self._map,
            "interleaved_parallel": _INTERLEAVED in self.names,
            "alias_name": self.names,
            "rank_list": list(range(math.prod(self.matrix))),
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DimSharding):
            return False
        return (self.matrix, self.names, self.axes) == (other.matrix, other.names, other.axes)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.matrix, self.names, self.axes))

    def __reduce__(self) -> Any:
        return _make_dim_sharding, (self.matrix, self.names, self._map)


class Layout:
    """A grid of devices with named axes. Called with a name for each axis of a Tensor, it returns a strategy for
    `Primitive.shard`, `Cell.shard` and `shard`.

    Args:
        device_matrix (tuple[int]): Devices along each axis; their product is the number of devices.
        alias_name (tuple[str]): The name of each axis. The shards of the axis "interleaved_parallel", the last one, are
            computed one after the other by one device. It has no effect: XLA schedules the computation.
        rank_list (list[int]): The devices, in ascending order only. Default: None, all.

    Inputs:
        - ***tensor_map** (Union[str, tuple[str]]) - For each axis of the Tensor the name of the device axis that
          shards it, several as a tuple, or "None".

    Outputs:
        A strategy.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the number of names is wrong, or names are repeated or unknown.
        NotImplementedError: If the devices are in another order.

    Examples:
        >>> from mindspore.parallel import Layout
        >>> layout = Layout((2, 4), ("dp", "mp"))
        >>> product = ops.MatMul().shard((layout("dp", "mp"), layout("mp", "None")))
        >>> layout("dp", "mp")
        (2, 4)
    """

    def __init__(
        self, device_matrix: tuple[int, ...], alias_name: tuple[str, ...], rank_list: list[int] | None = None
    ) -> None:
        self._matrix = _check_item_types("device_matrix", device_matrix, tuple, int)
        self._names = _check_item_types("alias_name", alias_name, tuple, str)
        if len(self._matrix) != len(self._names):
            raise ValueError(
                f"For 'Layout', 'alias_name' should have a name for each of the {len(self._matrix)} axes in "
                f"'device_matrix', but has {len(self._names)}."
            )
        if len(set(self._names)) < len(self._names) or not all(self._names) or _NONE in self._names:
            raise ValueError(
                f"For 'Layout', names should be different, not empty and not 'None', which is for an axis that is not "
                f"cut, but 'alias_name' is {self._names}."
            )
        if _INTERLEAVED in self._names[:-1]:
            raise ValueError(f"For 'Layout', 'interleaved_parallel' should be the last name, but got {self._names}.")
        ranks = list(range(math.prod(self._matrix)))
        if rank_list is not None and _check_item_types("rank_list", rank_list, list, int) != ranks:
            if sorted(rank_list) != ranks:
                raise ValueError(f"For 'Layout', 'rank_list' should have each of {len(ranks)} devices once.")
            raise NotImplementedError(
                f"For 'Layout', 'rank_list' should be {ranks[0]} to {ranks[-1]} in this order, which is that of the "
                f"devices of a mesh, but got {rank_list}. Leave it out, and name the axes in another order."
            )

    def __call__(self, *tensor_map: str | tuple[str, ...]) -> DimSharding:
        tensor_axes: list[Any] = []
        used_names = set()
        for entry in tensor_map:
            device_axes = []
            for name in entry if isinstance(entry, tuple) else (entry,):
                if name != _NONE and name not in self._names:
                    raise ValueError(f"For 'Layout', there is no axis {name!r}; there are {', '.join(self._names)}.")
                if name in used_names:
                    raise ValueError(f"For 'Layout', the axis {name!r} cuts one axis of a Tensor, but is given twice.")
                used_names.update([] if name == _NONE else [name])
                device_axes.append(-1 if name == _NONE else len(self._names) - 1 - self._names.index(name))
            tensor_axes.append(tuple(device_axes) if isinstance(entry, tuple) else device_axes[0])
        return _make_dim_sharding(self._matrix, self._names, tuple(tensor_axes))

    def to_dict(self) -> dict[str, Any]:
        """Return the grid of devices in MindSpore's form, for a Tensor without axes."""
        return self().to_dict()

    def __repr__(self) -> str:
        return f"Layout({self._matrix}, {self._names})"


def _make_dim_sharding(matrix, names, tensor_axes):
    axes = []
    for entry in tensor_axes:
        device_axes = entry if isinstance(entry, tuple) else (entry,)
        axes.append(
            tuple(len(matrix) - 1 - p for p in device_axes if p >= 0 and names[len(matrix) - 1 - p] != _INTERLEAVED)
        )
    if _INTERLEAVED in names:
        log.unused("Layout", "XLA orders what a device computes", interleaved_parallel=True)
    sharding = DimSharding(math.prod(matrix[a] for a in device_axes) for device_axes in axes)
    sharding.matrix, sharding.names, sharding.axes, sharding._map = matrix, names, tuple(axes), tensor_axes
    return sharding


class _DistributedTensorInfo:
    """The sharding of a Tensor, as a strategy of a `Layout`.

    Args:
        distributed_info (DimSharding): The result of calling a `Layout`.
    """

    def __init__(self, distributed_info: DimSharding) -> None:
        if not isinstance(distributed_info, DimSharding):
            raise TypeError(
                "For '_DistributedTensorInfo', 'distributed_info' should be what a called Layout returns, but got "
                f"{distributed_info!r}."
            )
        self.layout = self.distributed_info = distributed_info
        self.sharding_strategy = list(distributed_info)


_lying = _make_dim_sharding  # the name in old pickles


def _check_item_types(name: str, value: Any, kind: type, of: type) -> Any:
    if not isinstance(value, kind) or not all(isinstance(v, of) and not isinstance(v, bool) for v in value):
        raise TypeError(
            f"For 'Layout', '{name}' should be a {kind.__name__} of {of.__name__}, but got {describe(value)}."
        )
    return value
