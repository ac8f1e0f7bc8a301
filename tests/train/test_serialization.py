"""Checkpoints: what is saved comes back, here and in MindSpore; what does not fit changes nothing."""

import os
import runpy
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn
from msnb.core.operator import api_generations

GOLDEN = Path(__file__).parent.parent / "golden"
recipe = runpy.run_path(str(GOLDEN / "make_optim.py"))


def values_of(net):
    return {p.name: p.asnumpy() for p in net.get_parameters()}


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "net.ckpt")


def test_a_network_comes_back_as_it_was(make_net, path):
    net, other = make_net(), make_net()
    for p in other.get_parameters():
        p.set_data(Tensor(np.full(p.shape, 7, np.float32)))
    ms.save_checkpoint(net, path)
    loaded = ms.load_checkpoint(path)
    assert all(isinstance(p, Parameter) and p.name == name for name, p in loaded.items())
    assert ms.load_param_into_net(other, loaded) == []
    assert_same(values_of(net), values_of(other))
    assert oct(os.stat(path).st_mode)[-3:] == "400"
    ms.save_checkpoint(net, path)  # read-only files are replaced


def test_load_checkpoint_fills_a_network_on_the_way(make_net, path):
    net, other = make_net(), make_net()
    net.fc2.bias.set_data(Tensor(np.array([1, 2, 3], np.float32)))
    ms.save_checkpoint(net, path)
    ms.load_checkpoint(path, net=other)
    assert other.fc2.bias.asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "dtype", ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float64", "bfloat16"]
)
def test_every_type_and_every_rank_comes_back(dtype, path):
    items = [
        {"name": f"p{i}", "data": Tensor(np.ones(shape, np.float32), getattr(ms, dtype))}
        for i, shape in enumerate([(), (1,), (0,), (3,), (2, 1, 3)])
    ]
    ms.save_checkpoint(items, path)
    loaded = ms.load_checkpoint(path)
    for item in items:
        assert loaded[item["name"]].shape == item["data"].shape
        assert loaded[item["name"]].dtype == getattr(ms, dtype)
        np.testing.assert_array_equal(loaded[item["name"]].asnumpy(), item["data"].asnumpy())


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def test_training_goes_on_from_a_checkpoint_of_mindspore_as_it_does_there(mode, tmp_path):
    context.set_context(mode=mode)
    path = str(tmp_path / "optim.ckpt")
    shutil.copy(GOLDEN / "optim.ckpt", path)
    step, batches = recipe["training_step"](ms)
    values = ms.load_checkpoint(path)
    assert set(values) == {p.name for p in step.get_parameters()}
    assert ms.load_param_into_net(step, values) == []
    golden = np.load(GOLDEN / "optim.npz")
    np.testing.assert_allclose(step(*batches[2]).asnumpy(), golden["resumed"], rtol=1e-5)
    for p in step.get_parameters():
        np.testing.assert_allclose(p.asnumpy(), golden[f"resumed/{p.name}"], rtol=1e-4, atol=1e-6, err_msg=p.name)


def test_saving_in_a_thread_keeps_the_values_of_the_moment(make_net, make_model, batches, path):
    context.set_context(mode=context.GRAPH_MODE)
    net = make_net()
    model = make_model(net)
    model.train(1, batches())
    before = values_of(model.train_network)
    ms.save_checkpoint(model.train_network, path, async_save=True)
    model.train(2, batches())
    for thread in threading.enumerate():
        if thread.name == "asyn_save_ckpt":
            thread.join()
    assert not ms.async_ckpt_thread_status()
    assert_same({n: p.asnumpy() for n, p in ms.load_checkpoint(path).items()}, before)


def test_loading_into_two_networks_shares_nothing(make_net, make_model, batches, path):
    context.set_context(mode=context.GRAPH_MODE)
    ms.save_checkpoint(make_net(), path)
    loaded = ms.load_checkpoint(path)
    nets = make_net(), make_net()
    for net in nets:
        ms.load_param_into_net(net, loaded)
    make_model(nets[0]).train(1, batches())
    make_model(nets[1]).train(1, batches())
    assert_same(values_of(nets[0]), values_of(nets[1]))
    assert_same({n: p.asnumpy() for n, p in loaded.items()}, values_of(make_net()))


def test_prefixes_choose_what_is_loaded(make_net, path):
    ms.save_checkpoint(make_net(), path)
    everything = set(ms.load_checkpoint(path))
    assert set(ms.load_checkpoint(path, filter_prefix="fc1")) == {n for n in everything if not n.startswith("fc1.")}
    assert set(ms.load_checkpoint(path, filter_prefix=["fc1.", "bn"])) == {"fc2.weight", "fc2.bias"}
    assert set(ms.load_checkpoint(path, filter_prefix="fc")) == everything
    assert set(ms.load_checkpoint(path, specify_prefix="fc1")) == {"fc1.weight", "fc1.bias"}
    assert set(ms.load_checkpoint(path, choice_func=lambda n: n.endswith("bias"))) == {"fc1.bias", "fc2.bias"}
    with pytest.raises(ValueError, match="filter_prefix"):
        ms.load_checkpoint(path, filter_prefix=["fc1", "fc2", "bn"])


def test_a_prefix_ends_anywhere_in_mindspore_2(make_net, path, monkeypatch):
    monkeypatch.setattr(api_generations, "shared", 2)
    ms.save_checkpoint(make_net(), path)
    everything = set(ms.load_checkpoint(path))
    assert set(ms.load_checkpoint(path, filter_prefix="fc")) == {n for n in everything if not n.startswith("fc")}
    assert set(ms.load_checkpoint(path, filter_prefix=["fc1.w", "b"])) == {"fc1.bias", "fc2.weight", "fc2.bias"}
    assert set(ms.load_checkpoint(path, specify_prefix=["fc1.w", "fc2.b"])) == {"fc1.weight", "fc2.bias"}


def test_a_prefix_that_the_checkpoint_has_in_addition_is_left_out_unless_strict(make_net):
    net = make_net()
    values = {f"backbone.{p.name}": Parameter(p.asnumpy() + 1, name=p.name) for p in net.get_parameters()}
    assert len(ms.load_param_into_net(net, values, strict_load=True)) == 8
    before = values_of(net)
    assert ms.load_param_into_net(net, values) == []
    assert_same(values_of(net), {n: v + 1 for n, v in before.items()})


def test_what_the_checkpoint_lacks_is_returned_and_what_it_has_too_much_ignored(make_net):
    net = make_net()
    values = {"fc1.bias": Parameter(np.ones(8, np.float32), name="fc1.bias"), "other": Parameter(1.0, name="other")}
    missing = ms.load_param_into_net(net, values)
    assert "fc1.bias" not in missing and len(missing) == 7
    assert net.fc1.bias.asnumpy().tolist() == [1.0] * 8


def test_axes_of_length_one_at_the_end_are_dropped(make_net):
    net = make_net()
    ms.load_param_into_net(net, {"fc1.bias": Parameter(np.ones((8, 1, 1), np.float32), name="fc1.bias")})
    assert net.fc1.bias.asnumpy().tolist() == [1.0] * 8


@pytest.mark.parametrize(
    ("error", "last"),
    [
        (RuntimeError, Parameter(np.ones(5, np.float32), name="fc2.bias")),
        (RuntimeError, Parameter(np.ones((1, 3), np.float32), name="fc2.bias")),
        (RuntimeError, Parameter(np.ones(3, np.float64), name="fc2.bias")),
        (RuntimeError, Parameter(np.ones(3, np.int32), name="fc2.bias")),
        (TypeError, Tensor(np.ones(3, np.float32))),
        (TypeError, np.ones(3, np.float32)),
    ],
)
def test_a_checkpoint_of_another_network_changes_nothing(error, last, make_net):
    net = make_net()
    before = values_of(net)
    values = {n: Parameter(v + 1, name=n) for n, v in before.items()}
    values["fc2.bias"] = last
    with pytest.raises(error, match="fc2.bias"):
        ms.load_param_into_net(net, values)
    assert_same(values_of(net), before)


def test_further_values_are_saved_with_a_network(make_net, path):
    extra = {"epoch": 3, "rate": 0.5, "done": True, "name": "net", "best": Tensor([1.0])}
    ms.save_checkpoint(make_net(), path, append_dict=extra, choice_func=lambda n: n.startswith("fc1"))
    loaded = ms.load_checkpoint(path)
    assert set(loaded) == {"fc1.weight", "fc1.bias", *extra}
    assert loaded["epoch"].asnumpy() == 3 and loaded["name"] == "net" and loaded["done"].dtype == ms.bool_


def test_folders_are_created_and_a_checksum_is_stored(make_net, tmp_path):
    path = str(tmp_path / "a" / "b" / "net.ckpt")
    ms.save_checkpoint(make_net(), path, crc_check=True)
    assert len(ms.load_checkpoint(path, crc_check=True)) == 8


def broken(kind, tmp_path):
    path = tmp_path / "broken.ckpt"
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("this is no checkpoint, whatever its name says" * 9)
    elif kind == "cut":
        path.write_bytes((GOLDEN / "optim.ckpt").read_bytes()[:-7])
    elif kind == "name":
        path = tmp_path / "net.pt"
        path.write_bytes(b"x")
    elif kind == "folder":
        path.mkdir()
    return str(path)


@pytest.mark.parametrize("kind", ["missing", "empty", "text", "cut", "name", "folder"])
def test_files_that_are_no_checkpoints_are_named(kind, tmp_path, make_net):
    net = make_net()
    before = values_of(net)
    path = broken(kind, tmp_path)
    with pytest.raises(ValueError, match=os.path.basename(path)):
        ms.load_checkpoint(path, net=net)
    assert_same(values_of(net), before)


@pytest.mark.parametrize(
    ("error", "act"),
    [
        (TypeError, lambda net, path: ms.save_checkpoint("net", path)),
        (TypeError, lambda net, path: ms.save_checkpoint(net, 1)),
        (TypeError, lambda net, path: ms.save_checkpoint(net, path, async_save=1)),
        (TypeError, lambda net, path: ms.save_checkpoint([1], path)),
        (TypeError, lambda net, path: ms.save_checkpoint([{"name": "a", "data": 1}], path)),
        (TypeError, lambda net, path: ms.save_checkpoint(net, path, append_dict={"a": [1]})),
        (ValueError, lambda net, path: ms.load_checkpoint(1)),
        (TypeError, lambda net, path: ms.load_checkpoint(str(GOLDEN / "optim.ckpt"), filter_prefix=1)),
        (TypeError, lambda net, path: ms.load_checkpoint(str(GOLDEN / "optim.ckpt"), filter_prefix=[1])),
        (ValueError, lambda net, path: ms.load_checkpoint(str(GOLDEN / "optim.ckpt"), filter_prefix=[])),
        (TypeError, lambda net, path: ms.load_param_into_net("net", {})),
        (TypeError, lambda net, path: ms.load_param_into_net(net, [])),
        (TypeError, lambda net, path: ms.load_param_into_net(net, {}, strict_load=1)),
        (ValueError, lambda net, path: ms.export(net, np.ones(2), file_name="net")),
        (ValueError, lambda net, path: ms.export(net, Tensor([1.0]), file_name=1)),
        (ValueError, lambda net, path: ms.export(net, Tensor([1.0]), file_name="net", file_format="PB")),
        (NotImplementedError, lambda net, path: ms.export(net, Tensor([1.0]), file_name="net", file_format="AIR")),
        (FileNotFoundError, lambda net, path: ms.parse_print("print.pb")),
    ],
)
def test_wrong_arguments_raise_mindspores_error_class(error, act, make_net, path):
    with pytest.raises(error) as info:
        act(make_net(), path)
    assert len(str(info.value)) > 20
    assert not os.path.exists(path)


def test_a_layer_can_be_replaced_for_fine_tuning(make_net, make_model, batches, path):
    ms.save_checkpoint(make_net(), path)
    net = make_net()
    net.fc2 = nn.Dense(8, 5)
    missing = ms.load_param_into_net(net, ms.load_checkpoint(path, filter_prefix="fc2"))
    assert missing == ["fc2.weight", "fc2.bias"]
    for p in net.fc1.get_parameters():
        p.requires_grad = False
    frozen = net.fc1.weight.asnumpy()
    model = make_model(net)
    assert "fc1.weight" not in {p.name for p in model._optimizer.parameters}
    model.train(1, batches())
    np.testing.assert_array_equal(net.fc1.weight.asnumpy(), frozen)


def test_one_parameter_takes_the_value_of_another_of_its_shape():
    from msnb.train.serialization import _update_param

    mine, other = (ms.Parameter(Tensor(values, ms.float32), name="w") for values in ([1.0, 2.0], [3.0, 4.0]))
    _update_param(mine, other)
    np.testing.assert_array_equal(mine.asnumpy(), [3.0, 4.0])
    half = ms.Parameter(Tensor([5.0, 6.0], ms.float16), name="w")
    _update_param(mine, half, False)
    assert mine.dtype == ms.float32 and mine.asnumpy()[0] == 5.0
    with pytest.raises(RuntimeError, match="is it the checkpoint of another network|Is it the checkpoint"):
        _update_param(mine, half, True)
