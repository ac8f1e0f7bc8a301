"""Integrated gradients and SmoothGrad: averages of gradients at several values of the source."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.insight.attribution.traced_network import Call

QUADRATURES = ("gausslegendre", "trapezoid")


def _prepare_path(source, inputs, indices, baseline):
    """Return (baseline, value minus baseline, scores of the value, scores of the baseline)."""
    value = source.read(inputs)
    start = jnp.broadcast_to(baseline.astype(value.dtype), value.shape)
    scores = source.compute_scores(value, inputs, indices)
    return start, value - start, scores, source.compute_scores(start, inputs, indices)


def _add_step_of_path(source, inputs, indices, total, start, difference, position, weight):
    """Return `total` plus the weighted gradient at a position between the baseline, 0, and the value, 1."""
    value = (start + position * difference).astype(start.dtype)
    gradient, _ = source.differentiate(value, inputs, indices)
    return total + weight * gradient.astype(jnp.float32)


def run_integrated_gradients(
    call: Call, baseline: Any = 0.0, steps: int = 50, quadrature: str = "gausslegendre"
) -> tuple[Any, Any, Any]:
    """Return (integrated gradients, scores, scores of the baseline) of a call."""
    if quadrature not in QUADRATURES:
        raise ValueError(f"'quadrature' should be 'gausslegendre' or 'trapezoid', but got {quadrature!r}.")
    least = 1 if quadrature == "gausslegendre" else 2
    check_count("steps", steps, least)
    start = _read_baseline(call, baseline)
    start, difference, scores, baseline_scores = call.run("path", _prepare_path, start)
    total = np.zeros(difference.shape, np.float32)
    # a loop in Python: XLA runs a convolution inside a compiled loop several times slower on CPU, and Ctrl-C stops it
    for position, weight in zip(*_list_positions(steps, quadrature), strict=True):
        total = call.run("step of path", _add_step_of_path, total, start, difference, position, weight)
    return np.asarray(total) * np.asarray(difference, np.float32), scores, baseline_scores


def _read_baseline(call, baseline):
    array = baseline.asnumpy() if isinstance(baseline, Tensor) else np.asarray(baseline)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise TypeError(f"'baseline' should be a number or an array of real numbers, but got {describe(baseline)}.")
    shape = tuple(call.attributed.shape) if call.source.point is None else call.source.point.shape
    try:
        is_suitable = np.broadcast_shapes(array.shape, shape) == tuple(shape)
    except ValueError:
        is_suitable = False
    if not is_suitable:
        raise ValueError(
            f"'baseline' should be a number or an array that broadcasts to the shape {list(shape)}, but its shape is "
            f"{list(array.shape)}."
        )
    return array.astype(np.float32)


def _list_positions(steps, quadrature):
    """Return (positions from 0 to 1, weights whose sum is 1)."""
    if quadrature == "gausslegendre":
        roots, weights = np.polynomial.legendre.leggauss(steps)
        positions, weights = (roots + 1) / 2, weights / 2
    else:
        positions = np.linspace(0, 1, steps)
        weights = np.full(steps, 1 / (steps - 1))
        weights[[0, -1]] /= 2
    return positions.astype(np.float32), weights.astype(np.float32)


def _prepare_samples(source, inputs, indices, noise):
    """Return (value, standard deviation of the noise of each example, scores)."""
    value = source.read(inputs)
    axes = tuple(range(1, value.ndim))
    spread = jnp.max(value, axis=axes, keepdims=True) - jnp.min(value, axis=axes, keepdims=True)
    return value, noise * spread.astype(jnp.float32), source.compute_scores(value, inputs, indices)


def _add_sample(source, inputs, indices, total, value, spread, seed, number):
    """Return `total` plus the gradient at the value with noise."""
    noisy = (value + spread * draw_noise(seed, number, value.shape)).astype(value.dtype)
    gradient, _ = source.differentiate(noisy, inputs, indices)
    return total + gradient.astype(jnp.float32)


def draw_noise(seed: Any, number: Any, shape: tuple[int, ...]) -> Any:
    """Return the standard normal noise of one sample of SmoothGrad."""
    return jax.random.normal(jax.random.fold_in(jax.random.key(seed), number), shape, jnp.float32)


def run_smooth_gradient(call: Call, samples: int = 25, noise: float = 0.15, seed: int = 0) -> tuple[Any, Any]:
    """Return (mean of the gradients, scores) of a call."""
    check_count("samples", samples, 1)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"'seed' should be an int, but got {describe(seed)}.")
    if isinstance(noise, bool) or not isinstance(noise, (int, float)) or not noise >= 0:
        raise ValueError(f"'noise' should be a number of at least 0, but got {noise!r}.")
    value, spread, scores = call.run("samples", _prepare_samples, np.float32(noise))
    total, seed = np.zeros(value.shape, np.float32), np.uint32(seed % 2**32)
    for number in np.arange(samples, dtype=np.uint32):
        total = call.run("sample", _add_sample, total, value, spread, seed, number)
    return np.asarray(total) / samples, scores


def check_count(name: str, value: Any, least: int) -> None:
    """Raise ValueError if `value` is not an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"'{name}' should be an int of at least {least}, but got {value!r}.")
