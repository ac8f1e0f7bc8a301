"""Golden values of optimizers, learning rate schedules and a trained checkpoint. Run with a Python that has MindSpore
2.x:

    python tests/golden/make_optim.py      # writes tests/golden/optim.npz and tests/golden/optim.ckpt

Where MindSpore's CPU kernels depart from the documented formulas there is no case here: Momentum with use_nesterov,
FTRL with l1, Adagrad without update_slots, experimental.optim.Adam with amsgrad (whose maximum it never writes); LARS
has no CPU kernel. The tests import ``CASES``, ``SCHEDULES`` and
``inputs`` from here, which need numpy alone.
"""

import importlib
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
STEPS = 4
SHAPES = {"conv.weight": (2, 3), "fc.bias": (3,), "bn.gamma": (3,)}

# name -> (class, arguments, groups: part of a Parameter's name -> settings of its group)
CASES = {
    "momentum": ("Momentum", {"learning_rate": 0.1, "momentum": 0.9}, None),
    "momentum_decay": (
        "Momentum",
        {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.1, "loss_scale": 4.0},
        None,
    ),
    "momentum_list": ("Momentum", {"learning_rate": [0.1, 0.2, 0.3, 0.4], "momentum": 0.5}, None),
    "momentum_groups": (
        "Momentum",
        {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.05},
        {"conv": {"lr": 0.3, "weight_decay": 0.2}, "fc": {"lr": 0.2}, "bn": {}},
    ),
    "momentum_group_lists": (
        "Momentum",
        {"learning_rate": 0.1, "momentum": 0.9},
        {"conv": {"lr": [0.1, 0.2, 0.3, 0.4]}, "fc": {"weight_decay": 0.1}, "bn": {}},
    ),
    "sgd": ("SGD", {"learning_rate": 0.1}, None),
    "sgd_momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1}, None),
    "sgd_nesterov": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True, "loss_scale": 2.0}, None),
    "adam": ("Adam", {"learning_rate": 0.1}, None),
    "adam_nesterov": ("Adam", {"learning_rate": 0.1, "beta1": 0.8, "use_nesterov": True, "weight_decay": 0.1}, None),
    "adam_weight_decay": ("AdamWeightDecay", {"learning_rate": 0.1, "weight_decay": 0.1}, None),
    "adam_weight_decay_groups": (
        "AdamWeightDecay",
        {"learning_rate": 0.1},
        {"conv": {"weight_decay": 0.3}, "fc": {"lr": 0.5}, "bn": {"weight_decay": 0.2}},
    ),
    "adam_offload": ("AdamOffload", {"learning_rate": 0.1, "weight_decay": 0.1}, None),
    "lazy_adam": ("LazyAdam", {"learning_rate": 0.1, "loss_scale": 8.0}, None),
    "ftrl": ("FTRL", {"learning_rate": 0.1, "l2": 0.02, "weight_decay": 0.1}, None),
    "rmsprop": ("RMSProp", {"learning_rate": 0.1, "momentum": 0.9, "epsilon": 1e-3, "weight_decay": 0.1}, None),
    "rmsprop_centered": ("RMSProp", {"learning_rate": 0.1, "momentum": 0.5, "epsilon": 1e-2, "centered": True}, None),
    "proximal_adagrad": ("ProximalAdagrad", {"learning_rate": 0.1, "l1": 0.01, "l2": 0.02}, None),
    "adagrad": ("Adagrad", {"learning_rate": 0.1, "weight_decay": 0.1}, None),
    "adam_amsgrad": ("Adam", {"learning_rate": 0.1, "use_amsgrad": True, "weight_decay": 0.1}, None),
    "adadelta": ("Adadelta", {"learning_rate": 0.5, "weight_decay": 0.1}, None),
    "adamax": ("AdaMax", {"learning_rate": 0.1, "loss_scale": 2.0}, None),
    "asgd": ("ASGD", {"learning_rate": 0.1, "lambd": 1e-2, "t0": 1.0, "weight_decay": 0.1}, None),
    "asgd_groups": ("ASGD", {"learning_rate": 0.1}, {"conv": {"lr": 0.3}, "fc": {"weight_decay": 0.2}, "bn": {}}),
    "rprop": ("Rprop", {"learning_rate": 0.1, "etas": (0.4, 1.5), "step_sizes": (1e-6, 0.15)}, None),
    "adafactor": ("AdaFactor", {"learning_rate": None}, None),
    "adafactor_plain": (
        "AdaFactor",
        {"learning_rate": 0.1, "relative_step": False, "scale_parameter": False, "weight_decay": 0.1, "beta1": 0.0},
        None,
    ),
}
_EVERY = {"lr": 0.1, "weight_decay": 0.1}
_GROUPS = {"conv": {"lr": 0.3}, "fc": {"weight_decay": 0.2}, "bn": {}}
CASES.update(
    {
        f"experimental_{name.lower()}{suffix}": (f"experimental.optim.{name}", {**_EVERY, **more}, groups)
        for name, suffix, more, groups in (
            ("Adam", "", {}, None),
            ("Adam", "_maximize", {"maximize": True}, None),
            ("Adam", "_groups", {"betas": (0.8, 0.9)}, _GROUPS),
            ("AdamW", "", {}, None),
            ("AdamW", "_amsgrad", {"amsgrad": True}, _GROUPS),
            ("Adamax", "", {"maximize": True}, None),
            ("NAdam", "", {}, _GROUPS),
            ("RAdam", "", {"betas": (0.6, 0.7)}, None),
            ("Adagrad", "", {"lr_decay": 0.1, "initial_accumulator_value": 0.2}, None),
            ("Adadelta", "", {"maximize": True}, None),
            ("RMSprop", "", {"eps": 1e-3}, None),
            ("RMSprop", "_centered", {"eps": 1e-2, "centered": True, "momentum": 0.5}, _GROUPS),
            ("SGD", "", {}, None),
            ("SGD", "_nesterov", {"momentum": 0.9, "nesterov": True, "maximize": True}, _GROUPS),
            ("SGD", "_dampening", {"momentum": 0.9, "dampening": 0.5}, None),
            ("ASGD", "", {"lambd": 1e-2, "t0": 1.0}, _GROUPS),
        )
    }
)
CASES["experimental_rprop"] = ("experimental.optim.Rprop", {"lr": 0.1, "step_sizes": (1e-6, 0.15)}, None)

# class, arguments: what `experimental.optim.lr_scheduler` makes of the rates 0.1 and 0.5 of two groups
SCHEDULERS = {
    "step": ("StepLR", {"step_size": 2, "gamma": 0.5}),
    "linear": ("LinearLR", {"start_factor": 0.25, "total_iters": 4}),
    "exponential": ("ExponentialLR", {"gamma": 0.9}),
    "polynomial": ("PolynomialLR", {"total_iters": 4, "power": 2.0}),
    "multi_step": ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.5}),
    "constant": ("ConstantLR", {"factor": 0.5, "total_iters": 3}),
    "cosine": ("CosineAnnealingLR", {"T_max": 3, "eta_min": 0.01}),
    "warm_restarts": ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2, "eta_min": 0.01}),
    "cyclic": ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 2, "step_size_down": 3}),
    "cyclic_halving": ("CyclicLR", {"base_lr": [0.01, 0.02], "max_lr": 0.2, "step_size_up": 2, "mode": "triangular2"}),
    "cyclic_fading": (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 2, "mode": "exp_range", "gamma": 0.9},
    ),
    "lambda": ("LambdaLR", {"lr_lambda": [lambda epoch: 0.9**epoch, lambda epoch: epoch / 10]}),
    "multiplicative": ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.9}),
    "sequential": ("SequentialLR", {"milestones": [3]}),
    "plateau": ("ReduceLROnPlateau", {"factor": 0.5, "patience": 1, "cooldown": 1, "min_lr": [0.03, 0.2]}),
    "plateau_max": ("ReduceLROnPlateau", {"mode": "max", "threshold_mode": "abs", "threshold": 0.5, "patience": 0}),
}
_WATCHED = (1.0, 0.9, 0.95, 0.96, 0.97, 0.5, 0.6, 0.6, 0.6, 0.6)

SCHEDULES = {
    "exponential": ("ExponentialDecayLR", (0.1, 0.9, 4)),
    "exponential_stair": ("ExponentialDecayLR", (0.1, 0.9, 4, True)),
    "natural": ("NaturalExpDecayLR", (0.1, 0.3, 4)),
    "natural_stair": ("NaturalExpDecayLR", (0.1, 0.3, 4, True)),
    "inverse": ("InverseDecayLR", (0.1, 0.9, 4)),
    "inverse_stair": ("InverseDecayLR", (0.1, 0.9, 4, True)),
    "cosine": ("CosineDecayLR", (0.01, 0.1, 6)),
    "polynomial": ("PolynomialDecayLR", (0.1, 0.01, 4, 0.5)),
    "polynomial_repeated": ("PolynomialDecayLR", (0.1, 0.01, 4, 2.0, True)),
    "warm_up": ("WarmUpLR", (0.1, 4)),
}


def inputs():
    """First values and gradients of STEPS steps, by name of the Parameter."""
    rng = np.random.RandomState(0)
    values = {name: rng.randn(*shape).astype(np.float32) for name, shape in SHAPES.items()}
    grads = [{name: rng.randn(*shape).astype(np.float32) for name, shape in SHAPES.items()} for _ in range(STEPS)]
    return values, grads


def _experimental(api, path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"{api.__name__}.{module}"), name)


def run_scheduler(api, case):
    """Learning rates of two groups, after making the scheduler and after each of nine steps."""
    name, arguments = SCHEDULERS[case]
    place = "experimental.optim.lr_scheduler."
    first, second = (api.Parameter(api.Tensor([1.0], api.float32), name=n) for n in "ab")
    groups = [{"params": [first], "lr": 0.1}, {"params": [second], "lr": 0.5}]
    optimizer = _experimental(api, "experimental.optim.SGD")(groups, lr=0.1)
    if name == "SequentialLR":
        make = _experimental(api, f"{place}ConstantLR"), _experimental(api, f"{place}ExponentialLR")
        arguments = {**arguments, "schedulers": [make[0](optimizer, 0.5, 2), make[1](optimizer, 0.9)]}
    scheduler = _experimental(api, place + name)(optimizer, **arguments)
    rates = [[float(rate.asnumpy()) for rate in scheduler.get_last_lr()]]
    for watched in _WATCHED[1:]:
        scheduler.step(*([api.Tensor(watched, api.float32)] if name == "ReduceLROnPlateau" else []))
        rates.append([float(rate.asnumpy()) for rate in scheduler.get_last_lr()])
    return np.array(rates, np.float32)


def run_case(api, case):
    """Return the values of all Parameters of the optimizer after STEPS steps; `api` is the module mindspore or msnb."""
    cls, arguments, groups = CASES[case]
    values, grads = inputs()
    params = [api.Parameter(api.Tensor(v), name=name) for name, v in values.items()]
    if groups is not None:
        dicts = [{"params": [p for p in params if part in p.name], **extra} for part, extra in groups.items()]
        trained = dicts if "." in cls else dicts + [{"order_params": params}]
    else:
        trained = params
    optimizer = (_experimental(api, cls) if "." in cls else getattr(api.nn, cls))(trained, **arguments)
    for step in grads:
        optimizer(tuple(api.Tensor(g) for g in step.values()))
    return {p.name: p.asnumpy() for p in optimizer.get_parameters()}


def run_schedule(api, name):
    """Learning rates of steps 0 to 9."""
    cls, arguments = SCHEDULES[name]
    schedule = getattr(api.nn, cls)(*arguments)
    return np.array([schedule(api.Tensor(step, api.int32)).asnumpy() for step in range(10)], np.float32)


def training_step(api):
    """Return a training step of a small network, and the batches for three of them."""
    nn = api.nn
    network = nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4), nn.Dense(4, 2))
    optimizer = nn.Momentum(network.trainable_params(), [0.1, 0.2, 0.3], 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), optimizer)
    step.set_train()
    rng = np.random.RandomState(1)
    batches = [(rng.randn(5, 3).astype(np.float32), rng.randn(5, 2).astype(np.float32)) for _ in range(3)]
    return step, [(api.Tensor(x), api.Tensor(y)) for x, y in batches]


def main():
    """Write the golden files."""
    import mindspore

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE, device_target="CPU")
    golden = {}
    for case in CASES:
        for name, value in run_case(mindspore, case).items():
            golden[f"{case}/{name}"] = value
    for name in SCHEDULES:
        golden[f"schedule/{name}"] = run_schedule(mindspore, name)

    for name in SCHEDULERS:
        golden[f"scheduler/{name}"] = run_scheduler(mindspore, name)

    step, batches = training_step(mindspore)
    for batch in batches[:2]:
        step(*batch)
    (FOLDER / "optim.ckpt").unlink(missing_ok=True)
    mindspore.save_checkpoint(step, str(FOLDER / "optim.ckpt"))
    (FOLDER / "optim.ckpt").chmod(0o644)
    golden["resumed"] = step(*batches[2]).asnumpy()
    golden.update({f"resumed/{p.name}": p.asnumpy() for p in step.get_parameters()})
    np.savez_compressed(FOLDER / "optim.npz", **golden)


if __name__ == "__main__":
    main()
