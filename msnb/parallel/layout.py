"""`Layout`: axes of devices by name, and how a Tensor lies on them, as strategies of MindSpore 2.3 and later say it."""

import math
from typing import Any

from msnb import log
from msnb.core.errors import describe

__all__ = ["Layout"]

_NONE = "None"
_INTERLEAVED = "interleaved_parallel"  # parts that one device computes one after the other


class Lying(tuple[int, ...]):
    """A strategy of one Tensor, a number of parts for each of its axes, which knows the axes of devices that cut them.

    Attributes:
        matrix (tuple[int, ...]): Devices along each axis.
        names (tuple[str, ...]): The names of these.
        axes (tuple[tuple[int, ...], ...]): For each axis of the Tensor the places in `matrix` of those that cut it.
    """

    matrix: tuple[int, ...]
    names: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    _map: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """The layout as MindSpore writes it: "tensor_map" counts axes of devices from the last one."""
        return {
            "device_matrix": self.matrix,
            "tensor_map": self._map,
            "interleaved_parallel": _INTERLEAVED in self.names,
            "alias_name": self.names,
            "rank_list": list(range(math.prod(self.matrix))),
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lying):
            return False
        return (self.matrix, self.names, self.axes) == (other.matrix, other.names, other.axes)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.matrix, self.names, self.axes))

    def __reduce__(self) -> Any:
        return _lying, (self.matrix, self.names, self._map)


class Layout:
    """
    The devices as a grid whose axes have names; called with a name for each axis of a Tensor it gives a strategy of
    that, for `Primitive.shard`, `Cell.shard` and `shard`.

    Args:
        device_matrix (tuple[int]): Devices along each axis; their product is the number of devices.
        alias_name (tuple[str]): The name of each axis. "interleaved_parallel", the last one, is of parts that a device
            computes one after the other; XLA orders what it computes, so that it has no effect.
        rank_list (list[int]): The devices; only in their order. Default: None, all.

    Inputs:
        - ***tensor_map** (Union[str, tuple[str]]) - For each axis of the Tensor the name of the axis of devices that
          cuts it, several as a tuple, or "None".

    Outputs:
        A strategy.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the names are not as many, not different, or not those of axes.
        NotImplementedError: If the devices are in another order.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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
        self._matrix = _all("device_matrix", device_matrix, tuple, int)
        self._names = _all("alias_name", alias_name, tuple, str)
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
        every = list(range(math.prod(self._matrix)))
        if rank_list is not None and _all("rank_list", rank_list, list, int) != every:
            if sorted(rank_list) != every:
                raise ValueError(f"For 'Layout', 'rank_list' should have each of {len(every)} devices once.")
            raise NotImplementedError(
                f"For 'Layout', 'rank_list' should be {every[0]} to {every[-1]} in this order, which is that of the "
                f"devices of a mesh, but got {rank_list}. Leave it out, and name the axes in another order."
            )

    def __call__(self, *tensor_map: str | tuple[str, ...]) -> Lying:
        places: list[Any] = []
        seen = set()
        for given in tensor_map:
            found = []
            for name in given if isinstance(given, tuple) else (given,):
                if name != _NONE and name not in self._names:
                    raise ValueError(f"For 'Layout', there is no axis {name!r}; there are {', '.join(self._names)}.")
                if name in seen:
                    raise ValueError(f"For 'Layout', the axis {name!r} cuts one axis of a Tensor, but is given twice.")
                seen.update([] if name == _NONE else [name])
                found.append(-1 if name == _NONE else len(self._names) - 1 - self._names.index(name))
            places.append(tuple(found) if isinstance(given, tuple) else found[0])
        return _lying(self._matrix, self._names, tuple(places))

    def to_dict(self) -> dict[str, Any]:
        """The devices as MindSpore writes them, of a Tensor without axes."""
        return self().to_dict()

    def __repr__(self) -> str:
        return f"Layout({self._matrix}, {self._names})"


def _lying(matrix, names, places):
    axes = []
    for place in places:
        given = place if isinstance(place, tuple) else (place,)
        axes.append(tuple(len(matrix) - 1 - p for p in given if p >= 0 and names[len(matrix) - 1 - p] != _INTERLEAVED))
    if _INTERLEAVED in names:
        log.unused("Layout", "XLA orders what a device computes", interleaved_parallel=True)
    found = Lying(math.prod(matrix[a] for a in cut) for cut in axes)
    found.matrix, found.names, found.axes, found._map = matrix, names, tuple(axes), places
    return found


def _all(name: str, value: Any, kind: type, of: type) -> Any:
    if not isinstance(value, kind) or not all(isinstance(v, of) and not isinstance(v, bool) for v in value):
        raise TypeError(
            f"For 'Layout', '{name}' should be a {kind.__name__} of {of.__name__}, but got {describe(value)}."
        )
    return value
