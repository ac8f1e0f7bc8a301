"""Sharding constraints for a Cell or function: its inputs, outputs and Parameters."""

from collections.abc import Callable, Iterable
from typing import Any

from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread

Strategies = tuple[tuple[Any, ...], tuple[Any, ...] | None, dict[str, tuple[int, ...]]]


def check_strategies(what: str, in_strategy: Any, out_strategy: Any, parameter_plan: Any) -> Strategies:
    """Check the arguments of a `shard` call and return them.

    Args:
        what (str): Name of the function for errors.
        in_strategy (tuple): For each input a tuple with the number of slices along each axis.
        out_strategy (tuple): Likewise for each output; None to let XLA choose.
        parameter_plan (dict): Such a tuple for Parameters, by name; None for none.

    Raises:
        TypeError: If one of them has another type.
    """
    for name, value in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        if not (value is None and name == "out_strategy") and not (
            isinstance(value, tuple) and all(isinstance(cuts, tuple) for cuts in value)
        ):
            raise TypeError(f"For '{what}', '{name}' should be a tuple of tuples of ints, but got {describe(value)}.")
    plan = {} if parameter_plan is None else parameter_plan
    if not isinstance(plan, dict) or not all(isinstance(k, str) and isinstance(v, tuple) for k, v in plan.items()):
        raise TypeError(
            f"For '{what}', 'parameter_plan' should be a dict from names to tuples of ints, but got {describe(plan)}."
        )
    return in_strategy, out_strategy, dict(plan)


def call_constrained(
    what: str,
    strategies: Strategies,
    run: Callable[..., Any],
    args: tuple[Any, ...],
    params: Iterable[tuple[str, Any]] = (),
) -> Any:
    """Return ``run(*args)`` in a trace for several devices; strategies constrain inputs, outputs and Parameters.

    Args:
        what (str): Name of the called object, for errors.
        strategies (tuple): See `check_strategies`.
        run (Callable): The function to call; takes and returns Tensors.
        args (tuple): Arguments of `run`.
        params (Iterable): (path, Parameter) of those that a plan may name.

    Raises:
        RuntimeError: If a strategy does not fit.
    """
    ins, outs, plan = strategies
    frame, partitioner = _thread.frame, _thread.spread
    constrained = _match_parameter_plan(what, plan, list(params))
    for number, (arg, cuts) in enumerate(_zip_strategies(what, "input", args, ins)):
        if isinstance(arg, Parameter):  # the Parameter object itself is passed on, for operators that write it
            constrained.append((arg, cuts, f"input {number} of {what}"))
    inputs = list(args)
    for number, arg in enumerate(args):
        if isinstance(arg, Tensor) and not isinstance(arg, Parameter):
            inputs[number] = box(partitioner.hold(arg._array, ins[number], f"input {number} of {what}"))
    substituted = [
        (p, frame.values.get(id(p)), partitioner.hold(p._array, cuts, name)) for p, cuts, name in constrained
    ]
    frame.values.update((id(p), array) for p, _, array in substituted)
    try:
        out = run(*inputs)
    finally:
        for p, previous, array in substituted:
            if frame.values.get(id(p)) is array:  # `run` has not written it
                frame.values.pop(id(p)) if previous is None else frame.values.update({id(p): previous})
    if outs is None:
        return out
    results = out if isinstance(out, tuple) else (out,)
    outputs = [
        box(partitioner.hold(o._array, cuts, f"output {number} of {what}")) if isinstance(o, Tensor) else o
        for number, (o, cuts) in enumerate(_zip_strategies(what, "output", results, outs))
    ]
    return tuple(outputs) if isinstance(out, tuple) else outputs[0]


def _zip_strategies(what, kind, values, strategies):
    if len(values) != len(strategies):
        raise RuntimeError(
            f"For '{what}', the strategy should have one tuple for each of the {len(values)} {kind}s, but has "
            f"{len(strategies)}."
        )
    return zip(values, strategies, strict=True)


def _match_parameter_plan(what, plan, named_params):
    """Return [(Parameter, strategy, its name)] of the Parameters that a plan names."""
    matches = []
    for name, cuts in plan.items():
        path = name.removeprefix("self.")
        params = [p for k, p in named_params if path in (k, p.name) or path.endswith(f".{k}")]
        if not params:
            names = ", ".join(k for k, _ in named_params) or "none"
            raise RuntimeError(f"For '{what}', 'parameter_plan' names '{name}', but its Parameters are: {names}.")
        matches.append((params[0], cuts, f"Parameter '{name}'"))
    return matches
