"""Large things are built while the garbage collector waits."""

import gc

import pytest

from msnb.core import garbage


@pytest.fixture(autouse=True)
def collecting():
    gc.enable()
    yield
    gc.enable()


@garbage.later
def build(fail=False):
    assert not gc.isenabled()
    if fail:
        raise KeyError("gone")
    return inner()


@garbage.later
def inner():
    return gc.isenabled()


def test_the_garbage_waits_until_the_outermost_has_ended():
    assert build() is False and gc.isenabled()
    with pytest.raises(KeyError):
        build(fail=True)
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    build()
    assert not gc.isenabled()
