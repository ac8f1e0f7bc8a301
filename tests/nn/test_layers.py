"""Layers and losses against MindSpore 2.7.1 on CPU (golden/make_layers.py says how), in both modes."""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sweeps import split, swept

import msnb as ms
from msnb import context

_path = Path(__file__).parents[1] / "golden" / "make_layers.py"
_spec = importlib.util.spec_from_file_location("make_layers", _path)
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)
KEPT = np.load(golden.FILE)
TOGETHER = 8  # layers that are one program: to compile each alone takes longer


@pytest.fixture(autouse=True)
def _pynative_afterwards():
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def compare(name, got):
    """Compare the result of a layer with the golden one of MindSpore."""
    expected = {key.split("/")[1]: KEPT[key] for key in KEPT.files if key.startswith(f"{name}/")}
    assert list(expected.pop("names")) == list(got["names"])
    for key, value in expected.items():
        assert got[key].dtype == value.dtype, key
        assert got[key].shape == value.shape, key
        np.testing.assert_allclose(got[key], value, rtol=1e-4, atol=5e-6, err_msg=key)


def run_layers(names):
    """Return {name: what `golden.run` gives} of layers, all from one program."""
    cases, keys = {name: golden.made(ms, name) for name in names}, {}

    def run():
        results = {
            n: golden.outputs(net, x) | golden.gradients(ms, net, x, kind) for n, (net, x, kind) in cases.items()
        }
        keys.update({name: list(values) for name, values in results.items()})
        return tuple(tuple(values.values()) for values in results.values())

    results = {
        name: {key: x.asnumpy() for key, x in zip(keys[name], values, strict=True)}
        for name, values in zip(names, ms.jit(run)(), strict=True)
    }
    for name, (net, *_) in cases.items():
        results[name]["names"] = np.array([path for path, _ in net.parameters_and_names()])
    return results


def class_of(name):
    """Return a layer's class, and whether it is trained, for which its `construct` may branch."""
    expression, _, *remarks = golden.CASES[name]
    return expression.partition("(")[0], *remarks


# The first case of each class, and then the others, which are slow.
OF_CLASSES, OTHERS = split(golden.CASES, class_of)
STATELESS = [[name for name in names if not golden.keeps_state(name)] for names in (OF_CLASSES, OTHERS)]
COMPANIES = {
    name: tuple(names[i : i + TOGETHER])
    for names in STATELESS
    for i in range(0, len(names), TOGETHER)
    for name in names[i : i + TOGETHER]
}


@functools.lru_cache(2)
def run_company(names):
    """Return the results of eight layers; an empty dict if one of them raises, so that each is tried alone."""
    try:
        return run_layers(names)
    except Exception:
        return {}


@pytest.mark.parametrize("name", [*OF_CLASSES, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_a_layer_gives_what_mindspore_gives_in_a_graph(name):
    context.set_context(mode=context.GRAPH_MODE)
    if golden.keeps_state(name):
        compare(name, golden.run(ms, name))
    else:
        result = run_company(COMPANIES[name]) or run_layers([name])
        compare(name, result[name])


# Step by step each operator is its own program, which takes far longer to compile. The operators are the same, and the
# examples of each layer run step by step, too (test_examples.py): here is the first layer of each remark.
@pytest.mark.parametrize("name", swept(golden.CASES, lambda name: golden.CASES[name][2:]))
def test_so_it_does_step_by_step(name):
    context.set_context(mode=context.PYNATIVE_MODE)
    compare(name, golden.run(ms, name))
