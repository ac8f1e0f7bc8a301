"""The table of a cache of embeddings, against one that Python probes place by place."""

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context
from msnb.ops import operations as P

LENGTH = 11
KEY, VALUE, STEP, TAG = range(4)


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request):
    context.set_context(mode=request.param)


def probe_positions(key):
    """Return every entry in the order in which `key` is looked for."""
    part = 0.6180339 * key
    first = int((part - np.floor(part)) * LENGTH)
    return [(first + i) % LENGTH for i in range(LENGTH)]


def table(keys, steps):
    """Return a table that holds `keys`, each at its step and at the row of the cache that its place in the list is."""
    entries = np.zeros((LENGTH, 4), np.int32)
    for row, (key, step) in enumerate(zip(keys, steps, strict=True)):
        tag, entry = next((n, e) for n, e in enumerate(probe_positions(key), 1) if entries[e, TAG] == 0)
        entries[entry] = key, row, step, tag
    return entries


def rows_by_key(table):
    """Return {key: row of the cache} as a search that stops at an empty entry finds them."""
    results = {}
    for key in {int(entry[KEY]) for entry in table if entry[TAG]}:
        for tag, entry in enumerate(probe_positions(key), 1):
            if table[entry, TAG] == 0:
                break
            if table[entry, KEY] == key:
                assert table[entry, TAG] == tag
                results[key] = int(table[entry, VALUE])
                break
    return results


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_looked_up_and_marked_with_the_step(seed):
    rng = np.random.default_rng(seed)
    keys = rng.choice(40, 7, replace=False)
    hashmap = Parameter(Tensor(table(keys, [-5] * 7)), name="hashmap")
    asked = np.concatenate([keys[:3], [50, 41, 40, 42]]).astype(np.int32)
    cached, places_missing, missing = (
        t.asnumpy().tolist() for t in P.SearchCacheIdx()(hashmap, Tensor(asked), 3, 50, 9)
    )
    assert cached == [0, 1, 2, 9, -1, -1, -1]
    assert places_missing == [-1, -1, -1, -1, 4, 5, 6]
    assert missing == [-1, -1, -1, -1, 41, 40, 42]
    assert {e[KEY] for e in hashmap.asnumpy() if e[TAG] and e[STEP] == 3} == set(keys[:3])


@pytest.mark.parametrize("seed", range(4))
def test_missing_rows_take_the_place_of_those_that_nobody_uses(seed):
    rng = np.random.default_rng(seed)
    keys = rng.choice(40, 7, replace=False)
    before = table(keys, [-5, 0, -5, 0, -5, 0, -5])
    hashmap = Parameter(Tensor(before), name="hashmap")
    new = Tensor(np.array([[60, -1], [-1, 61]], np.int32))
    freed, gone = P.CacheSwapHashmap()(hashmap, new, 1)
    assert freed.shape == gone.shape == (2, 2) and freed.dtype == ms.int32
    freed, gone = freed.asnumpy().reshape(-1), gone.asnumpy().reshape(-1)
    assert freed[1] == freed[2] == gone[1] == gone[2] == -1
    assert {*gone[[0, 3]]} < {*keys[::2]} and [list(keys).index(k) for k in gone[[0, 3]]] == list(freed[[0, 3]])
    want = {int(k): row for row, k in enumerate(keys) if k not in gone}
    assert rows_by_key(hashmap.asnumpy()) == {**want, 60: freed[0], 61: freed[3]}
