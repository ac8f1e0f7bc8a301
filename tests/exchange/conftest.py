"""Fixtures of the tests of file formats."""

import sys

import pytest
from mindir_files import GOLDEN

import msnb as ms
from msnb import nn, ops


@pytest.fixture(scope="module")
def networks():
    """Return the networks of `mindir_networks.py`, with msnb in place of MindSpore."""
    saved_modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "mindspore"}
    sys.modules.update({"mindspore": ms, "mindspore.nn": nn, "mindspore.ops": ops})
    sys.modules.update({"mindspore.common": ms.common, "mindspore.common.initializer": ms.common.initializer})
    sys.path.insert(0, str(GOLDEN))
    try:
        import mindir_networks

        yield mindir_networks.NETWORKS
    finally:
        sys.path.remove(str(GOLDEN))
        for name in [n for n in sys.modules if n.partition(".")[0] == "mindspore" or n == "mindir_networks"]:
            del sys.modules[name]
        sys.modules.update(saved_modules)
