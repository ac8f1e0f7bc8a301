"""Each argument of what trains (optimizers, learning rates, loss scales, metrics) is declared by a Kind, which refuses
what is wrong with a sentence that names class and argument."""

import inspect
import math

import numpy as np
import pytest

from msnb import Parameter, Tensor, nn
from msnb.common.kinds import kind_of

MODULES = (nn.optim, nn.learning_rate_schedule, nn.dynamic_lr, nn.wrap, nn.metrics)
REQUIRED = {
    "func": len,
    "learning_rate": 0.1,
    "momentum": 0.9,
    "decay_rate": 0.9,
    "decay_steps": 4,
    "min_lr": 0.01,
    "max_lr": 0.1,
    "end_learning_rate": 0.01,
    "power": 0.5,
    "warmup_steps": 3,
    "milestone": [2, 5],
    "learning_rates": [0.1, 0.05],
    "total_step": 6,
    "step_per_epoch": 2,
    "decay_epoch": 2,
    "warmup_epoch": 2,
    "loss_scale_value": 2.0,
    "scale_factor": 2,
    "scale_window": 3,
    "beta": 1.0,
    "k": 2,
    "num_classes": 2,
    "x": np.array([0.0, 1.0]),
    "y": np.array([0.0, 1.0]),
    "micro_size": 2,
}
# Cells and functions that are called; a wrong one shows when it is.
OPEN = {"network", "backbone", "loss_fn", "lars_filter", "parameters", "optimizer", "name", "mean", "add_cast_fp32"}
OPEN |= {"metrics", "x", "y", "weights"}  # get_metrics, auc and ForwardValueAndGrad look themselves
OPEN_CLASSES = {"WithGradCell", "GetNextSingleOp", "thor"}  # any sens; always refused
# (class, argument): the class of the error that MindSpore raises instead of TypeError.
OTHERWISE = {("DistributedGradReducer", "degree"): ValueError}
OUT_OF_RANGE = {
    "learning_rate": (-0.1, math.inf),
    "params": ([], None),
    "beta1": (0.0, 1.0),
    "beta2": (0.0, 1.0),
    "lr_power": (0.5,),
    "milestone": ([0, 5], [5, 2]),
    "sens": (math.inf,),
    "scale_sense": (0.0, -1.0),
    "degree": (0, True),
    "coefficient": (math.inf,),
    "end_learning_rate": (-0.1, math.inf),
    "min_lr": (-0.1, math.inf),
    "loss_scale_value": (math.inf,),
    "scale_factor": (math.inf,),
    "scale_window": (math.inf,),
}
OUT_OF_RANGE |= {"rho": (-0.1, 1.1), "decay_rate": (0.0, math.inf), "alpha": (math.nan,), "lambd": (math.inf,)}
OUT_OF_RANGE |= {"t0": (math.inf,), "pad_val": (math.inf,), "threshold": (math.inf,), "smooth": (0.0, math.inf)}
NOT_NEGATIVE = (
    "clip_threshold",
    "accum",
    "initial_accum",
    "l1",
    "l2",
    "momentum",
    "dampening",
    "weight_decay",
    "decay",
)
POSITIVE = ("eps", "loss_scale", "decay_rate", "max_lr", "power", "beta")
OUT_OF_RANGE |= {name: (-0.1, math.inf) for name in NOT_NEGATIVE} | {name: (0.0, math.inf) for name in POSITIVE}

OTHER_RANGE = {("AdaFactor", "eps"): ((-1.0, 0.0), (0.0, math.inf)), ("AdaFactor", "beta1"): (-0.1, math.inf)}
OTHER_RANGE[("BleuScore", "smooth")] = ()  # a flag
OTHER_RANGE[("TrainOneStepWithLossScaleCell", "scale_sense")] = ()  # a Tensor or a Cell


def arguments(thing):
    """Arguments that `thing` takes."""
    net = nn.Dense(2, 2)
    makers = {
        "params": net.trainable_params,
        "parameters": net.trainable_params,
        "network": lambda: net,
        "optimizer": lambda: nn.SGD(net.trainable_params(), 0.1),
        "scale_sense": lambda: Tensor(2.0),
        "param": lambda: Parameter(1.0, name="w"),
    }
    required = [
        n
        for n, p in inspect.signature(thing).parameters.items()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    return {name: makers[name]() if name in makers else REQUIRED[name] for name in required}


def things():
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and name not in OPEN_CLASSES and not inspect.isabstract(thing):
                yield name, thing


def declared():
    for name, thing in things():
        for argument, parameter in inspect.signature(thing, eval_str=True).parameters.items():
            if argument not in OPEN and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                yield pytest.param(thing, argument, parameter, id=f"{name}-{argument}")
    yield pytest.param(nn.LARS, "optimizer", inspect.signature(nn.LARS).parameters["optimizer"], id="LARS-optimizer")


def refusal(thing, argument):
    return rf"^For '{thing.__name__}', '{argument}' should be .*but got "


@pytest.mark.parametrize(("thing", "argument", "parameter"), list(declared()))
def test_an_argument_of_another_type_is_refused_by_its_kind(thing, argument, parameter):
    assert kind_of(parameter.annotation) is not None
    given = arguments(thing)
    with pytest.raises(OTHERWISE.get((thing.__name__, argument), TypeError), match=refusal(thing, argument)):
        thing(**{**given, argument: object()})


@pytest.mark.parametrize(
    ("thing", "argument"),
    [pytest.param(*case.values[:2], id=case.id) for case in declared() if case.values[1] in OUT_OF_RANGE],
)
def test_an_argument_out_of_range_is_refused_by_its_kind(thing, argument):
    rates = ([0.1, math.nan], Tensor(np.ones((2, 2), np.float32)), []) if "params" in arguments(thing) else ()
    outside = OTHER_RANGE.get((thing.__name__, argument), OUT_OF_RANGE[argument])
    for value in outside + (rates if argument == "learning_rate" else ()):
        with pytest.raises(ValueError, match=refusal(thing, argument)):
            thing(**{**arguments(thing), argument: value})


def test_every_number_of_an_optimizer_is_in_the_walk():
    numbers = {
        argument
        for case in declared()
        for _, argument, parameter in [case.values]
        if isinstance(parameter.default, float)
    }
    assert numbers - {"epsilon"} <= set(OUT_OF_RANGE) and len(list(declared())) > 120


@pytest.mark.parametrize(
    ("group", "error", "said"),
    [
        ({"lr": "fast"}, TypeError, "'lr of group 0' should be a finite number"),
        ({"lr": -0.1}, ValueError, "'lr of group 0' should be a finite number"),
        ({"weight_decay": np.array(1)}, TypeError, "'weight_decay of group 0' should be a finite number of at least 0"),
        ({"grad_centralization": 1}, TypeError, "'grad_centralization of group 0' should be bool"),
        ({"params": 1}, TypeError, "'params of group 0' should be a list of Parameters"),
        (
            {"rate": 1},
            KeyError,
            "'params', 'lr', 'weight_decay', 'grad_centralization', 'order_params', but got 'rate'",
        ),
    ],
)
def test_a_setting_of_a_group_is_refused_by_its_kind(group, error, said):
    with pytest.raises(error) as info:
        nn.SGD([{"params": nn.Dense(2, 2).trainable_params(), **group}])
    assert "For 'SGD', " in str(info.value) and said in str(info.value)
