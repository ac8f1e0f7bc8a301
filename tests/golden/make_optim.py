"""Golden values of optimizers, learning rate schedules and a trained checkpoint. Run with a Python that has MindSpore
2.x:

    python tests/golden/make_optim.py      # writes tests/golden/optim.npz and tests/golden/optim.ckpt

Where MindSpore's CPU kernels depart from the documented formulas there is no case here: Momentum with use_nesterov,
FTRL with l1, Adagrad without update_slots; LARS has no CPU kernel. The tests import ``CASES``, ``SCHEDULES`` and
``inputs`` from here, which need numpy alone.
"""

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
}

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


def run_case(api, case):
    """Values of all Parameters of the optimizer after STEPS steps; `api` is the module mindspore or msnb."""
    cls, arguments, groups = CASES[case]
    values, grads = inputs()
    params = [api.Parameter(api.Tensor(v), name=name) for name, v in values.items()]
    if groups is not None:
        dicts = [{"params": [p for p in params if part in p.name], **extra} for part, extra in groups.items()]
        trained = dicts + [{"order_params": params}]
    else:
        trained = params
    optimizer = getattr(api.nn, cls)(trained, **arguments)
    for step in grads:
        optimizer(tuple(api.Tensor(g) for g in step.values()))
    return {p.name: p.asnumpy() for p in optimizer.get_parameters()}


def run_schedule(api, name):
    """Learning rates of steps 0 to 9."""
    cls, arguments = SCHEDULES[name]
    schedule = getattr(api.nn, cls)(*arguments)
    return np.array([schedule(api.Tensor(step, api.int32)).asnumpy() for step in range(10)], np.float32)


def training_step(api):
    """A training step of a small network, and the batches for three of them."""
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
