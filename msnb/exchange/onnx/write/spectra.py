"""Lowerings to ONNX: the short-time Fourier transform. The last axis has length 2: the real and the imaginary part."""

import math

import numpy as np

from msnb.ops import operations as ops

from .builder import Refused, lowerings


@lowerings.register(ops.STFT)
def _lower_stft(b, x, window, *, n_fft, hop_length, win_length, normalized, onesided, return_complex):
    if return_complex or "complex" in x.dtype or "complex" in window.dtype:
        raise Refused("ONNX does not compute with complex numbers; return_complex=False gives their two parts")
    kind = b.dtype
    left_pad = (n_fft - win_length) // 2
    if n_fft != win_length:
        window = b.op("Pad", b.cast(window, kind), b.ints([left_pad, n_fft - win_length - left_pad]))
    signal = b.unsqueeze(b.cast(x, kind), [0, 2] if x.rank == 1 else [2])
    step, length = (b.const(np.int64(n)) for n in (hop_length, n_fft))
    spectrum = b.op("STFT", signal, step, b.cast(window, kind), length, onesided=int(onesided))
    spectrum = b.op("Transpose", spectrum, perm=[0, 2, 1, 3])  # frequencies before frames
    if normalized:
        spectrum = b.op("Mul", spectrum, b.like(1 / math.sqrt(n_fft), spectrum))
    return spectrum if x.rank == 2 else b.squeeze(spectrum, [0])
