"""The arrays of a program's Parameters: where a run finds them, and where it leaves the new ones.

Parameters that a program writes stand together in one `Store`, so that a run takes over a whole list without looking
at any of them. Where two programs write different parts of the same Parameters there is none, and each Parameter is
asked and told.
"""

import operator
import sys
from typing import Any

import jax

from msnb.core.compat.jax_private import copied
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter, Store

_moves = trace_state.storage_epoch


class ParameterArrays:
    """Where the arrays of the Parameters of one program are.

    Args:
        written (list[Parameter]): Parameters that a run gives new arrays.
        read (list[Parameter]): The others.

    Attributes:
        shared (Union[Store, None]): What holds the written ones, and nothing else; None where there is no such store.
    """

    __slots__ = ("written", "read", "shared", "_reading")

    def __init__(self, written: list[Parameter], read: list[Parameter]) -> None:
        self.written, self.read = written, read
        self.shared: Store | None = None
        self._reading = None  # (store, what picks the arrays) where one store holds all that are read

    def find(self) -> None:
        """Look where the Parameters are now, and bring the written ones together."""
        for p in self.read:
            p._stored()  # whoever has no values yet finds them
        self.shared = self._together()
        self._reading = None
        stores = {id(p._slot[0]): p._slot[0] for p in self.read}
        if len(stores) == 1 and len(self.read) > 1:
            self._reading = next(iter(stores.values())), operator.itemgetter(*(p._slot[1] for p in self.read))

    def _together(self):
        """One store of the written Parameters, unless another program writes only part of them."""
        if not self.written:
            return None
        stores = {id(p._slot[0]): p._slot[0] for p in self.written}
        if len(stores) == 1:
            store = next(iter(stores.values()))
            if store.writer is not None and same(store.writer, self.written):
                return store
        mine = {id(p) for p in self.written}
        for store in stores.values():
            if store.writer is not None and not all(id(p) in mine for p in store.writer):
                return None
        merged = Store([p._stored() for p in self.written], tuple(self.written))
        for index, p in enumerate(self.written):
            p._slot = (merged, index)
        _moves.bump()
        return merged

    def arrays_read(self) -> list[jax.Array]:
        """The arrays of the Parameters that are only read."""
        if self._reading is not None:
            store, pick = self._reading
            return list(pick(store.results[-1][0]))
        return [p._stored() for p in self.read]

    def replace(self, new: list[jax.Array]) -> None:
        """Give each written Parameter its new array; a Stop in the middle comes when all have theirs."""
        try:
            for p, array in zip(self.written, new):
                p._assign(array)
        except KeyboardInterrupt:
            for p, array in zip(self.written, new):
                p._assign(array)
            raise


_HELD = next(map(sys.getrefcount, [object()]))  # by a list alone


def unshared(arrays: list[Any], held: int = 0) -> list[Any]:
    """`arrays`, with a copy in place of each that something beyond `held` lists still refers to: in PYNATIVE mode
    another thread may be computing with it, or hold it for a gradient, and a donated array is gone."""
    counts = list(map(sys.getrefcount, arrays))
    if max(counts) <= _HELD + held:
        return arrays
    return [copied(a) if count > _HELD + held else a for a, count in zip(arrays, counts)]


def same(some: Any, others: Any) -> bool:
    """Whether two tuples hold the same objects."""
    return len(some) == len(others) and all(map(operator.is_, some, others))
