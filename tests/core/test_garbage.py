"""Large things are built while the garbage collector waits."""

import gc

import jax
import numpy as np
import pytest
from jax.extend.core import Primitive
from jax.interpreters import mlir

from msnb import Tensor, context
from msnb._util import gc_pause
from msnb.core.tensor.tensor import box
from msnb.core.transforms.jit import jit


@pytest.fixture(autouse=True)
def collecting():
    gc.enable()
    yield
    gc.enable()


@gc_pause.without_gc
def build(fail=False):
    assert not gc.isenabled()
    if fail:
        raise KeyError("gone")
    return inner()


@gc_pause.without_gc
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


def test_after_a_stop_the_collector_does_not_visit_what_was_built():
    built = []

    @gc_pause.without_gc
    def build_and_stop():
        built.extend([] for _ in range(1000))
        raise KeyboardInterrupt

    n_frozen = gc.get_freeze_count()  # the tests have frozen what they import
    gc.unfreeze()
    try:
        with pytest.raises(KeyboardInterrupt):
            build_and_stop()
        assert gc.isenabled() and not gc.get_freeze_count()
        visited_next = {id(item) for number in (0, 1) for item in gc.get_objects(generation=number)}
        assert not visited_next & set(map(id, built))
    finally:
        if n_frozen:
            gc.freeze()


def test_it_waits_while_a_program_is_traced_and_lowered():
    looked = []

    def seen(x, **_):
        looked.append(gc.isenabled())
        return x

    noticed = Primitive("noticed")
    noticed.def_abstract_eval(seen)
    mlir.register_lowering(noticed, mlir.lower_fun(seen, multiple_results=False))
    context.set_context(mode=context.GRAPH_MODE)
    jit(lambda x: box(jax.jit(noticed.bind)(x._array)))(Tensor(np.ones(3, np.float32))).asnumpy()
    assert len(looked) >= 2 and not any(looked) and gc.isenabled()
