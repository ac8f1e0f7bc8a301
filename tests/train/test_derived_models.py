"""Libraries derive from Model, replace its step, or build one with amp, beyond the public names."""

import numpy as np
import pytest

import msnb as ms
from msnb import Model, Tensor, nn
from msnb import dataset as ds
from msnb.parallel._utils import _get_device_num, _get_parallel_mode, _get_parameter_broadcast
from msnb.train import amp
from msnb.train.amp import _add_loss_network, _check_kwargs, _config_level, _do_keep_batchnorm_fp32
from msnb.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager


def batches():
    rows = np.random.RandomState(0).standard_normal((8, 3)).astype(np.float32)
    return ds.NumpySlicesDataset((rows, rows[:, :1]), ["data", "label"], shuffle=False).batch(4)


def make_parts():
    net = nn.Dense(3, 1)
    return net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.01, 0.9)


class OwnStep(Model):
    """Replaces the training step, out of what __init__ keeps."""

    def _build_train_network(self):
        self.seen = self._amp_level, self._keep_bn_fp32, self._loss_scale_manager_set, self._loss_scale_manager
        return amp.build_train_network(self._network, self._optimizer, self._loss_fn, level=self._amp_level)


class OwnStart(Model):
    """Does without Model's __init__."""

    def __init__(self, network, loss_fn, optimizer, metrics=None, amp_level="O0", **kwargs):
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._loss_scale_manager = None
        self._loss_scale_manager_set = False
        self._keep_bn_fp32 = True
        self._check_kwargs(kwargs)
        self._amp_level = amp_level
        self._process_amp_args(kwargs)
        self._parallel_mode = _get_parallel_mode()
        self._device_number = _get_device_num()
        self._parameter_broadcast = _get_parameter_broadcast()
        self._train_network = self._build_train_network()
        self._build_eval_network(metrics, None, None)
        self._build_predict_network()


@pytest.mark.parametrize("kind", [OwnStep, OwnStart])
def test_a_derived_model_trains_evaluates_and_predicts(kind):
    net, loss, optimizer = make_parts()
    model = kind(net, loss, optimizer, metrics={"mse"})
    before = net.weight.asnumpy()
    model.train(1, batches(), dataset_sink_mode=False)
    assert (net.weight.asnumpy() != before).any()
    assert set(model.eval(batches(), dataset_sink_mode=False)) == {"mse"}
    assert model.predict(Tensor(np.ones((2, 3), np.float32))).shape == (2, 1)
    model._clear_metrics()
    assert isinstance(model._metric_fns["mse"], nn.MSE)
    assert model._get_scaling_sens() == 1


@pytest.mark.parametrize(
    "level, given, keep, is_set",
    [
        ("O0", {}, False, False),
        ("O2", {}, True, False),
        ("O3", {}, False, False),
        ("O2", {"keep_batchnorm_fp32": False}, False, False),
        ("O0", {"loss_scale_manager": FixedLossScaleManager(8.0)}, False, True),
        ("O2", {"loss_scale_manager": None}, True, True),
    ],
)
def test_a_model_keeps_what_it_was_asked_of_precision(level, given, keep, is_set):
    model = OwnStep(*make_parts(), amp_level=level, **given)
    assert model.seen == (level, keep, is_set, given.get("loss_scale_manager"))


def test_a_manager_set_to_none_scales_no_loss():
    scaled, plain = Model(*make_parts(), amp_level="O2"), Model(*make_parts(), amp_level="O2", loss_scale_manager=None)
    assert isinstance(scaled.train_network, nn.TrainOneStepWithLossScaleCell)
    assert type(plain.train_network) is nn.TrainOneStepCell


def test_the_levels_are_a_table_that_shares_no_manager():
    assert sorted(_config_level) == ["O0", "O2", "O3"] and "O1" not in _config_level
    options = dict(_config_level["O2"], keep_batchnorm_fp32=False)
    assert options["cast_model_type"] == ms.float16 and not options["keep_batchnorm_fp32"]
    managers = [_config_level["O2"]["loss_scale_manager"] for _ in range(2)]
    assert all(isinstance(m, DynamicLossScaleManager) for m in managers) and managers[0] is not managers[1]
    with pytest.raises(ValueError, match="options"):
        _check_kwargs({"unknown": 1})


@pytest.mark.parametrize("level", ["O0", "O2", "O3"])
def test_a_step_put_together_by_hand_is_that_of_build_train_network(level):
    results = []
    for by_hand in (True, False):
        ms.set_seed(1)
        net = nn.SequentialCell(
            nn.Dense(3, 4, weight_init="ones"), nn.BatchNorm1d(4), nn.Dense(4, 1, weight_init="ones")
        )
        optimizer, options = nn.Momentum(net.trainable_params(), 0.01, 0.9), _config_level[level]
        if by_hand:
            if options["cast_model_type"] == ms.float16:
                net.to_float(ms.float16)
                if options["keep_batchnorm_fp32"]:
                    _do_keep_batchnorm_fp32(net)
            step = nn.TrainOneStepCell(_add_loss_network(net, nn.MSELoss(), options["cast_model_type"]), optimizer)
            step.set_train()
        else:
            step = amp.build_train_network(net, optimizer, nn.MSELoss(), level, loss_scale_manager=None)
        data = np.arange(12, dtype=np.float32).reshape(4, 3)
        results.append([step(Tensor(data), Tensor(data[:, :1])).asnumpy() for _ in range(2)])
    np.testing.assert_array_equal(*results)
    assert results[0][0] != results[0][1]
