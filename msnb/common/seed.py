"""The global seed, functions that are called when it is set, and the seeds of random operators."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

DEFAULT_GRAPH_SEED = 87654321
keyConstant: list[int] = [3528531795, 2654435769, 3449720151, 3144134277]
_MAXINT32 = 2**31 - 1
_STEP = keyConstant[0] ^ keyConstant[2]

_global_seed = None
_listeners = []
_op_seeds = {}


def on_seed(listener: Callable[[int], Any]) -> Callable[[int], Any]:
    """Decorator: call `listener(seed)` at every :func:`set_seed`, and immediately if a seed is set already."""
    _listeners.append(listener)
    if _global_seed is not None:
        listener(_global_seed)
    return listener


def set_seed(seed: int) -> None:
    """Seed all random number generators: numpy.random, initializers, random operators and dataset pipelines.

    The same program with the same seed gives the same result; calling it again starts every stream from the beginning.

    Args:
        seed (int): The seed, from 0 to 2**32 - 1.

    Raises:
        TypeError: If `seed` is not an int.
        ValueError: If `seed` is out of range.

    Examples:
        >>> import mindspore as ms
        >>> ms.set_seed(1)
    """
    global _global_seed
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"The seed should be an int, but got {seed!r} ({type(seed).__name__}).")
    if not 0 <= seed < 2**32:
        raise ValueError(f"The seed should be in [0, 2**32 - 1], but got {seed}.")
    np.random.seed(seed)
    _reset_op_seed()
    _global_seed = seed
    for listener in list(_listeners):
        listener(seed)


def get_seed() -> int | None:
    """Return the seed of the last :func:`set_seed`, or None."""
    return _global_seed


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Return a context manager that restores the global seed and the seeds of operators at the end. The state of
    `numpy.random` is not restored."""
    global _global_seed
    before = _global_seed, dict(_op_seeds)
    try:
        yield
    finally:
        _global_seed = before[0]
        _op_seeds.clear()
        _op_seeds.update(before[1])


def operator_seeds() -> list[tuple[Any, ...]]:
    """Return the current seeds of operators, for `restore_operator_seeds`."""
    return [(*key, value) for key, value in _op_seeds.items()]


def restore_operator_seeds(seeds: Iterable[Any]) -> None:
    """Restore the seeds of operators that `operator_seeds` has returned."""
    _op_seeds.clear()
    _op_seeds.update({(name, first): value for name, first, value in seeds})


def _reset_op_seed():
    _op_seeds.clear()


def _truncate_seed(seed):
    return seed % _MAXINT32


def _get_op_seed(op_seed, kernel_name):
    return _op_seeds.setdefault((kernel_name, op_seed), op_seed)


def _advance_op_seed(op_seed, kernel_name):
    if op_seed is not None:
        _op_seeds[(kernel_name, op_seed)] = _get_op_seed(op_seed, kernel_name) + _STEP


def _get_graph_seed(op_seed, kernel_name):
    """Return the pair (seed, seed2) for the next use of a random operator; each use advances its stream.

    Without any seed the pair is (0, 0), for which operators choose a seed.
    """
    if _global_seed is None and op_seed is None:
        return 0, 0
    graph_seed = 0 if _global_seed is None else _global_seed
    if op_seed is None:
        op_seed = DEFAULT_GRAPH_SEED
    current = _get_op_seed(op_seed, kernel_name)
    _advance_op_seed(op_seed, kernel_name)
    pair = _truncate_seed(graph_seed), _truncate_seed(current)
    return pair if pair != (0, 0) else (0, _MAXINT32)
