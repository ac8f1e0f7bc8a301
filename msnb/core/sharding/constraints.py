"""Strategies of Cells and functions as a whole: how what goes in, comes out, and is held lies on the devices."""

from collections.abc import Callable, Iterable
from typing import Any

from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread

Strategies = tuple[tuple[Any, ...], tuple[Any, ...] | None, dict[str, tuple[int, ...]]]


def checked(what: str, in_strategy: Any, out_strategy: Any, parameter_plan: Any) -> Strategies:
    """The arguments of a `shard`, if they are what they should be.

    Args:
        what (str): Whose arguments they are.
        in_strategy (tuple): For each input a tuple with the number of parts that each of its axes is cut into.
        out_strategy (tuple): Likewise for each output; None where XLA decides.
        parameter_plan (dict): Such a tuple for Parameters, by name; None for none.

    Raises:
        TypeError: If one of them is something else.
    """
    for name, given in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        if not (given is None and name == "out_strategy") and not (
            isinstance(given, tuple) and all(isinstance(cuts, tuple) for cuts in given)
        ):
            raise TypeError(f"For '{what}', '{name}' should be a tuple of tuples of ints, but got {describe(given)}.")
    plan = {} if parameter_plan is None else parameter_plan
    if not isinstance(plan, dict) or not all(isinstance(k, str) and isinstance(v, tuple) for k, v in plan.items()):
        raise TypeError(
            f"For '{what}', 'parameter_plan' should be a dict from names to tuples of ints, but got {describe(plan)}."
        )
    return in_strategy, out_strategy, dict(plan)


def call(
    what: str,
    strategies: Strategies,
    run: Callable[..., Any],
    args: tuple[Any, ...],
    held: Iterable[tuple[str, Any]] = (),
) -> Any:
    """What ``run(*args)`` gives in the graph that is being traced for several devices, laid out as strategies say.

    Args:
        what (str): What is called, for errors.
        strategies (tuple): See `checked`.
        run (Callable): Takes and gives Tensors.
        args (tuple): What it is given.
        held (Iterable): (path, Parameter) of those that a plan may speak of.

    Raises:
        RuntimeError: If a strategy does not fit.
    """
    ins, outs, plan = strategies
    frame, spread = _thread.frame, _thread.spread
    lying = _planned(what, plan, list(held))
    for number, (arg, cuts) in enumerate(_paired(what, "input", args, ins)):
        if isinstance(arg, Parameter):  # which stays one for what writes it
            lying.append((arg, cuts, f"input {number} of {what}"))
    inputs = list(args)
    for number, arg in enumerate(args):
        if isinstance(arg, Tensor) and not isinstance(arg, Parameter):
            inputs[number] = box(spread.hold(arg._array, ins[number], f"input {number} of {what}"))
    before = [(p, frame.values.get(id(p)), spread.hold(p._array, cuts, name)) for p, cuts, name in lying]
    frame.values.update((id(p), array) for p, _, array in before)
    try:
        out = run(*inputs)
    finally:
        for p, known, array in before:
            if frame.values.get(id(p)) is array:  # nobody has written it
                frame.values.pop(id(p)) if known is None else frame.values.update({id(p): known})
    if outs is None:
        return out
    results = out if isinstance(out, tuple) else (out,)
    found = [
        box(spread.hold(o._array, cuts, f"output {number} of {what}")) if isinstance(o, Tensor) else o
        for number, (o, cuts) in enumerate(_paired(what, "output", results, outs))
    ]
    return tuple(found) if isinstance(out, tuple) else found[0]


def _paired(what, kind, values, strategies):
    if len(values) != len(strategies):
        raise RuntimeError(
            f"For '{what}', the strategy should have one tuple for each of the {len(values)} {kind}s, but has "
            f"{len(strategies)}."
        )
    return zip(values, strategies, strict=True)


def _planned(what, plan, held):
    """[(Parameter, strategy, its name)] of a plan."""
    found = []
    for name, cuts in plan.items():
        path = name.removeprefix("self.")
        params = [p for k, p in held if path in (k, p.name) or path.endswith(f".{k}")]
        if not params:
            known = ", ".join(k for k, _ in held) or "none"
            raise RuntimeError(f"For '{what}', 'parameter_plan' names '{name}', but its Parameters are: {known}.")
        found.append((params[0], cuts, f"Parameter '{name}'"))
    return found
