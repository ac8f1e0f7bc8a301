"""Arrays of the Parameters of a program: inputs of a run and destinations of its results.

Parameters that a program writes share one `Store`, so that a run takes a complete list without a loop over Parameters.
If two programs write different subsets of the same Parameters there is no shared store, and each Parameter is read and
assigned individually.
"""

import operator
import sys
from typing import Any

import jax

from msnb.core.compat.jax_private import copy_array
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter, Store

_storage_epoch = trace_state.storage_epoch


class ParameterArrays:
    """Access to the arrays of the Parameters of one program.

    Args:
        written (list[Parameter]): Parameters that a run assigns.
        read (list[Parameter]): The other Parameters.

    Attributes:
        shared (Union[Store, None]): The store that holds the arrays of the written Parameters and no others; None if
            there is no such store.
        epoch (int): Value of `trace_state.storage_epoch` when the stores were looked up; -1 before the first time.
    """

    __slots__ = ("written", "read", "shared", "epoch", "_read_from", "_pick")

    def __init__(self, written: list[Parameter], read: list[Parameter]) -> None:
        self.written, self.read = written, read
        self.shared: Store | None = None
        self.epoch: int = -1
        self._read_from: list[Any] = []  # (results of a store, index) of each Parameter that is read
        self._pick: Any = None  # itemgetter of the arrays if one store has all that are read

    def find(self) -> None:
        """Look up the current stores of the Parameters, and move the written ones into one store."""
        for p in self.read:
            p._get_stored_array()  # lazy Parameters compute their values now
        self.shared = self._merge_stores()
        self._read_from = [(store.results, index) for store, index in (p._slot for p in self.read)]
        is_one_store = len(self.read) > 1 and all(results is self._read_from[0][0] for results, _ in self._read_from)
        self._pick = operator.itemgetter(*(index for _, index in self._read_from)) if is_one_store else None

    def _merge_stores(self):
        """Return one store of the written Parameters; None if another program writes one of them and also others."""
        if not self.written:
            return None
        stores = {id(p._slot[0]): p._slot[0] for p in self.written}
        if len(stores) == 1:
            store = next(iter(stores.values()))
            if store.writer is not None and are_identical(store.writer, self.written):
                return store
        own_ids = {id(p) for p in self.written}
        for store in stores.values():
            if store.writer is not None and not all(id(p) in own_ids for p in store.writer):
                return None
        merged = Store([p._get_stored_array() for p in self.written], tuple(self.written))
        for index, p in enumerate(self.written):
            p._slot = (merged, index)
        _storage_epoch.bump()
        return merged

    def arrays_read(self) -> list[jax.Array]:
        """Return the arrays of the Parameters that a run only reads."""
        if self._pick is not None:
            return list(self._pick(self._read_from[0][0][-1][0]))
        return [results[-1][0][index] for results, index in self._read_from]

    def replace(self, new: list[jax.Array]) -> None:
        """Assign the new arrays to the written Parameters. An interrupt is raised after all of them are assigned."""
        try:
            for p, array in zip(self.written, new):
                p._rebind_array(array)
        except KeyboardInterrupt:
            for p, array in zip(self.written, new):
                p._rebind_array(array)
            raise


_LIST_REFERENCES = next(map(sys.getrefcount, [object()]))  # reference count of an object that only a list references


def copy_shared(arrays: list[Any], n_lists: int = 0) -> list[Any]:
    """Return `arrays` with a copy of each array that has references besides those of `n_lists` lists.

    In PYNATIVE mode another thread may compute with such an array, or keep it for a gradient, and donation deletes
    the array.
    """
    counts = list(map(sys.getrefcount, arrays))
    if max(counts) <= _LIST_REFERENCES + n_lists:
        return arrays
    return [copy_array(a) if count > _LIST_REFERENCES + n_lists else a for a, count in zip(arrays, counts)]


def are_identical(some: Any, others: Any) -> bool:
    """Return True if two tuples contain the same objects."""
    return len(some) == len(others) and all(map(operator.is_, some, others))
