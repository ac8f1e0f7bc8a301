"""Optimizers: numbers against MindSpore, names of Parameters, learning rates, groups, errors."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn
from msnb.core.tensor.sparse import RowTensor
from msnb.experimental import optim as experimental

GOLDEN = Path(__file__).parent.parent / "golden"
recipe = runpy.run_path(str(GOLDEN / "make_optim.py"))
golden = np.load(GOLDEN / "optim.npz")

BOTH_MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
# r1.1 decays every Parameter in SGD, 2.x leaves out beta and gamma.
OTHER_THAN_2X = {"sgd_momentum/bn.gamma", "sgd_momentum/accum.bn.gamma"}
# State that the optimizers of MindSpore's `experimental` have and keep out of checkpoints.
KEPT_HERE = ("experimental_asgd/mu_", "experimental_asgd/eta_", "experimental_nadam/mu_product_")


def parameters(**values):
    return [Parameter(Tensor(np.array(v, np.float32)), name=name) for name, v in values.items()]


def grads(*values):
    return tuple(Tensor(np.array(v, np.float32)) for v in values)


def value(param):
    return param.asnumpy().tolist()


@pytest.mark.parametrize("case", recipe["CASES"])
def test_four_steps_end_where_mindspore_ends(case):
    result = recipe["run_case"](ms, case)
    compared = 0
    for name, array in result.items():
        key = f"{case}/{name}"
        if key.startswith(KEPT_HERE):
            continue
        assert key in golden, f"MindSpore has no Parameter {name}"
        if key not in OTHER_THAN_2X and not name.startswith("stat."):
            np.testing.assert_allclose(array.reshape(-1), golden[key].reshape(-1), rtol=1e-5, atol=1e-6, err_msg=key)
            compared += 1
    assert compared >= 4


@pytest.mark.parametrize("name", recipe["SCHEDULES"])
def test_learning_rate_schedules_give_mindspores_rates(name):
    np.testing.assert_allclose(recipe["run_schedule"](ms, name), golden[f"schedule/{name}"], rtol=1e-5)


@pytest.mark.parametrize("name", recipe["SCHEDULERS"])
def test_schedulers_change_the_rates_of_groups_as_mindspores_do(name):
    result = recipe["run_scheduler"](ms, name)
    np.testing.assert_allclose(result, golden[f"scheduler/{name}"], rtol=1e-5, atol=1e-8)


@BOTH_MODES
def test_a_rate_that_a_program_writes_into_a_group_is_the_next_steps_and_compiles_nothing(mode):
    context.set_context(mode=mode)
    (p,) = parameters(w=[1.0])
    optimizer = experimental.SGD([p], lr=0.5)
    for rate in (0.25, 0.125):
        optimizer.param_groups[0]["lr"] = rate
        optimizer(grads([1.0]))
        assert optimizer._programs.compiled == 1
    assert value(p) == [0.625] and float(optimizer.lrs[0]) == 0.125


@BOTH_MODES
@pytest.mark.parametrize("rate", [0.5, [0.5, 0.25]], ids=["rate", "rates"])
def test_a_weight_decay_may_follow_from_the_number_of_the_step(mode, rate):
    class Decay(nn.Cell):
        def construct(self, step):
            return 0.5 / (1.0 + step)

    context.set_context(mode=mode)
    p, q = parameters(w=[1.0], v=[2.0])
    optimizer = nn.Momentum([{"params": [p], "weight_decay": Decay()}, {"params": [q]}], rate, 0.0, loss_scale=4.0)
    w, v = 1.0, 2.0
    for step in range(2):
        now = rate[step] if isinstance(rate, list) else rate
        w, v = w - now * (1.0 + 0.5 / (1.0 + step) * w), v - now
        optimizer(grads([4.0], [4.0]))
    np.testing.assert_allclose([*value(p), *value(q)], [w, v], rtol=1e-6)
    with pytest.raises(TypeError, match="'weight_decay' should be a number"):
        nn.SGD([p], weight_decay=Decay())


@BOTH_MODES
def test_momentum_with_nesterov_follows_the_documented_formula(mode):
    context.set_context(mode=mode)
    (p,) = parameters(w=[1.0])
    optimizer = nn.Momentum([p], 0.1, 0.9, use_nesterov=True)
    v, expected = 0.0, 1.0
    for _ in range(3):
        optimizer(grads([1.0]))
        v = 0.9 * v + 1.0
        expected -= 0.1 * (1.0 + 0.9 * v)
        np.testing.assert_allclose(p.asnumpy(), [expected], rtol=1e-6)


@BOTH_MODES
def test_lamb_scales_each_update_by_the_trust_ratio(mode):
    context.set_context(mode=mode)
    w, g = np.array([[3.0, 4.0]]), np.array([[0.5, -0.5]])
    (p,) = parameters(w=w)
    optimizer = nn.Lamb([p], 0.1, weight_decay=0.01)
    m = v = 0.0
    for t in (1, 2):
        optimizer(grads(g))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        mh, vh = m / (1 - 0.9**t), v / (1 - 0.999**t)
        ratio = np.linalg.norm(w) / np.linalg.norm(mh / np.sqrt(vh + 1e-6) + 0.01 * w)
        w = w - 0.1 * min(ratio, 10.0) * (mh / (np.sqrt(vh) + 1e-6) + 0.01 * w)
        np.testing.assert_allclose(p.asnumpy(), w, rtol=1e-4)
    assert value(optimizer.global_step) == [2]


def test_lars_scales_and_decays_the_gradients_of_the_optimizer_inside():
    w, b = parameters(**{"fc.weight": [3.0, 4.0], "fc.bias": [1.0]})
    inner = nn.SGD([w, b], 1.0, loss_scale=2.0)
    inner = nn.Momentum([w, b], 1.0, 0.0, weight_decay=0.1, loss_scale=2.0)
    optimizer = nn.LARS(inner, epsilon=1e-5, coefficient=0.02)
    optimizer(grads([1.2, 1.6], [2.0]))
    g = np.array([0.6, 0.8])
    rate = 0.02 * 5.0 / (1.0 + 0.1 * 5.0 + 1e-5)
    np.testing.assert_allclose(w.asnumpy(), np.array([3.0, 4.0]) - rate * (g + 0.1 * np.array([3.0, 4.0])), rtol=1e-5)
    np.testing.assert_allclose(b.asnumpy(), [0.0], atol=1e-6)


@BOTH_MODES
def test_lars_trusts_each_layer_anew_in_every_step(mode):
    context.set_context(mode=mode)
    rng = np.random.default_rng(0)
    (p,) = parameters(**{"fc.weight": rng.standard_normal((3, 4))})
    optimizer = nn.LARS(nn.Momentum([p], 0.5, 0.9, weight_decay=0.1), epsilon=1e-3, coefficient=0.02)
    w, velocity = p.asnumpy().astype(np.float64), 0.0
    for _ in range(4):
        g = rng.standard_normal((3, 4))
        optimizer(grads(g))
        size = np.linalg.norm(w)
        trust = 0.02 * size / (np.linalg.norm(g) + 0.1 * size + 1e-3)
        velocity = 0.9 * velocity + trust * (g + 0.1 * w)
        w = w - 0.5 * velocity
        np.testing.assert_allclose(p.asnumpy(), w, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "slots"),
    [
        (lambda p: nn.Momentum(p, 0.1, 0.9), ["learning_rate", "momentum", "moments.fc.weight"]),
        (lambda p: nn.SGD(p), ["learning_rate", "momentum", "accum.fc.weight", "stat.fc.weight"]),
        (
            lambda p: nn.Adam(p),
            ["learning_rate", "beta1_power", "beta2_power", "moment1.fc.weight", "moment2.fc.weight"],
        ),
        (lambda p: nn.AdamWeightDecay(p), ["learning_rate", "adam_m.fc.weight", "adam_v.fc.weight"]),
        (lambda p: nn.Lamb(p, 0.1), ["learning_rate", "lamb_m.fc.weight", "lamb_v.fc.weight", "global_step"]),
        (lambda p: nn.FTRL(p), ["learning_rate", "moments.fc.weight", "linear.fc.weight"]),
        (
            lambda p: nn.RMSProp(p, centered=True),
            ["learning_rate", "mean_grad.fc.weight", "mean_square.fc.weight", "moment.fc.weight"],
        ),
        (lambda p: nn.Adagrad(p), ["learning_rate", "accum.fc.weight"]),
        (lambda p: nn.ProximalAdagrad(p), ["learning_rate", "accum.fc.weight"]),
        (lambda p: nn.Momentum(p, [0.1, 0.2], 0.9), ["global_step", "learning_rate", "momentum", "moments.fc.weight"]),
    ],
)
def test_the_state_has_the_names_of_r1_1(make, slots):
    optimizer = make(parameters(**{"fc.weight": [1.0]}))
    assert sorted(p.name for p in optimizer.get_parameters()) == sorted(["fc.weight", *slots])


@BOTH_MODES
def test_a_list_of_learning_rates_is_used_step_by_step_and_its_last_one_from_then_on(mode):
    context.set_context(mode=mode)
    (p,) = parameters(w=[0.0])
    optimizer = nn.Momentum([p], iter([0.5, 0.25]), 0.0)
    seen = []
    for _ in range(3):
        optimizer(grads([1.0]))
        seen.append(p.asnumpy()[0])
    assert seen == [-0.5, -0.75, -1.0]
    assert value(optimizer.global_step) == [3]


@BOTH_MODES
def test_a_schedule_is_asked_for_each_step(mode):
    context.set_context(mode=mode)

    class Halving(nn.learning_rate_schedule.LearningRateSchedule):
        def construct(self, global_step):
            return ms.ops.pow(0.5, ms.ops.cast(global_step, ms.float32))

    (p,) = parameters(w=[0.0])
    optimizer = nn.SGD([p], Halving())
    for _ in range(3):
        optimizer(grads([1.0]))
    np.testing.assert_allclose(p.asnumpy(), [-1.75])


def test_changing_the_learning_rate_parameter_changes_the_next_step_without_a_new_program():
    (p,) = parameters(w=[0.0])
    optimizer = nn.SGD([p], 0.5)
    optimizer(grads([1.0]))
    programs = optimizer._programs.compiled
    optimizer.learning_rate.set_data(Tensor(0.25, ms.float32))
    optimizer(grads([1.0]))
    assert p.asnumpy()[0] == -0.75
    assert optimizer._programs.compiled == programs


def test_weight_decay_is_scaled_with_the_loss_and_skips_beta_and_gamma():
    w, gamma = parameters(w=[1.0], gamma=[1.0])
    optimizer = nn.Momentum([w, gamma], 0.1, 0.9, weight_decay=0.1, loss_scale=8.0)
    optimizer(grads([8.0], [8.0]))
    np.testing.assert_allclose(w.asnumpy(), [0.89], rtol=1e-6)
    np.testing.assert_allclose(gamma.asnumpy(), [0.9], rtol=1e-6)


def test_groups_have_their_own_rates_and_get_lr_parameter_finds_them():
    a, b = parameters(a=[0.0], b=[0.0])
    optimizer = nn.SGD([{"params": [b], "lr": 0.5}, {"params": [a]}, {"order_params": [a, b]}], 0.1)
    assert [p.name for p in optimizer.parameters] == ["a", "b"]
    assert optimizer.is_group and optimizer.is_group_lr and optimizer.is_group_params_ordered
    optimizer(grads([1.0], [1.0]))
    np.testing.assert_allclose([value(a)[0], value(b)[0]], [-0.1, -0.5])
    assert optimizer.get_lr_parameter(b).name == "learning_rate_group_0"
    assert [p.name for p in optimizer.get_lr_parameter([a, b])] == ["learning_rate", "learning_rate_group_0"]
    with pytest.raises(ValueError, match="not trained"):
        optimizer.get_lr_parameter(parameters(c=[0.0])[0])
    with pytest.raises(TypeError):
        optimizer.get_lr_parameter([1])


def test_groups_decay_their_own_way_even_beta_and_gamma():
    w, gamma = parameters(w=[1.0], gamma=[1.0])
    groups = [{"params": [w]}, {"params": [gamma], "weight_decay": 0.1}]
    for optimizer in (nn.Momentum(groups, 1.0, 0.0), nn.SGD(groups, 1.0, momentum=0.0)):
        before = value(w)[0], value(gamma)[0]
        optimizer(grads([0.0], [0.0]))
        np.testing.assert_allclose([value(w)[0], value(gamma)[0]], [before[0], 0.9 * before[1]], rtol=1e-6)


@pytest.mark.parametrize("make", [nn.Adam, nn.LazyAdam, nn.FTRL, nn.ProximalAdagrad])
def test_sparse_gradients_sum_repeated_rows(make):
    table, dense = parameters(table=np.ones((3, 2)), dense=np.ones((3, 2)))
    sparse, other = make([table], learning_rate=0.1), make([dense], learning_rate=0.1)
    row = RowTensor(Tensor([1, 1], ms.int32), Tensor(np.array([[1.0, 2.0], [1.0, 2.0]], np.float32)), (3, 2))
    sparse((row,))
    other(grads([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(table.asnumpy()[1], dense.asnumpy()[1], rtol=1e-6)
    if make is not nn.Adam:
        assert table.asnumpy()[0].tolist() == [1.0, 1.0]


def test_float16_parameters_keep_their_type():
    p = Parameter(Tensor(np.ones(3, np.float16)), name="w")
    for optimizer in (nn.Momentum([p], 0.1, 0.9), nn.Adam([p]), nn.AdamWeightDecay([p]), nn.Lamb([p], 0.1)):
        optimizer((Tensor(np.ones(3, np.float16)),))
        assert p.dtype == ms.float16


def test_the_graph_shows_one_update_operator_per_parameter():
    a, b = parameters(a=[0.0], b=[0.0])
    optimizer = nn.Momentum([a, b], 0.1, 0.9)
    program = ms.core.program.program_cache.program_of(optimizer, grads([1.0], [1.0]))
    assert sum("ApplyMomentum" in str(e.params.get("name", "")) for e in program.jaxpr.jaxpr.eqns) == 2


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ValueError, lambda p: nn.Momentum([], 0.1, 0.9)),
        (ValueError, lambda p: nn.Momentum(None, 0.1, 0.9)),
        (TypeError, lambda p: nn.Momentum(p[0], 0.1, 0.9)),
        (TypeError, lambda p: nn.Momentum([1], 0.1, 0.9)),
        (TypeError, lambda p: nn.Momentum(p, 0.1, 1)),
        (ValueError, lambda p: nn.Momentum(p, 0.1, -0.9)),
        (TypeError, lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=1)),
        (ValueError, lambda p: nn.Momentum(p, -0.1, 0.9)),
        (TypeError, lambda p: nn.Momentum(p, "0.1", 0.9)),
        (TypeError, lambda p: nn.Momentum(p, np.array(0.1), 0.9)),
        (ValueError, lambda p: nn.Momentum(p, Tensor(np.ones((2, 2), np.float32)), 0.9)),
        (ValueError, lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=-1.0)),
        (TypeError, lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay="1")),
        (ValueError, lambda p: nn.Momentum(p, 0.1, 0.9, loss_scale=0.0)),
        (TypeError, lambda p: nn.Momentum(p, 0.1, 0.9, loss_scale="1")),
        (ValueError, lambda p: nn.SGD(p, momentum=-0.1)),
        (TypeError, lambda p: nn.SGD(p, dampening="0")),
        (ValueError, lambda p: nn.SGD(p, nesterov=True)),
        (ValueError, lambda p: nn.Adam(p, beta1=1.0)),
        (TypeError, lambda p: nn.Adam(p, beta2=1)),
        (ValueError, lambda p: nn.AdamWeightDecay(p, eps=-0.1)),
        (TypeError, lambda p: nn.LazyAdam(p, weight_decay=0)),
        (ValueError, lambda p: nn.FTRL(p, learning_rate=[0.1, 0.2])),
        (ValueError, lambda p: nn.FTRL(p, lr_power=0.1)),
        (ValueError, lambda p: nn.RMSProp(p, momentum=-0.1)),
        (TypeError, lambda p: nn.RMSProp(p, centered=1)),
        (ValueError, lambda p: nn.Adagrad(p, accum=-0.1)),
        (TypeError, lambda p: nn.ProximalAdagrad(p, l1=1)),
        (TypeError, lambda p: nn.LARS(nn.Dense(2, 2))),
        (KeyError, lambda p: nn.SGD([{"params": p, "rate": 0.1}])),
        (ValueError, lambda p: nn.SGD([{"params": []}])),
        (TypeError, lambda p: nn.SGD([{"params": [1]}])),
        (RuntimeError, lambda p: nn.SGD([{"params": p}, {"params": p}])),
        (ValueError, lambda p: nn.SGD([{"params": p}, {"order_params": []}])),
        (ValueError, lambda p: nn.SGD([{"params": p}, {"order_params": p, "lr": 0.1}])),
        (ValueError, lambda p: nn.SGD([{"params": p, "lr": [0.1, 0.2]}], learning_rate=[0.1, 0.2, 0.3])),
        (NotImplementedError, lambda p: nn.thor(p)),
        (ValueError, lambda p: nn.ExponentialDecayLR(-0.1, 0.9, 4)),
        (TypeError, lambda p: nn.ExponentialDecayLR(1, 0.9, 4)),
        (ValueError, lambda p: nn.CosineDecayLR(0.2, 0.1, 4)),
        (TypeError, lambda p: nn.WarmUpLR(1, 4)),
        (ValueError, lambda p: nn.PolynomialDecayLR(0.1, 0.01, 0, 0.5)),
    ],
)
def test_wrong_arguments_raise_mindspores_error_class(error, make):
    with pytest.raises(error) as info:
        make(parameters(w=[1.0]))
    assert len(str(info.value)) > 20


@BOTH_MODES
def test_gradients_that_do_not_fit_leave_the_parameters_as_they_were(mode):
    context.set_context(mode=mode)
    a, b = parameters(a=[1.0], b=[1.0])
    optimizer = nn.Adam([a, b])
    with pytest.raises(RuntimeError, match="2 gradients"):
        optimizer(grads([1.0]))
    with pytest.raises(ValueError):
        optimizer(grads([1.0], [1.0, 2.0]))
    assert value(a) == value(b) == [1.0]
    assert value(optimizer.beta1_power) == [1.0]
    optimizer(grads([1.0], [1.0]))
    assert value(a) == value(b) != [1.0]


def test_target_is_checked_where_it_exists():
    context.set_context(device_target="CPU")
    (p,) = parameters(w=[1.0])
    with pytest.raises(NotImplementedError):
        nn.Momentum([p], 0.1, 0.9).target = "CPU"
    optimizer = nn.LazyAdam([p])
    optimizer.target = "CPU"
    assert optimizer.target == "CPU"
    with pytest.raises(ValueError):
        optimizer.target = "GPU"
    with pytest.raises(TypeError):
        optimizer.target = 1
    with pytest.raises(TypeError):
        optimizer.unique = 1


def test_an_optimizer_that_a_user_writes_can_be_debugged_in_pynative_mode():
    class Mine(nn.Momentum):
        def construct(self, gradients):
            self.seen = [g.asnumpy().tolist() for g in gradients]
            return super().construct(gradients)

    (p,) = parameters(w=[1.0])
    optimizer = Mine([p], 0.5, 0.0)
    optimizer(grads([1.0]))
    assert optimizer.seen == [[1.0]] and value(p) == [0.5]


@BOTH_MODES
def test_an_optimizer_that_a_user_writes_maps_over_its_parameters(mode):
    context.set_context(mode=mode)
    update = ms.ops.MultitypeFuncGraph("update")

    @update.register("Tensor", "Tensor", "Tensor")
    def _update(rate, param, gradient):
        return ms.ops.depend(True, ms.ops.assign(param, param - rate * gradient))

    class Mine(nn.Optimizer):
        def __init__(self, params, rate):
            super().__init__(rate, params, weight_decay=0.1)
            self.hyper_map = ms.ops.HyperMap()

        def construct(self, gradients):
            gradients = self.scale_grad(self.decay_weight(gradients))
            return self.hyper_map(ms.ops.partial(update, self.get_lr()), self.parameters, gradients)

    a, b = parameters(a=[1.0], b=[2.0])
    Mine([a, b], 0.5)(grads([1.0], [1.0]))
    np.testing.assert_allclose([value(a)[0], value(b)[0]], [1 - 0.5 * 1.1, 2 - 0.5 * 1.2], rtol=1e-6)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def test_the_number_of_a_step_stays_at_the_last_int32(mode):
    context.set_context(mode=mode)
    weight = ms.Parameter(np.zeros(1, np.float32), name="w")
    optimizer = nn.SGD([weight], [0.1, 0.2])
    optimizer.global_step.set_data(ms.Tensor(np.array([2**31 - 2], np.int32)))
    for _ in range(2):
        optimizer((ms.Tensor(np.ones(1, np.float32)),))
        assert optimizer.global_step.asnumpy().tolist() == [2**31 - 1]
    np.testing.assert_allclose(weight.asnumpy(), [-0.4], rtol=1e-6)


def test_a_learning_rate_that_is_not_finite_is_named():
    for rates in ([0.1, np.nan], ms.Tensor([0.1, np.nan], ms.float32)):
        with pytest.raises(ValueError, match="number 1 of 2"):
            nn.SGD(nn.Dense(2, 2).trainable_params(), rates)


# Attributes that libraries for r1.1 read and write in classes derived from Optimizer.
READ_BY_LIBRARIES = """
    assignadd broadcast_params cache_enable cls_name decay_flags decay_weight dynamic_lr exec_weight_decay get_lr
    get_lr_parameter global_step global_step_increase_tensor hyper_map is_group is_group_lr is_group_params_ordered
    learning_rate loss_scale map_ need_scale optim_filter param_length parameters ps_parameters reciprocal_scale
    scale_grad target unique use_parallel weight_decay
""".split()


@pytest.mark.parametrize("groups", [False, True])
def test_an_optimizer_has_the_attributes_that_libraries_read(groups):
    a, b = parameters(a=[1.0], b=[1.0])
    optimizer = nn.Momentum([{"params": [b], "lr": 0.2}, {"params": [a]}] if groups else [a, b], 0.1, 0.9, 0.5, 4.0)
    assert not [name for name in READ_BY_LIBRARIES if not hasattr(optimizer, name)]
    assert (
        optimizer.param_length
        == len(optimizer.ps_parameters)
        == len(optimizer.optim_filter)
        == len(optimizer.decay_flags)
        == 2
    )
    assert optimizer.reciprocal_scale.asnumpy() == 0.25 and optimizer.need_scale
    if groups:
        assert optimizer.weight_decay == (2.0, 2.0) and [p.name for p in optimizer.learning_rate] == [
            "learning_rate_group_0",
            "learning_rate",
        ]
        assert [float(t.asnumpy()) for t in optimizer.weight_decay_tensor_tuple] == [2.0, 2.0] and len(
            optimizer.group_lr
        ) == 2
    else:
        assert optimizer.weight_decay == 2.0 and optimizer.weight_decay_tensor.asnumpy() == 2.0


@BOTH_MODES
def test_a_group_with_grad_centralization_takes_the_mean_off_its_gradients(mode):
    context.set_context(mode=mode)
    g = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    plain, centred, bias = parameters(plain=np.zeros(g.shape), centred=np.zeros(g.shape), bias=np.zeros(2))
    groups = [{"params": [plain]}, {"params": [centred, bias], "grad_centralization": True}]
    nn.SGD(groups, 1.0)(grads(g, g, [1.0, 2.0]))
    np.testing.assert_allclose(plain.asnumpy(), -g, rtol=1e-6)
    np.testing.assert_allclose(centred.asnumpy(), g.mean((1, 2), keepdims=True) - g, atol=1e-6)
    assert value(bias) == [-1.0, -2.0]


@BOTH_MODES
def test_lars_with_use_clip_asks_the_schedule_of_the_optimizer(mode):
    context.set_context(mode=mode)
    (p,) = parameters(w=[3.0, 4.0])
    inner = nn.Momentum([p], [0.1, 0.01], 0.0)
    optimizer = nn.LARS(inner, epsilon=0.0, coefficient=0.02, use_clip=True)
    assert {"fake_param", "fake_lr"} < {param.name for param in optimizer.get_parameters()}
    w, g = np.array([3.0, 4.0]), np.array([0.6, 0.8])
    for rate in (0.1, 0.01):
        optimizer(grads(g))
        w = w - rate * min(0.02 * np.linalg.norm(w) / np.linalg.norm(g) / rate, 1.0) * g
        np.testing.assert_allclose(p.asnumpy(), w, rtol=1e-5)


@pytest.mark.parametrize(
    "settings, is_dynamic",
    [
        ({}, False),
        ({"learning_rate": [0.1, 0.2]}, True),
        ({"weight_decay": nn.CosineDecayLR(0.1, 0.2, 4)}, True),
    ],
    ids=["fixed", "listed rates", "scheduled decay"],
)
def test_an_optimizer_says_if_its_rate_or_decay_depends_on_the_step(settings, is_dynamic):
    assert nn.AdamWeightDecay(parameters(w=[1.0]), **settings)._is_dynamic_lr_or_weight_decay() is is_dynamic


@BOTH_MODES
def test_an_optimizer_of_a_library_walks_its_lists_from_the_end(mode):
    class Own(nn.Optimizer):
        def construct(self, gradients):
            return self.hyper_map_reverse(ms.ops.assign_sub, self.parameters, gradients)

    context.set_context(mode=mode)
    p = parameters(v=[1.0], w=[2.0])
    Own(0.1, p)(grads([0.5], [0.25]))
    assert [x.asnumpy().tolist() for x in p] == [[0.5], [1.75]]


@BOTH_MODES
def test_an_optimizer_of_a_library_clones_its_parameters_and_prepares_its_gradients(mode):
    class Own(nn.Optimizer):
        def __init__(self, params):
            super().__init__(0.5, params)
            self.sums = self._parameters.clone(prefix="sum", init="zeros")

        def construct(self, gradients):
            gradients = self._grad_sparse_indices_deduplicate(self.flatten_gradients(gradients))
            self.map_(ms.ops.assign_add, self.sums, gradients)
            return self.map_(ms.ops.assign_sub, self._parameters, self.sums)

        @nn.Optimizer.target.setter
        def target(self, value):
            self._set_base_target(value)

    context.set_context(mode=mode)
    p = parameters(v=[1.0], w=[2.0])
    optimizer = Own(p)
    for _ in range(2):
        optimizer(grads([0.5], [0.25]))
    assert [x.asnumpy().tolist() for x in p] == [[-0.5], [1.25]]
    assert [x.name for x in optimizer.sums] == ["sum.v", "sum.w"]
    optimizer.target = "CPU"
    with pytest.raises(ValueError, match="GPU"):
        optimizer.target = "GPU"
