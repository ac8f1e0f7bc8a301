"""Layers and losses against MindSpore 2.7.1 on CPU (golden/make_layers.py says how), in both modes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sweeps import swept

import msnb as ms
from msnb import context

_path = Path(__file__).parents[1] / "golden" / "make_layers.py"
_spec = importlib.util.spec_from_file_location("make_layers", _path)
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)
KEPT = np.load(golden.FILE)
_results = {}


@pytest.fixture(autouse=True)
def _pynative_afterwards():
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def _run(name, mode):
    if (name, mode) not in _results:
        context.set_context(mode=mode)
        _results[name, mode] = golden.run(ms, name)
    return _results[name, mode]


@pytest.mark.parametrize("name", golden.CASES)
def test_a_layer_gives_what_mindspore_gives(name):
    got = _run(name, context.PYNATIVE_MODE)
    expected = {key.split("/")[1]: KEPT[key] for key in KEPT.files if key.startswith(f"{name}/")}
    assert list(expected.pop("names")) == list(got["names"])
    for key, value in expected.items():
        assert got[key].dtype == value.dtype, key
        assert got[key].shape == value.shape, key
        np.testing.assert_allclose(got[key], value, rtol=1e-4, atol=5e-6, err_msg=key)


def made_of(name):
    """The class of a layer and whether it is trained, for which its `construct` may branch."""
    expression, _, *kind = golden.CASES[name]
    return expression.partition("(")[0], *kind


# Up to "dense" stand activations of one operator, which is the same program in both modes.
@pytest.mark.parametrize("name", swept(list(golden.CASES)[list(golden.CASES).index("dense") :], made_of))
def test_both_modes_agree(name):
    pynative, graph = _run(name, context.PYNATIVE_MODE), _run(name, context.GRAPH_MODE)
    assert pynative.keys() == graph.keys()
    for key, value in pynative.items():
        if key != "names":
            np.testing.assert_allclose(graph[key], value, rtol=1e-5, atol=3e-6, err_msg=key)
