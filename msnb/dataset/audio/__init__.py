"""``mindspore.dataset.audio``: transforms of waveforms and spectrograms."""

from typing import Any

from msnb.dataset.audio import transforms, utils
from msnb.dataset.audio.transforms import *
from msnb.dataset.audio.transforms import __all__ as _transforms
from msnb.dataset.audio.utils import (
    BorderType,
    DensityFunction,
    FadeShape,
    GainType,
    Interpolation,
    MelType,
    Modulation,
    NormMode,
    NormType,
    ResampleMethod,
    ScaleType,
    WindowType,
    create_dct,
    linear_fbanks,
    melscale_fbanks,
)

__all__ = [
    *_transforms,
    "BorderType",
    "DensityFunction",
    "FadeShape",
    "GainType",
    "Interpolation",
    "MelType",
    "Modulation",
    "NormMode",
    "NormType",
    "ResampleMethod",
    "ScaleType",
    "WindowType",
    "create_dct",
    "linear_fbanks",
    "melscale_fbanks",
]


def __getattr__(name: str) -> Any:
    return getattr(transforms, name)
