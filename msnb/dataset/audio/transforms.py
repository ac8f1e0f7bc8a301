"""The audio transforms, under MindSpore's path ``mindspore.dataset.audio.transforms``."""

from typing import Any

from msnb.common.missing import asked
from msnb.dataset.audio._biquads import (
    AllpassBiquad,
    BandBiquad,
    BandpassBiquad,
    BandrejectBiquad,
    BassBiquad,
    DeemphBiquad,
    EqualizerBiquad,
    HighpassBiquad,
    LowpassBiquad,
    RiaaBiquad,
    TrebleBiquad,
)
from msnb.dataset.audio._complex import Angle, ComplexNorm, Magphase
from msnb.dataset.audio._effects import Flanger, Phaser
from msnb.dataset.audio._filters import Biquad, Filtfilt, LFilter
from msnb.dataset.audio._frames import ComputeDeltas, SlidingWindowCmn
from msnb.dataset.audio._levels import (
    AmplitudeToDB,
    Contrast,
    DBToAmplitude,
    DCShift,
    Fade,
    Gain,
    MuLawDecoding,
    MuLawEncoding,
    Overdrive,
    Vol,
)
from msnb.dataset.audio._masks import FrequencyMasking, MaskAlongAxis, MaskAlongAxisIID, TimeMasking
from msnb.dataset.audio._mel import LFCC, MFCC, MelScale, MelSpectrogram
from msnb.dataset.audio._phase import GriffinLim, InverseSpectrogram, PhaseVocoder, PitchShift, TimeStretch
from msnb.dataset.audio._pitch import DetectPitchFrequency, Dither
from msnb.dataset.audio._resample import Resample
from msnb.dataset.audio._spectrum import SpectralCentroid, Spectrogram
from msnb.dataset.core.tensor_op import Implementation as Implementation
from msnb.dataset.core.tensor_op import TensorOperation as AudioTensorOperation  # noqa: F401

__all__ = [
    "AllpassBiquad",
    "AmplitudeToDB",
    "Angle",
    "BandBiquad",
    "BandpassBiquad",
    "BandrejectBiquad",
    "BassBiquad",
    "Biquad",
    "ComplexNorm",
    "ComputeDeltas",
    "Contrast",
    "DBToAmplitude",
    "DCShift",
    "DeemphBiquad",
    "DetectPitchFrequency",
    "Dither",
    "EqualizerBiquad",
    "Fade",
    "Filtfilt",
    "Flanger",
    "FrequencyMasking",
    "Gain",
    "GriffinLim",
    "HighpassBiquad",
    "InverseSpectrogram",
    "LFCC",
    "LFilter",
    "LowpassBiquad",
    "MFCC",
    "Magphase",
    "MaskAlongAxis",
    "MaskAlongAxisIID",
    "MelScale",
    "MelSpectrogram",
    "MuLawDecoding",
    "MuLawEncoding",
    "Overdrive",
    "PhaseVocoder",
    "Phaser",
    "PitchShift",
    "Resample",
    "RiaaBiquad",
    "SlidingWindowCmn",
    "SpectralCentroid",
    "Spectrogram",
    "TimeMasking",
    "TimeStretch",
    "TrebleBiquad",
    "Vol",
]

_ABSENT = {
    "InverseMelScale",
    "Vad",
}


def __getattr__(name: str) -> Any:
    if name in _ABSENT:
        raise AttributeError(
            f"mindspore.dataset.audio.{name} is not provided here. Write it as a Python function of a numpy array "
            f"(scipy.signal has most of what it takes) and give that to map: "
            f"dataset.map(my_function, input_columns=[...])."
        )
    return asked(__name__, name)
