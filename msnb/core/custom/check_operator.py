"""`check_operator`: tries an operator that a user has written, as msnb's own are tried."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb import context
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.grad import GradOperation
from msnb.core.transforms.jit import jit

_PROBES = 16  # elements of an input whose difference is taken


class Checked(NamedTuple):
    """What `check_operator` has found to be right.

    Attributes:
        results (tuple): (shape, dtype) of each result.
        gradients (tuple[int]): Places of the inputs whose gradient was compared with differences.
        worst (float): The largest difference of a gradient, relative to the largest gradient.
    """

    results: tuple[tuple[tuple[int, ...], str], ...]
    gradients: tuple[int, ...]
    worst: float


def check_operator(
    op: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    expected: Any = None,
    gradient: bool = True,
    tolerance: float = 1e-2,
) -> Checked:
    """Try an operator: that it gives the same in PYNATIVE mode and within a graph, and that its gradient is that of
    finite differences, in both modes.

    Args:
        op (Callable): The operator, an instance of its class; or any function of Tensors.
        inputs (Sequence): What it is called with. Those of floating point are differentiated.
        expected (Union[numpy.ndarray, Sequence]): What it is to give, for each result. Default: None, not asked.
        gradient (bool): Whether the gradient is tried. Default: True.
        tolerance (float): By how much a gradient may differ, relative to the largest one: differences in float32 are
            no better than a few thousandths. Default: 1e-2.

    Returns:
        Checked, what was compared.

    Raises:
        TypeError: If `op` cannot be called, or gives something else than Tensors.
        AssertionError: If something differs; it says what, where, and by how much.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> mindspore.check_operator(ops.Tanh(), [Tensor([0.5, -1.0], mindspore.float32)]).gradients
        (0,)
    """
    if not callable(op):
        raise TypeError(f"For 'check_operator', 'op' should be an operator, but got {describe(op)}.")
    name = getattr(op, "name", None) or getattr(op, "__name__", type(op).__name__)
    inputs = list(inputs)
    eager = _in_mode(context.PYNATIVE_MODE, lambda: _arrays(op(*inputs), name))
    compiled = _in_mode(context.PYNATIVE_MODE, lambda: _arrays(jit(lambda *x: op(*x))(*inputs), name))
    _compare(f"'{name}' within a graph", compiled, f"'{name}' on its own", eager, 1e-5)
    if expected is not None:
        wanted = [np.asarray(e) for e in (expected if isinstance(expected, (tuple, list)) else [expected])]
        _compare(f"'{name}'", eager, "what is expected", wanted, 1e-5)
    results = tuple((a.shape, a.dtype.name) for a in eager)
    places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.asnumpy().dtype.kind == "f"]
    floats = [i for i, a in enumerate(eager) if a.dtype.kind == "f"]
    if not gradient or not places or not floats:
        return Checked(results, (), 0.0)
    return Checked(results, tuple(places), _check_gradient(op, name, inputs, eager, places, floats, tolerance))


def _in_mode(mode, run):
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        return run()
    finally:
        context.set_context(mode=before)


def _arrays(out, name):
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for value in outs:
        if not isinstance(value, Tensor):
            raise TypeError(f"'{name}' should give Tensors, but gave {describe(value)}.")
    return [value.asnumpy() for value in outs]


def _compare(what, found, other, wanted, tolerance):
    if len(found) != len(wanted):
        raise AssertionError(f"{what} gives {len(found)} results, but {other} {len(wanted)}.")
    for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
        place = f"Result {number} of {what}" if len(found) > 1 else f"The result of {what}"
        if a.shape != b.shape or a.dtype != b.dtype:
            raise AssertionError(f"{place} is {a.dtype}{list(a.shape)}, but of {other} {b.dtype}{list(b.shape)}.")
        if not np.allclose(a, b, tolerance, tolerance, equal_nan=True):
            worst = np.unravel_index(np.nanargmax(np.abs(a.astype(np.float64) - b.astype(np.float64))), a.shape)
            raise AssertionError(f"{place} is {a[worst]} at {tuple(map(int, worst))}, but of {other} {b[worst]}.")


def _check_gradient(op, name, inputs, outputs, places, floats, tolerance):
    """The largest relative difference between the gradient and finite differences of a weighted sum of the results."""
    rng = np.random.default_rng(0)
    weights = [rng.uniform(0.5, 1.5, outputs[i].shape).astype(outputs[i].dtype) for i in floats]

    def total(*given):
        out = op(*given)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        parts = [(outs[i] * Tensor(w)).sum() for i, w in zip(floats, weights, strict=True)]
        return sum(parts[1:], parts[0])

    def gradients():
        found = GradOperation(get_all=True)(total)(*inputs)
        return [found[_position(inputs, place)].asnumpy() for place in places]

    eager = _in_mode(context.PYNATIVE_MODE, gradients)
    compiled = _in_mode(context.GRAPH_MODE, gradients)
    _compare(f"the gradient of '{name}' within a graph", compiled, "the gradient on its own", eager, 1e-4)
    worst = 0.0
    for place, found in zip(places, eager, strict=True):
        x = inputs[place].asnumpy()
        scale = max(float(np.abs(found).max(initial=0.0)), 1e-3)
        for flat in rng.permutation(x.size)[:_PROBES]:
            at = np.unravel_index(flat, x.shape)
            wanted = _difference(op, inputs, place, at, floats, weights)
            off = abs(float(found[at]) - wanted) / scale
            if not off <= tolerance:
                raise AssertionError(
                    f"The gradient of '{name}' by input {place} at {tuple(map(int, at))} is {float(found[at]):.6g}, "
                    f"but finite differences give {wanted:.6g}."
                )
            worst = max(worst, off)
    return worst


def _position(inputs, place):
    """Among the gradients that `get_all` gives, which are those of Tensors."""
    return sum(isinstance(x, Tensor) for x in inputs[:place])


def _difference(op, inputs, place, at, floats, weights):
    """A central difference, summed in float64."""
    x = inputs[place].asnumpy()
    step = 1e-2 * max(1.0, abs(float(x[at]))) if x.dtype != np.float64 else 1e-6
    sums, values = [], []
    for sign in (1, -1):
        moved = x.copy()
        moved[at] += sign * step
        values.append(float(moved[at]))
        outs = _in_mode(
            context.PYNATIVE_MODE,
            lambda moved=moved: _arrays(op(*inputs[:place], Tensor(moved), *inputs[place + 1 :]), "op"),
        )
        sums.append([outs[i].astype(np.float64) for i in floats])
    change = sum(float(((a - b) * w).sum()) for a, b, w in zip(*sums, weights, strict=True))
    return change / (values[0] - values[1])
