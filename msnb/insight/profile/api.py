"""`profile`: run a network a few times and measure its steps."""

import collections
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from msnb.common.progress import Wait, Work
from msnb.nn import TrainOneStepCell, WithEvalCell
from msnb.nn.optim import Optimizer

from .machine import machine
from .record import Recorder, Recording
from .result import Profile

_BUDGET = 4.0  # seconds for the steps of one phase


def profile(net: Callable[..., Any], *inputs: Any, steps: int = 10, warm_up: int = 2, exact: bool = False) -> Profile:
    """Run a Cell or a function several times and measure each step.

    A function that takes several steps itself, such as a call of `Model.train`, is run once: its steps are measured,
    and the Parameters keep the values after that run.

    Args:
        net (Callable): a Cell, a compiled function, or any function that calls Cells or compiled functions.
        inputs: its arguments.
        steps (int): number of steps that are measured without a kernel trace, and again with one. Each of the two
            measurements ends earlier after about 4 seconds. Default: 10.
        warm_up (int): number of steps before the measurement. Programs are compiled in them. Default: 2.
        exact (bool): if True, each group of fused operators is then replayed separately, see `Profile.replay`.
            Default: False.

    Returns:
        Profile.

    Raises:
        TypeError: If `net` cannot be called.
        ValueError: If `steps` is not a positive int, or `warm_up` is not an int of at least 0.

    Examples:
        >>> import numpy as np
        >>> from msnb import Tensor, nn
        >>> from msnb.insight.profile import profile
        >>> result = profile(nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)))
        >>> result.rows[0].seconds > 0
        True
    """
    if not callable(net):
        raise TypeError(
            f"For 'profile', 'net' should be a Cell or a function, but got {type(net).__name__}. "
            f"Give the inputs separately: profile(net, x), not profile(net(x))."
        )
    for name, value, least in (("steps", steps, 1), ("warm_up", warm_up, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"For 'profile', '{name}' should be an int of at least {least}, but got {value!r}.")
    machine()
    name = getattr(net, "__name__", type(net).__name__)
    recorder = Recorder(steps=10 * steps, kernels=False, repeated=True).start()
    repeats = several = 0
    try:
        for number in range(max(1, warm_up)):
            with Wait("profiling: compiling the first step") if number == 0 else nullcontext():
                _run_step(recorder, net, inputs)
            repeats += 1
            if number == 0 and (several := count_steps(recorder.recording)):
                break
            recorder.trace_no_repeats()
        if not several:
            with Work("profiling", 2 * steps) as work:
                repeats += _run_steps(recorder, net, inputs, steps, work)
                recorder.trace()
                # the first traced step also starts the tracer's threads, so it is not counted
                _run_step(recorder, net, inputs)
                recorder.recording.steps.pop()
                repeats += 1 + _run_steps(recorder, net, inputs, steps, work)
    finally:
        recording = recorder.stop()
    if several:
        recording.steps.clear()
    result = Profile(recording, name)
    if several:
        result.notes.append(
            f"It takes {several} steps itself, so it ran once: a step is one of them. Its Parameters are as one run "
            "leaves them."
        )
    elif any(_updates_trainable_parameters(program) for program in recording.programs):
        result.notes.append(f"It ran {repeats} times, and its Parameters have moved as many steps.")
    if exact:
        result.replay()
    return result


def count_steps(recording: Recording) -> int:
    """Return the number of steps of a loop such as `Model.train`: the calls of its training or evaluating program.

    Args:
        recording (Recording): the recording of one run.

    Returns:
        int, 0 if no such program was called twice. The run is then a single step.
    """
    counts = collections.Counter(id(net) for net, _, _ in recording.calls)
    training = {id(program.root()) for program in recording.programs if _updates_trainable_parameters(program)}
    found = [
        counts[id(net)]
        for net, _, _ in recording.calls
        if isinstance(net, (TrainOneStepCell, WithEvalCell, Optimizer)) or id(net) in training
    ]
    most = max(found, default=0)
    return most if most > 1 else 0


def _updates_trainable_parameters(program):
    """Return True if a program updates trainable Parameters."""
    return any(parameter.requires_grad for parameter in program.written)


def _run_steps(recorder, net, inputs, steps, work):
    """Run the requested steps, or fewer within the time budget. Report their number to `work` and return it."""
    begun = time.perf_counter()
    for number in range(steps):
        _run_step(recorder, net, inputs)
        elapsed = time.perf_counter() - begun
        fit = min(steps, max(2, number + 1, round(_BUDGET / elapsed * (number + 1) + 0.5)))
        work.total -= steps - fit
        work.step()
        steps = fit
        if number + 1 >= steps:
            break
    return number + 1


def _run_step(recorder, net, inputs):
    with recorder.step():
        out = net(*inputs)
        recorder._last = out
