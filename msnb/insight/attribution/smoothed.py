"""Integrated gradients and SmoothGrad: averages of gradients at several values of the source.

Both call one compiled function, `Call.differentiate`, in a loop in Python. On CPU, XLA runs a convolution inside a
compiled loop several times slower, and Ctrl-C stops a loop in Python.
"""

from typing import Any

import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.insight.attribution.traced_network import Call

QUADRATURES = ("gausslegendre", "trapezoid")


def run_integrated_gradients(
    call: Call, baseline: Any = 0.0, steps: int = 50, quadrature: str = "gausslegendre"
) -> tuple[Any, Any, Any]:
    """Return (integrated gradients, scores, scores of the baseline) of a call."""
    if quadrature not in QUADRATURES:
        raise ValueError(f"'quadrature' should be 'gausslegendre' or 'trapezoid', but got {quadrature!r}.")
    _check_count("steps", steps, 1 if quadrature == "gausslegendre" else 2)
    value = call.read_value()
    start = _read_baseline(baseline, value)
    difference = value.astype(np.float32) - start
    total = np.zeros(value.shape, np.float64)
    for position, weight in zip(*_list_positions(steps, quadrature), strict=True):
        gradient, _ = call.differentiate((start + position * difference).astype(value.dtype))
        total += weight * gradient
    scores, baseline_scores = (call.differentiate(at)[1] for at in (value, start.astype(value.dtype)))
    return (total * difference).astype(np.float32), scores, baseline_scores


def _read_baseline(baseline, value):
    array = baseline.asnumpy() if isinstance(baseline, Tensor) else np.asarray(baseline)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise TypeError(f"'baseline' should be a number or an array of real numbers, but got {describe(baseline)}.")
    try:
        return np.broadcast_to(array.astype(np.float32), value.shape)
    except ValueError:
        raise ValueError(
            f"'baseline' should be a number or an array that broadcasts to the shape {list(value.shape)}, but its "
            f"shape is {list(array.shape)}."
        ) from None


def _list_positions(steps, quadrature):
    """Return (positions from 0 to 1, weights whose sum is 1)."""
    if quadrature == "gausslegendre":
        roots, weights = np.polynomial.legendre.leggauss(steps)
        return ((roots + 1) / 2).astype(np.float32), weights / 2
    weights = np.full(steps, 1 / (steps - 1))
    weights[[0, -1]] /= 2
    return np.linspace(0, 1, steps, dtype=np.float32), weights


def run_smooth_gradient(call: Call, samples: int = 25, noise: float = 0.15, seed: int = 0) -> tuple[Any, Any]:
    """Return (mean of the gradients, scores) of a call."""
    _check_count("samples", samples, 1)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"'seed' should be an int of at least 0, but got {describe(seed)}.")
    if isinstance(noise, bool) or not isinstance(noise, (int, float)) or not 0 <= noise < np.inf:
        raise ValueError(f"'noise' should be a finite number of at least 0, but got {noise!r}.")
    value = call.read_value()
    axes = tuple(range(1, value.ndim))
    low, high = (
        reduce(value.astype(np.float32), axis=axes, keepdims=True, initial=start)
        for reduce, start in ((np.min, np.inf), (np.max, -np.inf))
    )
    spread = noise * np.where(high < low, 0, high - low)  # an example without elements has no range
    total, generator = np.zeros(value.shape, np.float64), np.random.default_rng(seed)
    for _ in range(samples):
        noisy = value.astype(np.float32) + spread * draw_noise(generator, value.shape)
        total += call.differentiate(noisy.astype(value.dtype))[0]
    return (total / samples).astype(np.float32), call.differentiate(value)[1]


def draw_noise(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return the standard normal noise of one sample of SmoothGrad."""
    return generator.standard_normal(shape, np.float32)


def _check_count(name, value, least):
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"'{name}' should be an int of at least {least}, but got {value!r}.")
