"""The same seed gives the same order and the same pictures as MindSpore 2.7.1 gave; these numbers were taken from
it.
"""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import msnb.dataset as ds
import msnb.dataset.vision.c_transforms as CV
from msnb.dataset.core.streams import Mt32, Mt64, ShuffleBuffer

A = np.arange(12)
IMAGE = (np.arange(12 * 12 * 3).reshape(12, 12, 3) * 7 % 256).astype(np.uint8)


def two_epochs(dataset):
    it = dataset.create_tuple_iterator(num_epochs=2, output_numpy=True)
    return [[int(r[0]) for r in it] for _ in range(2)]


@pytest.mark.parametrize(
    "make, wanted",
    [
        (lambda: ds.RandomSampler(), [[11, 8, 5, 2, 10, 6, 7, 1, 9, 0, 4, 3], [4, 7, 5, 0, 8, 2, 10, 9, 3, 1, 11, 6]]),
        (lambda: ds.RandomSampler(True, 6), [[2, 0, 10, 9, 2, 4], [10, 11, 3, 2, 9, 0]]),
        (lambda: ds.SubsetRandomSampler([1, 3, 5, 7, 9]), [[7, 9, 1, 3, 5], [3, 5, 7, 9, 1]]),
        (lambda: ds.WeightedRandomSampler([1, 2, 3, 4, 5, 6, 1, 1, 1, 1, 1, 1], 8), [[1, 7, 3, 11, 1, 4, 3, 4]] * 2),
    ],
)
def test_samplers_draw_what_mindspore_draws(make, wanted):
    ds.config.set_seed(5)
    assert two_epochs(ds.NumpySlicesDataset(A, sampler=make())) == wanted


def test_shuffle_draws_what_mindspore_draws():
    ds.config.set_seed(5)
    assert two_epochs(ds.NumpySlicesDataset(A, shuffle=False).shuffle(4)) == [
        [2, 0, 4, 3, 5, 1, 9, 8, 7, 10, 11, 6],
        [1, 2, 3, 5, 6, 7, 8, 0, 4, 9, 10, 11],
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 900), max_size=3), st.integers(1, 700))
def test_vectorised_draws_equal_single_draws(seed, lengths, size):
    """Of lists in turn, so that each begins where the last one left the stream."""
    one, other = Mt64(seed), Mt64(seed)
    for length in lengths:
        items = list(range(length))
        assert ShuffleBuffer(size, one).permuted(items) == list(ShuffleBuffer(size, other).order(items))
        assert one.raw() == other.raw()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3000), st.integers(0, 300))
def test_a_shuffle_is_a_permutation_and_advances_the_stream_correctly(seed, length, before):
    one, other = Mt32(seed), Mt32(seed)
    for _ in range(before):
        one.raw()
    other.raws(before)
    items = one.shuffle(list(range(length)))
    assert sorted(items) == list(range(length)) and items == other.shuffle(list(range(length)))
    assert one.raw() == other.raw()


@pytest.mark.parametrize(
    "op, md5",
    [
        (CV.RandomCrop(8, padding=2), "4e9fc9b410cd91533a845ab3dfffaeb4"),
        (CV.RandomHorizontalFlip(0.5), "80cbc7c3af2b8d36761e9f628166f089"),
        (CV.RandomResizedCrop(6), "70cf5c5deb227d92487a09de9379fae1"),
        (CV.Resize((7, 9)), "d03191f2dcb16a0a480deb1b9c46ba21"),
        (CV.RandomRotation(30), "6210372176c30f8df0869a7ab4ebefb3"),
        (CV.Equalize(), "26035b9e91031fd69168a84329c21bda"),
        (CV.AutoContrast(), "6def8a8f25bf3eec60da2561959ccacf"),
        (CV.CutOut(3, 2), "068d76b887bd4f3b1b633bf46a5185c7"),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, str) else "",
)
@pytest.mark.parametrize("workers", [1, 4])
def test_pictures_are_those_of_mindspore_bit_for_bit(op, md5, workers):
    ds.config.set_seed(3)
    d = ds.NumpySlicesDataset([IMAGE] * 4, ["image"], shuffle=False).map([op], ["image"], num_parallel_workers=workers)
    digest = hashlib.md5()
    for row in d.create_tuple_iterator(num_epochs=1, output_numpy=True):
        digest.update(np.ascontiguousarray(row[0]).tobytes())
    assert digest.hexdigest() == md5
