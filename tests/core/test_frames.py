"""Within `roomy` no call asks the system for memory, however deep it stands."""

import resource
import sys

import pytest

from msnb.core.support.stack_headroom import with_headroom


def nothing(a, b, c, d):
    return a


def at_depth(depth, calls):
    if depth:
        return at_depth(depth - 1, calls)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for i in range(calls):
        nothing(i, i, i, i)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults of a thread")
def test_calls_at_any_depth_touch_no_new_memory():
    with_headroom(lambda: at_depth(300, 1))  # the pages of the room itself
    for depth in range(300):  # 300 frames cross a boundary of 16 kB at least once; there each call would be a fault
        assert with_headroom(lambda depth=depth: (at_depth(299, 1), at_depth(depth, 300)))[1] < 150


def test_a_result_and_an_error_pass_through():
    assert with_headroom(lambda: 3) == 3
    with pytest.raises(KeyError):
        with_headroom(lambda: {}["x"])
