"""MindSpore 2's namespace: other where the two disagree, the same classes, and both side by side."""

import copy
import importlib.util
import inspect
import pickle
import runpy
import sys
from abc import ABC
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
import msnb.mindspore2 as ms2
import msnb.mindspore2.nn as nn2
import msnb.mindspore2.ops.operations as P2
from msnb import alias, amp, nn
from msnb.core.operator import api_generations
from msnb.core.operator.api_generations import DIFFERENCES, REPLACED, as_api2
from msnb.core.operator.declare import SPELLINGS
from msnb.ops import operations as P

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
SECOND, OPTIMIZERS = (runpy.run_path(str(GOLDEN / f"make_{name}.py")) for name in ("second", "optim"))
X = ms.Tensor([[1.0, 2.0], [4.0, 3.0]])


@pytest.fixture
def shared():
    """share(generation), until the test is over."""
    yield api_generations.share
    api_generations.share(1)


CLASSES = [cls for cls in DIFFERENCES if isinstance(cls, type) and cls not in REPLACED]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_class_of_the_second_generation_makes_the_first_s_with_its_own_defaults(cls):
    other, (_, order, defaults, *_) = as_api2(cls), DIFFERENCES[cls]
    assert other is not cls and other == cls and cls == other and {cls: 1}[other] == 1
    assert pickle.loads(pickle.dumps(other)) is other and issubclass(cls, other) and issubclass(other, cls)
    rows = inspect.signature(other).parameters
    assert list(rows)[: len(order)] == list(order)
    assert list(inspect.signature(other.__init__).parameters)[1:] == list(rows)
    first = inspect.signature(cls).parameters
    assert {n: rows[n].default for n in defaults} == defaults
    assert all(rows[n].default == first[n].default for n in first if n not in defaults)
    if defaults or order:
        assert any(first[n].default != v for n, v in defaults.items()) or list(first)[: len(order)] != list(order)
    else:  # it asks within its constructor
        above = inspect.getsource(sys.modules[cls.__module__]) + inspect.getsource(amp)
        assert "current_generation()" in above
    other.noted = 1
    assert cls.noted == 1
    del other.noted
    assert not hasattr(cls, "noted")


def test_a_method_that_a_program_replaces_is_that_of_all_there_are():
    class Mine(nn2.Dense):
        def __init__(self):
            super().__init__(2, 2)

    layer, before = nn2.Dense(2, 2), nn2.Dense.construct
    nn2.Dense.construct = lambda self, x: x + 1
    try:
        assert layer(X).asnumpy().tolist() == Mine()(X).asnumpy().tolist() == [[2.0, 3.0], [5.0, 4.0]]
    finally:
        nn2.Dense.construct = before
    assert layer(X).shape == (2, 2) and nn.Dense.construct is before


def test_a_constructor_that_a_program_wraps_is_that_of_all_to_come():
    class Mine(nn2.Dense):
        def __init__(self):
            super().__init__(2, 2)

    before = nn2.Dense.__init__, nn.Dense.__init__

    def marked(self, *args, **kwargs):
        before[0](self, *args, **kwargs)
        self.mark = True

    nn2.Dense.__init__ = marked
    try:
        assert nn2.Dense(2, 2).mark and Mine().mark
    finally:
        nn2.Dense.__init__, nn.Dense.__init__ = before
    assert not hasattr(nn2.Dense(2, 2), "mark") and not hasattr(Mine(), "mark")


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
@pytest.mark.parametrize("case", SECOND["CASES"])
def test_a_name_gives_what_mindspore_2_gives(shared, case, mode):
    ms.set_context(mode=mode)
    shared(2)
    result = SECOND["stored"](SECOND["CASES"][case](ms2))
    golden = {name: array for name, array in np.load(GOLDEN / "second.npz").items() if name.startswith(f"{case}/")}
    assert len(result) == len(golden) > 0
    for name, array in result.items():
        expected = golden[f"{case}/{name}"]
        assert array.dtype.kind == expected.dtype.kind and array.shape == expected.shape
        if array.dtype.kind == "U":
            assert array == expected
        else:
            # MindSpore's own sigmoid is exact to 1e-5.
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=3e-5, err_msg=name)


@pytest.mark.parametrize("case", [case for case in OPTIMIZERS["CASES"] if not case.startswith("experimental")])
def test_an_optimizer_has_the_state_of_mindspore_2_and_goes_its_steps(case):
    result = OPTIMIZERS["run_case"](ms2, case)
    golden = {
        k.removeprefix(f"{case}/"): v for k, v in np.load(GOLDEN / "optim.npz").items() if k.startswith(f"{case}/")
    }
    named = {name for name in golden if not name.startswith("Parameter$")}  # a number of AdaFactor's
    assert named == result.keys() and "global_step" in named
    for name, array in result.items():
        if not name.startswith("stat."):  # what MindSpore keeps there is of no use
            np.testing.assert_allclose(array.ravel(), golden[name].ravel(), rtol=1e-5, atol=1e-6, err_msg=name)


def test_the_result_is_a_plain_layer_with_other_weights():
    layer = nn2.Dense(64, 64)
    assert type(layer) is nn.Dense and isinstance(layer, nn2.Dense) and isinstance(nn.Dense(1, 1), nn2.Dense)
    bound = 1 / 8  # sqrt(6 / ((1 + 5) 64))
    weight, bias = layer.weight.asnumpy(), layer.bias.asnumpy()
    assert bound * 0.95 < abs(weight).max() <= bound and abs(weight).std() > bound / 4
    assert 0 < abs(bias).max() <= bound and not nn.Dense(64, 64).bias.asnumpy().any()
    assert abs(nn.Dense(64, 64).weight.asnumpy()).std() < 0.01
    assert nn2.Dense(2, 2, weight_init="ones").weight.asnumpy().tolist() == [[1, 1], [1, 1]]
    assert type(copy.deepcopy(layer)) is type(pickle.loads(pickle.dumps(layer))) is nn.Dense
    conv = nn2.Conv2dTranspose(4, 8, 3, has_bias=True)
    assert abs(conv.bias.asnumpy()).max() <= 1 / np.sqrt(8 * 9)


def test_a_class_that_a_program_derives_takes_the_second_generation_s_defaults():
    class Wide(nn2.Dense, ABC):
        def __init__(self, width):
            assert list(inspect.signature(super().__init__).parameters) == list(inspect.signature(nn2.Dense).parameters)
            super().__init__(width, 2 * width)

    wide = Wide(3)
    assert type(wide) is Wide and isinstance(wide, nn.Dense) and not isinstance(nn.Dense(1, 1), Wide)
    assert wide.bias.asnumpy().any() and list(inspect.signature(Wide).parameters) == ["width"]
    assert wide(ms.Tensor(np.ones((1, 3), np.float32))).shape == (1, 6)
    assert nn.Dense not in (Wide,) and issubclass(Wide, nn2.Dense) and not issubclass(nn.Dense, Wide)


def test_modules_show_msnb_s_own_but_for_what_differs():
    assert ms2.nn is nn2 and nn2.ReLU is nn.ReLU and nn2.Dense is not nn.Dense
    assert nn2.layer.basic.Dense is nn2.Dense and nn2.layer.Conv2d is nn2.Conv2d
    assert ms2.Tensor is ms.Tensor and P2.TopK().sorted and not P.TopK().sorted and P2.ReLU is P.ReLU
    assert ms2.__version__ == "2.10.0" and set(dir(nn2)) == set(dir(nn)) and nn2.__file__ == nn.__file__
    space = {}
    exec("from msnb.mindspore2.nn import *\nfrom msnb.mindspore2 import *", space)
    assert space["Dense"] is nn2.Dense and space["Tensor"] is ms.Tensor
    with pytest.raises(AttributeError, match="Nope"):
        _ = nn2.Nope
    with pytest.raises(ImportError):
        import msnb.mindspore2.nope  # noqa: F401
    assert not isinstance(ms.nn, type(nn2)) and not isinstance(ms.ops.operations, type(nn2))  # msnb has its own still
    nn2.own_name = 3
    assert nn.own_name == 3
    del nn2.own_name
    assert not hasattr(nn, "own_name") and not hasattr(nn2, "own_name")


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_what_tensors_do_follows_the_choice_and_compiled_programs_too(shared, mode):
    ms.set_context(mode=mode)

    class Largest(nn.Cell):
        def construct(self, x):
            return x.max(1)

    net = Largest()
    assert net(X).asnumpy().tolist() == [2, 4]
    shared(2)
    values, places = net(X)
    assert values.asnumpy().tolist() == [2, 4] and places.asnumpy().tolist() == [1, 0]
    assert X.max().asnumpy() == 4 and X.max((0, 1)).asnumpy() == 4 and X.min(axis=0).asnumpy().tolist() == [1, 2]
    assert X.min(0, True)[0].shape == (1, 2) and repr(nn.ReLU()) == "ReLU()"
    assert repr(nn.SequentialCell(nn.ReLU())) == "SequentialCell(\n  (0): ReLU()\n)"
    shared(1)
    assert net(X).asnumpy().tolist() == [2, 4] and repr(nn.ReLU()) == "ReLU<>"


def test_imports_of_other_packages_do_not_reach_the_finder(monkeypatch):
    asked = []
    find_spec = ms2._Finder.find_spec

    def record(self, name, path=None, target=None):
        asked.append(name)
        return find_spec(self, name, path, target)

    monkeypatch.setattr(ms2._Finder, "find_spec", record)
    assert importlib.util.find_spec("colorsys") and importlib.util.find_spec("msnb.nn.cell")
    assert not asked
    monkeypatch.delitem(sys.modules, "msnb.mindspore2.ops", raising=False)
    assert importlib.util.find_spec("msnb.mindspore2.ops") and asked == ["msnb.mindspore2.ops"]


def test_a_checkpoint_of_the_one_loads_into_the_other(tmp_path):
    file = str(tmp_path / "net.ckpt")
    ms2.save_checkpoint(nn2.Dense(2, 3), file)
    net = nn.Dense(2, 3)
    assert not ms.load_param_into_net(net, ms.load_checkpoint(file))
    assert net.bias.asnumpy().any()


def test_each_of_two_spellings_says_how_it_differs():
    for kind, name, generation in SPELLINGS:
        if generation == 2 and (kind, name, 1) in SPELLINGS:
            assert SPELLINGS[kind, name, 2].target in DIFFERENCES, f"@differs for {kind} {name}"


def test_modules_keep_what_they_were_imported_under(fresh, tmp_path):
    (tmp_path / "old.py").write_text("from mindspore import nn\nimport mindspore\n")
    (tmp_path / "new.py").write_text("from mindspore import nn\nimport mindspore\n")
    done = fresh.run(
        """
import msnb.alias as alias
alias.install()
import old
alias.install(api=2)
import new, mindspore.nn
print(alias.api(), old.mindspore.__version__, new.mindspore.__version__, old.nn.BCELoss().reduction)
print(new.nn.BCELoss().reduction, mindspore.nn is new.nn is new.mindspore.nn, old.nn.Dense == new.nn.Dense)
alias.install(api=1)
import mindspore
print(mindspore is old.mindspore, new.nn.BCELoss().reduction)
alias.uninstall()
print(alias.hidden(), alias.api())
""",
        tmp_path,
        path=[tmp_path],
    )
    assert done.out.splitlines() == ["2 1.1.1 2.10.0 none", "mean True True", "True mean", "None 1"], done.err


def test_the_environment_chooses_where_nobody_does(monkeypatch):
    assert alias.chosen() == 1 and alias.chosen(2) == 2
    monkeypatch.setenv("MSNB_API", "2")
    assert alias.chosen() == 2 and alias.chosen(1) == 1
    monkeypatch.setenv("MSNB_API", "3")
    with pytest.raises(ValueError, match="MSNB_API"):
        alias.chosen()
    with pytest.raises(ValueError, match="'api' should be 1"):
        alias.install(api=True)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("within", [True, False], ids=["in a Cell", "from outside"])
def test_gradients_of_all_inputs_are_those_of_tensors(mode, within):
    class Gradients(nn.Cell):
        def __init__(self, net, operation):
            super().__init__()
            self.net, self.operation = net, operation

        def construct(self, *inputs):
            return self.operation(self.net)(*inputs)

    def scaled(x, shape, times, y):
        return x.reshape(shape) * times + y.sum()

    ms.set_context(mode=mode)
    x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3.0])
    counts = []
    for module in (ms, ms2):
        operation = module.ops.GradOperation(get_all=True)
        gradients = Gradients(scaled, operation) if within else operation(scaled)
        result = gradients(x, (2, 1), 1.5, y)
        assert result[0].asnumpy().tolist() == [1.5, 1.5] and result[-1].asnumpy().tolist() == [2.0]
        counts.append(len(result))
    assert counts == [4, 2]


def test_a_group_norm_without_affine_has_parameters_that_are_not_trained():
    layer = nn2.GroupNorm(2, 4, affine=False)
    assert [(p.name, p.requires_grad) for p in layer.get_parameters()] == [("gamma", False), ("beta", False)]
    assert not list(nn.GroupNorm(2, 4, affine=False).get_parameters())
