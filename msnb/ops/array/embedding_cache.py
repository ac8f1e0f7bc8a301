"""Hash table of an embedding cache: it maps rows of a large embedding table to rows of a small cache.

The table is an integer Parameter with a row (key, value, step, tag) for each entry; linear probing finds it. `key` is a
row of the large table, `value` its row in the cache, and `step` the step of its last lookup. `tag` is the number of
probes that a search needs to reach the entry, or 0 for an empty entry.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Int, check
from msnb.core.operator.cases import Values, case, refused
from msnb.core.operator.declare import operator
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import INDEX, dtype_in, rank, same_dtype, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator

_KEY, _VALUE, _STEP, _TAG = range(4)
_MULTIPLIER = 0.6180339
# Example table of 10 entries. Keys 2 and 15 both hash to entry 2, so 15 is one entry further and has tag 2.
_TABLE = (
    (0, 0, 0, 0),
    (10, 5, -5, 1),
    (2, 1, -5, 1),
    (15, 7, -5, 2),
    *((0, 0, 0, 0),) * 4,
    (3, 3, -5, 1),
    (21, 9, -5, 1),
)


def _check_hash_table(op, hashmap, **keys):
    rank(op, "hashmap", hashmap, 2)
    for name, value in keys.items():
        dtype_in(op, name, value, INDEX)
    same_dtype(op, hashmap=hashmap, **keys)
    if hashmap.shape[0] < 1 or hashmap.shape[1] != 4:
        raise ValueError(f"For '{op}', 'hashmap' should have rows of 4 numbers, but got shape {hashmap.shape}.")


def _hash_key(key, length):
    """Hash `key`: return the index of the entry at which its search begins in a table of `length` entries."""
    part = _MULTIPLIER * key.astype(jnp.float64)
    return ((part - jnp.floor(part)) * length).astype(key.dtype)


def _find_entry(stops, start):
    """Return the index of the first entry from `start` on that satisfies a predicate, and the number of probes.

    `stops` is the pair (length of the table, predicate).
    """
    length, holds = stops

    def further(state):
        entry, count = state
        return ~holds(entry) & (count < length)

    return lax.while_loop(further, lambda s: ((s[0] + 1) % length, s[1] + 1), (start % length, jnp.ones_like(start)))


@operator(writes=("hashmap",))
def SearchCacheIdx(hashmap, indices, step: Int, emb_max_num: Int, cache_max_num: Int):
    """Look up rows of a large embedding table in the hash table of its cache.

    Inputs:
        - **hashmap** (Parameter) - (n, 4), int32 or int64: each entry is (key, value, step, tag). The step of each
          entry that is present is overwritten.
        - **indices** (Tensor) - The rows to look up, of the element type of `hashmap`.
        - **step** (int) - The step of the training.
        - **emb_max_num** (int) - A row of the large table that is not looked up. Its result is `cache_max_num`.
        - **cache_max_num** (int) - Number of rows of the cache.

    Outputs:
        Tuple of three Tensors of the shape of `indices`: the rows of the cache, -1 for rows that are not cached; the
        positions of the missing rows in `indices`, -1 for the others; and the missing rows themselves, -1 for the
        others.

    Raises:
        TypeError: If the types are not int32 or int64, or not the same.
        ValueError: If `hashmap` does not have the shape (n, 4).
    """
    _check_hash_table("SearchCacheIdx", hashmap, indices=indices)
    length, kind = hashmap.shape[0], hashmap.dtype
    keys, tags = hashmap[:, _KEY], hashmap[:, _TAG]

    def search(key):
        place, _ = _find_entry((length, lambda e: (tags[e] == 0) | (keys[e] == key)), _hash_key(key, length))
        return place, (tags[place] != 0) & (keys[place] == key) & (key != emb_max_num)

    flat = indices.reshape(-1)
    entries, is_cached = jax.vmap(search)(flat)
    hashmap = hashmap.at[jnp.where(is_cached, entries, length), _STEP].set(step, mode="drop")
    is_ignored = flat == emb_max_num
    missing = ~is_cached & ~is_ignored
    cached = jnp.where(is_ignored, cache_max_num, jnp.where(is_cached, hashmap[entries, _VALUE], -1))
    results = cached, jnp.where(missing, jnp.arange(flat.size), -1), jnp.where(missing, flat, -1)
    return hashmap, *[r.astype(kind).reshape(indices.shape) for r in results]


@operator(writes=("hashmap",))
def CacheSwapHashmap(hashmap, miss_emb_idx, step: Int):
    """Insert missing rows into the hash table of a cache. Each replaces an entry that was used neither in this step nor
    in the previous step.

    Inputs:
        - **hashmap** (Parameter) - (n, 4), the table of `SearchCacheIdx`, which is updated in place.
        - **miss_emb_idx** (Tensor) - The missing rows, of the element type of `hashmap`; -1 is skipped.
        - **step** (int) - The step of the training.

    Outputs:
        Tuple of two Tensors of the shape of `miss_emb_idx`: the cache row that each missing row gets, and the row of
        the large table that it replaces. Both are -1 for a skipped element.

    Raises:
        TypeError: If the types are not int32 or int64, or not the same.
        ValueError: If `hashmap` does not have the shape (n, 4).
    """
    _check_hash_table("CacheSwapHashmap", hashmap, miss_emb_idx=miss_emb_idx)
    length, kind = hashmap.shape[0], hashmap.dtype
    flat = miss_emb_idx.reshape(-1)

    def swap(table, key):
        free, tag = _find_entry((length, lambda e: table[e, _TAG] == 0), _hash_key(key, length))
        table = table.at[free].set(jnp.stack([key, table[free, _VALUE], jnp.asarray(step, kind), tag]))
        unused = lambda e: (table[e, _TAG] != 0) & (table[e, _STEP] < step - 1)  # noqa: E731
        old, _ = _find_entry((length, unused), free + 1)
        gone, value = table[old, _KEY], table[old, _VALUE]
        table = table.at[free, _VALUE].set(value).at[old, _TAG].set(0)
        return _close_gap(table, old), (value, gone)

    def step_of(table, key):
        none = jnp.full_like(key, -1)
        return lax.cond(key < 0, lambda t: (t, (none, none)), lambda t: swap(t, key), table)

    hashmap, results = lax.scan(step_of, hashmap, flat)
    return hashmap, *[r.reshape(miss_emb_idx.shape) for r in results]


def _close_gap(table, hole):
    """Fill the emptied entry `hole`: move back later entries whose search would otherwise stop at it."""
    length = table.shape[0]

    def goes_on(state):
        table, _, entry, off = state
        return (table[entry, _TAG] != 0) & (off <= length)

    def move(state):
        table, hole, entry, off = state
        tag = table[entry, _TAG]
        moved = table.at[hole].set(table[entry].at[_TAG].set(tag - off)).at[entry, _TAG].set(0)
        moves = tag > off
        table = jnp.where(moves, moved, table)
        return table, jnp.where(moves, entry, hole), (entry + 1) % length, jnp.where(moves, 0, off) + 1

    return lax.while_loop(goes_on, move, (table, hole, (hole + 1) % length, jnp.ones_like(hole)))[0]


@operator(generation=2)
def MapUniform(input, per_group_size: Int, group_num: Int):
    """Distribute keys over groups in turn: key % group_num * per_group_size + key // group_num.

    Inputs:
        - **input** (Tensor) - Keys, int32 or int64; in MindSpore 2 also int16.
        - **per_group_size** (int) - Capacity of a group.
        - **group_num** (int) - Number of groups.

    Outputs:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `input` does not consist of int32 or int64.
        ValueError: If `group_num` is not positive.

    Examples:
        >>> print(ops.MapUniform()(Tensor([0, 1, 2, 3, 4, 5], mindspore.int32), 3, 2))
        [0 3 1 4 2 5]
    """
    dtype_in("MapUniform", "input", input, INDEX, api2=frozenset({np.dtype(np.int16)}))
    if group_num < 1:
        raise ValueError(f"For 'MapUniform', 'group_num' should be positive, but got {group_num}.")
    return input % group_num * per_group_size + input // group_num


@host_operator()
class SubAndFilter(HostPrimitive):
    """Select the numbers in [offset, offset + max_num), and subtract `offset`. This does not run in a compiled graph,
    because the length of the result depends on data.

    Inputs:
        - **input_x** (Tensor) - Integers.
        - **max_num** (int) - Length of the range.
        - **offset** (int) - First number of the range.

    Outputs:
        A tuple of the selected numbers minus `offset`, and their indices in `input_x`.

    Raises:
        TypeError: If an input has the wrong type.

    Examples:
        >>> print(ops.SubAndFilter()(Tensor([1, 3, 5, 8, 9, 16], mindspore.int32), 10, 5)[0])
        [0 3 4]
    """

    def __call__(self, input_x: Tensor, max_num: int, offset: int) -> tuple[Tensor, Tensor]:
        max_num, offset = (
            check(Int, n, name, "SubAndFilter") for n, name in ((max_num, "max_num"), (offset, "offset"))
        )
        (numbers,) = self.values_of(tensor_argument("SubAndFilter", "input_x", input_x))
        less = numbers - numbers.dtype.type(offset)
        indices = np.flatnonzero((less >= 0) & (less < max_num))
        return Tensor(less[indices]), Tensor(indices.astype(numbers.dtype))


CASES = [
    case(SearchCacheIdx, Values(_TABLE), Values([10, 2, 25, 5, 3]), 0, 25, 10).results(),
    case(CacheSwapHashmap, Values(_TABLE), Values([-1, 20, 5]), 0).results(),
    refused(ValueError, SearchCacheIdx, Values([[1, 2]]), Values([1]), 0, 25, 10),
    refused(TypeError, CacheSwapHashmap, Values(_TABLE), Values([1.5]), 0),
    case(MapUniform, Values([[0, 7], [5, 3]], "int32"), 4, 2),
    case(SubAndFilter, Values([1, 3, 5, 8, 9, 16], "int32"), 10, 5).without("graph", "its shapes depend on values"),
]
