"""`check_operator`: tests a user's operator as msnb's own operators are tested."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb import context
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.grad import GradOperation
from msnb.core.transforms.jit import jit

_PROBES = 16  # number of elements of an input that are compared with finite differences


class Checked(NamedTuple):
    """Result of `check_operator`: its comparisons.

    Attributes:
        results (tuple): (shape, dtype) of each result.
        gradients (tuple[int]): Positions of the inputs whose gradient was compared with finite differences.
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
    """Test an operator: equal results in PYNATIVE mode and in a graph, and a gradient that equals finite differences.

    Args:
        op (Callable): The operator, an instance of its class; or any function of Tensors.
        inputs (Sequence): Its inputs. Floating point inputs are differentiated.
        expected (Union[numpy.ndarray, Sequence]): The expected results. Default: None, not compared.
        gradient (bool): Test the gradient. Default: True.
        tolerance (float): Allowed difference of a gradient, relative to the largest one. Differences in float32 are
            accurate to a few thousandths. Default: 1e-2.

    Returns:
        Checked, the comparisons.

    Raises:
        TypeError: If `op` cannot be called, or returns objects that are not Tensors.
        AssertionError: If results differ; the message has the position and the difference.

    Examples:
        >>> mindspore.check_operator(ops.Tanh(), [Tensor([0.5, -1.0], mindspore.float32)]).gradients
        (0,)
    """
    if not callable(op):
        raise TypeError(f"For 'check_operator', 'op' should be an operator, but got {describe(op)}.")
    name = getattr(op, "name", None) or getattr(op, "__name__", type(op).__name__)
    inputs = list(inputs)
    eager = _run_in_mode(context.PYNATIVE_MODE, lambda: _convert_outputs_to_numpy(op(*inputs), name))
    compiled = _run_in_mode(
        context.PYNATIVE_MODE, lambda: _convert_outputs_to_numpy(jit(lambda *x: op(*x))(*inputs), name)
    )
    _require_equal_results(f"'{name}' within a graph", compiled, f"'{name}' on its own", eager, 1e-5)
    if expected is not None:
        expected_arrays = [np.asarray(e) for e in (expected if isinstance(expected, (tuple, list)) else [expected])]
        _require_equal_results(f"'{name}'", eager, "what is expected", expected_arrays, 1e-5)
    results = tuple((a.shape, a.dtype.name) for a in eager)
    positions = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.asnumpy().dtype.kind == "f"]
    floats = [i for i, a in enumerate(eager) if a.dtype.kind == "f"]
    if not gradient or not positions or not floats:
        return Checked(results, (), 0.0)
    return Checked(
        results, tuple(positions), _compare_gradient_numerically(op, name, inputs, eager, positions, floats, tolerance)
    )


def _run_in_mode(mode, run):
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        return run()
    finally:
        context.set_context(mode=before)


def _convert_outputs_to_numpy(out, name):
    outs = out if isinstance(out, (tuple, list)) else (out,)
    for value in outs:
        if not isinstance(value, Tensor):
            raise TypeError(f"'{name}' should give Tensors, but gave {describe(value)}.")
    return [value.asnumpy() for value in outs]


def _require_equal_results(name, results, reference_name, references, tolerance):
    if len(results) != len(references):
        raise AssertionError(f"{name} gives {len(results)} results, but {reference_name} {len(references)}.")
    for number, (a, b) in enumerate(zip(results, references, strict=True)):
        subject = f"Result {number} of {name}" if len(results) > 1 else f"The result of {name}"
        if a.shape != b.shape or a.dtype != b.dtype:
            raise AssertionError(
                f"{subject} is {a.dtype}{list(a.shape)}, but of {reference_name} {b.dtype}{list(b.shape)}."
            )
        if not np.allclose(a, b, tolerance, tolerance, equal_nan=True):
            worst = np.unravel_index(np.nanargmax(np.abs(a.astype(np.float64) - b.astype(np.float64))), a.shape)
            raise AssertionError(
                f"{subject} is {a[worst]} at {tuple(map(int, worst))}, but of {reference_name} {b[worst]}."
            )


def _compare_gradient_numerically(op, name, inputs, outputs, positions, floats, tolerance):
    """Return the largest relative difference between a gradient of a weighted sum and finite differences."""
    rng = np.random.default_rng(0)
    weights = [rng.uniform(0.5, 1.5, outputs[i].shape).astype(outputs[i].dtype) for i in floats]

    def total(*args):
        out = op(*args)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        terms = [(outs[i] * Tensor(w)).sum() for i, w in zip(floats, weights, strict=True)]
        return sum(terms[1:], terms[0])

    def gradients():
        grads = GradOperation(get_all=True)(total)(*inputs)
        return [grads[_find_gradient_index(inputs, place)].asnumpy() for place in positions]

    eager = _run_in_mode(context.PYNATIVE_MODE, gradients)
    compiled = _run_in_mode(context.GRAPH_MODE, gradients)
    _require_equal_results(f"the gradient of '{name}' within a graph", compiled, "the gradient on its own", eager, 1e-4)
    worst = 0.0
    for position, grad in zip(positions, eager, strict=True):
        x = inputs[position].asnumpy()
        scale = max(float(np.abs(grad).max(initial=0.0)), 1e-3)
        for flat in rng.permutation(x.size)[:_PROBES]:
            index = np.unravel_index(flat, x.shape)
            difference = _compute_finite_difference(op, inputs, position, index, floats, weights)
            error = abs(float(grad[index]) - difference) / scale
            if not error <= tolerance:
                raise AssertionError(
                    f"The gradient of '{name}' by input {position} at {tuple(map(int, index))} is "
                    f"{float(grad[index]):.6g}, "
                    f"but finite differences give {difference:.6g}."
                )
            worst = max(worst, error)
    return worst


def _find_gradient_index(inputs, position):
    """Return the index of an input among the gradients of `get_all`, which are those of Tensors."""
    return sum(isinstance(x, Tensor) for x in inputs[:position])


def _compute_finite_difference(op, inputs, position, index, floats, weights):
    """Return a central difference, summed in float64."""
    x = inputs[position].asnumpy()
    step = 1e-2 * max(1.0, abs(float(x[index]))) if x.dtype != np.float64 else 1e-6
    sums, values = [], []
    for sign in (1, -1):
        moved = x.copy()
        moved[index] += sign * step
        values.append(float(moved[index]))
        outs = _run_in_mode(
            context.PYNATIVE_MODE,
            lambda moved=moved: _convert_outputs_to_numpy(
                op(*inputs[:position], Tensor(moved), *inputs[position + 1 :]), "op"
            ),
        )
        sums.append([outs[i].astype(np.float64) for i in floats])
    change = sum(float(((a - b) * w).sum()) for a, b, w in zip(*sums, weights, strict=True))
    return change / (values[0] - values[1])
