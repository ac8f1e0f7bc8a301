"""Readers of Fourier transforms and of what sounds are prepared with."""

from collections.abc import Callable

import numpy as np

from msnb.formats import onnx

from .products import matmul
from .reader import Reader
from .shapes import part
from .values import Node, Ref, Unread, handles


def _turned(r: Reader, count: int, length: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines, (length, count), with which `length` values become `count` frequencies."""
    r.room(2, length, count)
    angle = 2 * np.pi * (np.outer(np.arange(length), np.arange(count)) % length) / length
    return np.cos(angle), sign * np.sin(angle)


def _transformed(r: Reader, x: Ref, length: int, count: int, inverse: bool, whole: bool = False) -> Ref:
    """The transform of the axis before the last, which holds the real part, or real and imaginary part.

    Args:
        r (Reader): Takes the nodes.
        x (Ref): (..., n, 1 or 2).
        length (int): As many values as are transformed: those missing are 0, those beyond are left out.
        count (int): How many frequencies are wanted.
        inverse (bool): Whether it goes back.
        whole (bool): Whether the result is real, and `x` the one half of its frequencies. Default: False.
    """
    n = x.shape[-2]
    kept = min(n, length)
    cos, sin = (table[:kept].astype(x.dtype) for table in _turned(r, count, length, 1 if inverse else -1))
    x = part(r, x, x.rank - 2, 0, kept)
    if whole:  # each frequency but the first and the middle one stands for two
        twice = np.array([1 if k in (0, length / 2) else 2 for k in range(kept)], x.dtype)[:, None]
        cos, sin = cos * twice, sin * twice
    rows = r.transpose(x, (*range(x.rank - 2), x.rank - 1, x.rank - 2))  # the values last
    real = part(r, rows, x.rank - 2, 0, 1)
    parts = [matmul(r, real, r.const(table)) for table in (cos, sin)]
    if x.shape[-1] == 2:
        imaginary = part(r, rows, x.rank - 2, 1, 2)
        parts[0] = r("Sub", parts[0], matmul(r, imaginary, r.const(sin)))
        parts[1] = r("Add", parts[1], matmul(r, imaginary, r.const(cos)))
    made = parts[0] if whole else r("Concat", parts, axis=x.rank - 2)
    made = r.transpose(made, (*range(x.rank - 2), x.rank - 1, x.rank - 2))
    return r("RealDiv", made, r.like(length, made)) if inverse else made


@handles("DFT")
def _dft(r, node):
    x, length = node.inputs[0], node.input(1)
    axis = node.attr("axis", 1) if node.version < 20 else -2 if node.input(2) is None else r.ints(node.input(2))[0]
    axis %= x.rank
    inverse, half = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    whole = inverse and half
    if length is not None:
        length = r.ints(length)[0]
    else:
        length = 2 * (x.shape[axis] - 1) if whole else x.shape[axis]
    perm = [i for i in range(x.rank - 1) if i != axis] + [axis, x.rank - 1]
    count = length // 2 + 1 if half and not inverse else length
    made = _transformed(r, r.transpose(x, perm), length, count, inverse, whole)
    return r.transpose(made, np.argsort(perm))


@handles("STFT")
def _stft(r, node):
    x, step, window, length = node.inputs[0], r.ints(node.inputs[1])[0], node.input(2), node.input(3)
    length = r.ints(length)[0] if length is not None else window.shape[0] if window is not None else x.shape[1]
    count = 1 + (x.shape[1] - length) // step
    r.room(count, length)
    frames = r("Gather", x, r.const(np.arange(count)[:, None] * step + np.arange(length)), 1)
    if window is not None:
        frames = r("Mul", frames, r.reshape(window, (length, 1)))
    return _transformed(r, frames, length, length // 2 + 1 if node.attr("onesided", 1) else length, False)


@handles("MelWeightMatrix")
def _mel(r, node):
    """Triangles over the frequencies, whose edges are as far from each other as they sound."""
    bins, length, rate = (int(r.ints(node.inputs[i])[0]) for i in range(3))
    low, high = (float(np.asarray(r.static(node.inputs[i])).reshape(())) for i in (3, 4))
    dtype = onnx.DTYPES.get(node.attr("output_datatype", 1))
    if dtype is None:
        raise Unread("its element type is none that msnb has")
    r.room(length // 2 + 1, bins)
    ends = [2595 * np.log10(1 + hertz / 700) for hertz in (low, high)]
    mels = ends[0] + np.arange(bins + 2) * (ends[1] - ends[0]) / (bins + 2)
    edges = ((length + 1) * 700 * (10 ** (mels / 2595) - 1) // rate).astype(int)
    made, places = np.zeros((length // 2 + 1, bins)), np.arange(length // 2 + 1)
    for i, (left, centre, right) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        rising = (places >= left) & (places <= centre)
        made[rising, i] = 1 if centre == left else (places[rising] - left) / (centre - left)
        falling = (places >= centre) & (places < right)
        made[falling, i] = (right - places[falling]) / max(right - centre, 1)
    return r.const(made.astype(dtype))


def _window(name: str, make: Callable[[np.ndarray], np.ndarray]) -> None:
    @handles(name)
    def read(r: Reader, node: Node) -> Ref:
        count = int(r.ints(node.inputs[0])[0])
        r.room(count)
        whole = count if node.attr("periodic", 1) else count - 1
        angle = 2 * np.pi * np.arange(count) / whole
        dtype = onnx.DTYPES.get(node.attr("output_datatype", 1))
        if dtype is None:
            raise Unread("its element type is none that msnb has")
        return r.const(make(angle).astype(dtype))


_window("HannWindow", lambda a: 0.5 - 0.5 * np.cos(a))
_window("HammingWindow", lambda a: 25 / 46 - 21 / 46 * np.cos(a))
_window("BlackmanWindow", lambda a: 0.42 - 0.5 * np.cos(a) + 0.08 * np.cos(2 * a))
