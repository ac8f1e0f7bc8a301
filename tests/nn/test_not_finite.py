"""No constructor takes NaN for a number: a walk over all that `nn`, `amp` and the initializers have."""

import inspect
import math

import pytest

from msnb import Parameter, nn
from msnb.common import initializer
from msnb.train import amp

VALID = {
    "accum": 0.1,
    "axis": 0,
    "beta": 1.0,
    "block_size": 2,
    "decay_epoch": 2,
    "decay_rate": 0.9,
    "decay_steps": 4,
    "depth": 3,
    "embedding_size": 3,
    "end_learning_rate": 0.01,
    "hidden_size": 3,
    "in1_channels": 3,
    "in2_channels": 3,
    "in_channels": 4,
    "init_loss_scale": 8.0,
    "input_size": 3,
    "k": 1,
    "kernel_size": 3,
    "learning_rate": 0.1,
    "learning_rates": [0.1, 0.05],
    "loss_scale": 8.0,
    "loss_scale_value": 2.0,
    "max_lr": 0.1,
    "max_val": 1.0,
    "milestone": [2, 5],
    "min_lr": 0.01,
    "momentum": 0.9,
    "normalized_shape": (4,),
    "num_channels": 4,
    "num_features": 4,
    "num_groups": 2,
    "out_channels": 4,
    "power": 0.5,
    "scale_factor": 2,
    "scale_value": 2.0,
    "scale_window": 3,
    "sparsity": 0.5,
    "step_per_epoch": 2,
    "total_step": 10,
    "value": 1.0,
    "vocab_size": 5,
    "warmup_epoch": 2,
    "warmup_steps": 3,
}
NUMBERS = {"gain", "init_loss_scale", "negative_slope", "scale_factor", "scale_value"}  # whose defaults are ints
# Values to fill with may be anything; these two hand on what the layers they are made of may not need.
ANYTHING = {"OneHot", "Constant", "Conv2dBnAct", "DenseBnAct"}
# An infinite bound is none, an infinite slope a strange, but a defined function.
UNBOUNDED = {
    "CELU",
    "ELU",
    "FocalLoss",
    "HShrink",
    "Hardtanh",
    "HuberLoss",
    "LeakyReLU",
    "MSSSIM",
    "SSIM",
    "SmoothL1Loss",
    "SoftShrink",
}


def _arguments(signature):
    """Arguments that a constructor takes; None when it wants one that is not known here."""
    net = nn.Dense(2, 2)
    makers = {
        "params": net.trainable_params,
        "parameters": net.trainable_params,
        "network": lambda: net,
        "optimizer": lambda: nn.SGD(net.trainable_params(), 0.1),
    }
    arguments = {}
    for name, parameter in signature.parameters.items():
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            if name not in makers and name not in VALID:
                return None
            arguments[name] = makers[name]() if name in makers else VALID[name]
    return arguments


def _cases():
    for module in (nn, amp, initializer):
        for name in module.__all__:
            thing = getattr(module, name)
            if name in ANYTHING or not (inspect.isclass(thing) or inspect.isfunction(thing) and module is nn):
                continue
            signature = inspect.signature(thing)
            arguments = _arguments(signature)
            for argument, parameter in signature.parameters.items() if arguments is not None else ():
                value = arguments.get(argument, parameter.default)
                if isinstance(value, float) or argument in NUMBERS and isinstance(value, int):
                    yield pytest.param(thing, arguments, argument, id=f"{name}-{argument}")


CASES = list(_cases())


def test_the_walk_finds_the_constructors():
    names = {case.id.partition("-")[0] for case in CASES}
    optimizers = {
        name
        for name in nn.__all__
        if inspect.isclass(getattr(nn, name)) and issubclass(getattr(nn, name), nn.Optimizer)
    } - {"Optimizer", "thor"}
    assert optimizers <= names and len(CASES) > 120


@pytest.mark.parametrize(("thing", "arguments", "argument"), CASES)
def test_a_number_that_is_not_finite_is_refused(thing, arguments, argument):
    thing(**arguments)
    wrong = [math.nan] if thing.__name__ in UNBOUNDED else [math.nan, math.inf, -math.inf]
    for value in wrong:
        with pytest.raises(ValueError):
            thing(**{**arguments, argument: value})


@pytest.mark.parametrize("key", ["lr", "weight_decay"])
def test_a_group_of_parameters_is_no_way_around(key):
    with pytest.raises(ValueError, match="finite"):
        nn.SGD([{"params": [Parameter(0.0, name="w")], key: math.nan}], 0.1)
