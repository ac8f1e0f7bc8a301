"""Import ONNX operators: Fourier transforms, windows and mel filters."""

from collections.abc import Callable

import numpy as np

from msnb.formats import onnx

from .products import matmul
from .reader import Reader
from .shapes import slice_axis
from .values import Node, Ref, UnsupportedOperator, handles


def _make_dft_matrices(r: Reader, count: int, length: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cosine and sine matrices, (length, count), that transform `length` values to `count` frequencies."""
    r.reserve_constant(2, length, count)
    angle = 2 * np.pi * (np.outer(np.arange(length), np.arange(count)) % length) / length
    return np.cos(angle), sign * np.sin(angle)


def _add_fourier_transform(r: Reader, x: Ref, length: int, count: int, inverse: bool, is_real: bool = False) -> Ref:
    """Return the Fourier transform along the second last axis. The last axis has length 1 (real part), or 2 (real and
    imaginary part).

    Args:
        r (Reader): The reader.
        x (Ref): (..., n, 1 or 2).
        length (int): Length of the transform. `x` is padded with zeros or cut to it.
        count (int): Number of frequencies.
        inverse (bool): True for the inverse transform.
        is_real (bool): True if the result is real and `x` has half of its frequencies. Default: False.
    """
    n = x.shape[-2]
    used_length = min(n, length)
    cos, sin = (
        table[:used_length].astype(x.dtype) for table in _make_dft_matrices(r, count, length, 1 if inverse else -1)
    )
    x = slice_axis(r, x, x.rank - 2, 0, used_length)
    if is_real:  # each frequency except for the first and the middle one also stands for its conjugate
        multiplicity = np.array([1 if k in (0, length / 2) else 2 for k in range(used_length)], x.dtype)[:, None]
        cos, sin = cos * multiplicity, sin * multiplicity
    rows = r.transpose(x, (*range(x.rank - 2), x.rank - 1, x.rank - 2))  # values on the last axis
    real = slice_axis(r, rows, x.rank - 2, 0, 1)
    components = [matmul(r, real, r.const(table)) for table in (cos, sin)]
    if x.shape[-1] == 2:
        imaginary = slice_axis(r, rows, x.rank - 2, 1, 2)
        components[0] = r("Sub", components[0], matmul(r, imaginary, r.const(sin)))
        components[1] = r("Add", components[1], matmul(r, imaginary, r.const(cos)))
    result = components[0] if is_real else r("Concat", components, axis=x.rank - 2)
    result = r.transpose(result, (*range(x.rank - 2), x.rank - 1, x.rank - 2))
    return r("RealDiv", result, r.like(length, result)) if inverse else result


@handles("DFT")
def _read_dft(r, node):
    x, length = node.inputs[0], node.input(1)
    axis = node.attr("axis", 1) if node.version < 20 else -2 if node.input(2) is None else r.ints(node.input(2))[0]
    axis %= x.rank
    inverse, is_onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    is_real = inverse and is_onesided
    if length is not None:
        length = r.ints(length)[0]
    else:
        length = 2 * (x.shape[axis] - 1) if is_real else x.shape[axis]
    perm = [i for i in range(x.rank - 1) if i != axis] + [axis, x.rank - 1]
    count = length // 2 + 1 if is_onesided and not inverse else length
    spectrum = _add_fourier_transform(r, r.transpose(x, perm), length, count, inverse, is_real)
    return r.transpose(spectrum, np.argsort(perm))


@handles("STFT")
def _read_stft(r, node):
    x, step, window, length = node.inputs[0], r.ints(node.inputs[1])[0], node.input(2), node.input(3)
    length = r.ints(length)[0] if length is not None else window.shape[0] if window is not None else x.shape[1]
    count = 1 + (x.shape[1] - length) // step
    r.reserve_constant(count, length)
    frames = r("Gather", x, r.const(np.arange(count)[:, None] * step + np.arange(length)), 1)
    if window is not None:
        frames = r("Mul", frames, r.reshape(window, (length, 1)))
    return _add_fourier_transform(r, frames, length, length // 2 + 1 if node.attr("onesided", 1) else length, False)


@handles("MelWeightMatrix")
def _read_mel_weight_matrix(r, node):
    """Return triangular filters over the frequencies, equally spaced on the mel scale."""
    bins, length, rate = (int(r.ints(node.inputs[i])[0]) for i in range(3))
    low, high = (float(np.asarray(r.static(node.inputs[i])).reshape(())) for i in (3, 4))
    dtype = onnx.DTYPES.get(node.attr("output_datatype", 1))
    if dtype is None:
        raise UnsupportedOperator("its element type is none that msnb has")
    r.reserve_constant(length // 2 + 1, bins)
    ends = [2595 * np.log10(1 + hertz / 700) for hertz in (low, high)]
    mels = ends[0] + np.arange(bins + 2) * (ends[1] - ends[0]) / (bins + 2)
    edges = ((length + 1) * 700 * (10 ** (mels / 2595) - 1) // rate).astype(int)
    filters, bin_numbers = np.zeros((length // 2 + 1, bins)), np.arange(length // 2 + 1)
    for i, (left, centre, right) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        rising = (bin_numbers >= left) & (bin_numbers <= centre)
        filters[rising, i] = 1 if centre == left else (bin_numbers[rising] - left) / (centre - left)
        falling = (bin_numbers >= centre) & (bin_numbers < right)
        filters[falling, i] = (right - bin_numbers[falling]) / max(right - centre, 1)
    return r.const(filters.astype(dtype))


def _register_window_function(name: str, make: Callable[[np.ndarray], np.ndarray]) -> None:
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        count = int(r.ints(node.inputs[0])[0])
        r.reserve_constant(count)
        period = count if node.attr("periodic", 1) else count - 1
        angle = 2 * np.pi * np.arange(count) / period
        dtype = onnx.DTYPES.get(node.attr("output_datatype", 1))
        if dtype is None:
            raise UnsupportedOperator("its element type is none that msnb has")
        return r.const(make(angle).astype(dtype))


_register_window_function("HannWindow", lambda a: 0.5 - 0.5 * np.cos(a))
_register_window_function("HammingWindow", lambda a: 25 / 46 - 21 / 46 * np.cos(a))
_register_window_function("BlackmanWindow", lambda a: 0.42 - 0.5 * np.cos(a) + 0.08 * np.cos(2 * a))
