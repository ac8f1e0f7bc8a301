"""Fourier transforms over the last axes, and short-time Fourier transforms."""

import jax.numpy as jnp

from msnb.common.kinds import Between, Bool, Int, OneOf, PositiveInt, Shape
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import BOOL, COMPLEX, FLOAT, INT, dtype_in, rank, some, tensor_argument
from msnb.ops.array.create import Ones
from msnb.ops.math._elementwise import floating
from msnb.ops.math.complex_numbers import Real

_REAL = frozenset(t for t in FLOAT if t.itemsize > 2)


@operator
def FFTWithSize(
    x,
    *,
    signal_ndim: Between(Int, 1, 3),
    inverse: Bool,
    real: Bool,
    norm: OneOf("backward", "forward", "ortho") = "backward",
    onesided: Bool = True,
    signal_sizes: Shape = (),
):
    """Fourier transforms over the last axes.

    Args:
        signal_ndim (int): Number of transformed axes, 1 to 3.
        inverse (bool): Compute the inverse transform, from frequencies to the signal.
        real (bool): The signal is real.
        norm (str): "backward" divides the inverse transform by the number of elements, "forward" divides the forward
            transform, "ortho" divides both by the square root of the number. Default: "backward".
        onesided (bool): Omit the redundant frequencies of a real signal. Default: True.
        signal_sizes (tuple[int]): Lengths of the real signal that the inverse transform of one-sided frequencies
            returns. Default: (), which makes the last length even.

    Inputs:
        - **x** (Tensor) - complex64 or complex128; float32, float64, integers or bool where a real signal is
          transformed.

    Outputs:
        Tensor, complex, or real where a real signal is the result.

    Raises:
        TypeError: If `x` is of another type.
        ValueError: If `x` has fewer dimensions than `signal_ndim`, or an argument has an unsupported value.
    """
    op = "FFTWithSize"
    dtype_in(op, "x", x, _REAL | INT | BOOL if real and not inverse else COMPLEX)
    x = floating(x)
    if x.ndim < signal_ndim:
        raise ValueError(f"For '{op}', 'x' should have at least {signal_ndim} dimensions, but got shape {x.shape}.")
    axes = tuple(range(-signal_ndim, 0))
    if not real:
        return (jnp.fft.ifftn if inverse else jnp.fft.fftn)(x, axes=axes, norm=norm)
    if not inverse:
        return (jnp.fft.rfftn if onesided else jnp.fft.fftn)(x, axes=axes, norm=norm)
    if not onesided:
        return jnp.real(jnp.fft.ifftn(x, axes=axes, norm=norm))
    return jnp.fft.irfftn(x, signal_sizes[-signal_ndim:] or None, axes, norm)


@operator
def STFT(
    x,
    window,
    *,
    n_fft: PositiveInt,
    hop_length: PositiveInt,
    win_length: PositiveInt,
    normalized: Bool,
    onesided: Bool,
    return_complex: Bool,
):
    """Short-time Fourier transform: the Fourier transforms of the frames of a signal.

    Args:
        n_fft (int): Length of a frame.
        hop_length (int): Distance from one frame to the next, in samples.
        win_length (int): Length of the window, which is centred in a frame.
        normalized (bool): Divide the result by the square root of `n_fft`.
        onesided (bool): Omit the redundant frequencies of a real signal.
        return_complex (bool): Return complex numbers; if False, a last dimension of length 2 holds real and imaginary
            parts.

    Inputs:
        - **x** (Tensor) - The signal, (L,) or (N, L), float32, float64 or complex.
        - **window** (Tensor) - (win_length,).

    Outputs:
        Tensor, (*, frequencies, frames), or (*, frequencies, frames, 2).

    Raises:
        TypeError: If `x` or `window` is of another type.
        ValueError: If the lengths do not fit.
    """
    op = "STFT"
    dtype_in(op, "x", x, _REAL | COMPLEX)
    dtype_in(op, "window", window, _REAL | COMPLEX)
    if x.ndim not in (1, 2) or x.shape[-1] < n_fft:
        raise ValueError(f"For '{op}', 'x' should be (L,) or (N, L) with L of at least {n_fft}, but got {x.shape}.")
    if window.shape != (win_length,) or win_length > n_fft:
        raise ValueError(
            f"For '{op}', 'window' should have the shape ({win_length},), no longer than {n_fft}, but got "
            f"{window.shape}."
        )
    before = (n_fft - win_length) // 2
    window = jnp.pad(window, (before, n_fft - win_length - before))
    sample_indices = hop_length * jnp.arange((x.shape[-1] - n_fft) // hop_length + 1)[:, None] + jnp.arange(n_fft)
    frames = x[..., sample_indices] * window
    one_sided = onesided and not jnp.issubdtype(frames.dtype, jnp.complexfloating)
    spectra = (jnp.fft.rfft if one_sided else jnp.fft.fft)(frames, norm="ortho" if normalized else "backward")
    spectra = spectra.swapaxes(-1, -2)
    if onesided and not one_sided:
        spectra = spectra[..., : n_fft // 2 + 1, :]
    return spectra if return_complex else jnp.stack([jnp.real(spectra), jnp.imag(spectra)], -1)


@spelling(STFT)
def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Short-time Fourier transform: the Fourier transforms of the frames of a signal.

    Args:
        x (Tensor): The signal, (L,) or (N, L), float32, float64 or complex.
        n_fft (int): Length of a frame.
        hop_length (int): Distance from one frame to the next, in samples. Default: None, a quarter of `n_fft`.
        win_length (int): Length of the window. Default: None, `n_fft`.
        window (Tensor): (win_length,). Default: None, ones.
        center (bool): Pad the signal so that each frame is centred at its time. Default: True.
        pad_mode (str): The padding: "CONSTANT" with zeros, "REFLECT" or "SYMMETRIC". Default: "REFLECT".
        normalized (bool): Divide the result by the square root of `n_fft`. Default: False.
        onesided (bool): Omit the redundant frequencies of a real signal. Default: None, True for a real signal.
        return_complex (bool): Return complex numbers; if False, a last dimension of length 2 holds real and imaginary
            parts. Default: None, True for a complex signal.

    Returns:
        Tensor, (*, frequencies, frames), or (*, frequencies, frames, 2).

    Raises:
        TypeError: If `x` or `window` is of another type.
        ValueError: If the lengths do not fit, or `pad_mode` has another value.
    """
    rank("stft", "x", tensor_argument("stft", "x", x), 1, 2)
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if window is None:
        window = Ones.functional((win_length,), Real.functional(x[..., :1]).dtype)
    if center:
        how = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}.get(pad_mode.upper())
        if how is None:
            raise ValueError(
                f"For 'stft', 'pad_mode' should be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', but got {pad_mode!r}."
            )
        some("stft", "x", x, -1)
        x = _Extended.functional(x, n_fft // 2, how)
    onesided = not x.is_complex() if onesided is None else onesided
    return_complex = x.is_complex() if return_complex is None else return_complex
    return STFT(n_fft, hop_length, win_length, normalized, onesided, return_complex)(x, window)


@operator
def _Extended(x, *, count: Int, how: OneOf("constant", "reflect", "symmetric")):
    """Pad a signal with `count` values at each end."""
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(count, count)], how)


_SPECTRUM = Values([1 + 2j, 3 - 1j, 2 + 0.5j], "complex64")
_HALF = "a spectrum in float16 is none that MindSpore has"
CASES = [
    case(FFTWithSize, _SPECTRUM, signal_ndim=1, inverse=False, real=False),
    case(FFTWithSize, _SPECTRUM, signal_ndim=1, inverse=True, real=True),
    case(FFTWithSize, _SPECTRUM, signal_ndim=1, inverse=True, real=True, norm="forward", signal_sizes=(5,)),
    case(FFTWithSize, F(2, 4), signal_ndim=1, inverse=False, real=True, norm="ortho").without("half", _HALF),
    case(FFTWithSize, F(2, 3, 4), signal_ndim=2, inverse=False, real=True, onesided=False).without("half", _HALF),
    case(FFTWithSize, Values([[1 + 2j, 0j], [2j, 1.0]], "complex64"), signal_ndim=2, inverse=True, real=False),
    case(
        STFT, F(2, 8), F(4), n_fft=4, hop_length=2, win_length=4, normalized=False, onesided=True, return_complex=False
    ).without("half", _HALF),
    case(stft, F(9), 4, return_complex=True, onesided=True).without("half", _HALF),
    case(stft, F(2, 9), 4, 2, 2, center=False, normalized=True, onesided=False, return_complex=False).without(
        "half", _HALF
    ),
    refused(ValueError, FFTWithSize, signal_ndim=4, inverse=False, real=False),
    refused(TypeError, FFTWithSize, F(3), signal_ndim=1, inverse=False, real=False),
]
