"""Learned and random augmentation policies, with the tables of the papers.

AutoAugment is by Cubuk et al. (2019), RandAugment by Cubuk et al. (2020), TrivialAugmentWide by Mueller and Hutter
(2021).
"""

from typing import Annotated

import numpy as np

from msnb.common.kinds import check, checked
from msnb.dataset.core.kinds import Int, of_type, within
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.vision import kernels
from msnb.dataset.vision._kinds import FillValue, Interpolation, to_channel_values
from msnb.dataset.vision.utils import AutoAugmentPolicy, Inter

_IMAGENET = """Posterize 0.4 8 Rotate 0.6 9|Solarize 0.6 5 AutoContrast 0.6 -|Equalize 0.8 - Equalize 0.6 -|
Posterize 0.6 7 Posterize 0.6 6|
Equalize 0.4 - Solarize 0.2 4|Equalize 0.4 - Rotate 0.8 8|Solarize 0.6 3 Equalize 0.6 -|Posterize 0.8 5 Equalize 1.0 -|
Rotate 0.2 3 Solarize 0.6 8|Equalize 0.6 - Posterize 0.4 6|Rotate 0.8 8 Color 0.4 0|Rotate 0.4 9 Equalize 0.6 -|
Equalize 0.0 - Equalize 0.8 -|Invert 0.6 - Equalize 1.0 -|Color 0.6 4 Contrast 1.0 8|Rotate 0.8 8 Color 1.0 2|
Color 0.8 8 Solarize 0.8 7|
Sharpness 0.4 7 Invert 0.6 -|ShearX 0.6 5 Equalize 1.0 -|Color 0.4 0 Equalize 0.6 -|Equalize 0.4 - Solarize 0.2 4|
Solarize 0.6 5 AutoContrast 0.6 -|Invert 0.6 - Equalize 1.0 -|Color 0.6 4 Contrast 1.0 8|
Equalize 0.8 - Equalize 0.6 -"""
_CIFAR10 = """Invert 0.1 - Contrast 0.2 6|Rotate 0.7 2 TranslateX 0.3 9|Sharpness 0.8 1 Sharpness 0.9 3|
ShearY 0.5 8 TranslateY 0.7 9|
AutoContrast 0.5 - Equalize 0.9 -|ShearY 0.2 7 Posterize 0.3 7|Color 0.4 3 Brightness 0.6 7|
Sharpness 0.3 9 Brightness 0.7 9|
Equalize 0.6 - Equalize 0.5 -|Contrast 0.6 7 Sharpness 0.6 5|Color 0.7 7 TranslateX 0.5 8|
Equalize 0.3 - AutoContrast 0.4 -|
TranslateY 0.4 3 Sharpness 0.2 6|Brightness 0.9 6 Color 0.2 8|Solarize 0.5 2 Invert 0.0 -|
Equalize 0.2 - AutoContrast 0.6 -|
Equalize 0.2 - Equalize 0.6 -|Color 0.9 9 Equalize 0.6 -|AutoContrast 0.8 - Solarize 0.2 8|Brightness 0.1 3 Color 0.7 0|
Solarize 0.4 5 AutoContrast 0.9 -|TranslateY 0.9 9 TranslateY 0.7 9|AutoContrast 0.9 - Solarize 0.8 3|
Equalize 0.8 - Invert 0.1 -|
TranslateY 0.7 9 AutoContrast 0.9 -"""
_SVHN = """ShearX 0.9 4 Invert 0.2 -|ShearY 0.9 8 Invert 0.7 -|Equalize 0.6 - Solarize 0.6 6|
Invert 0.9 - Equalize 0.6 -|
Equalize 0.6 - Rotate 0.9 3|ShearX 0.9 4 AutoContrast 0.8 -|ShearY 0.9 8 Invert 0.4 -|ShearY 0.9 5 Solarize 0.2 6|
Invert 0.9 - AutoContrast 0.8 -|Equalize 0.6 - Rotate 0.9 3|ShearX 0.9 4 Solarize 0.3 3|ShearY 0.8 8 Invert 0.7 -|
Equalize 0.9 - TranslateY 0.6 6|Invert 0.9 - Equalize 0.6 -|Contrast 0.3 3 Rotate 0.8 4|Invert 0.8 - TranslateY 0.0 2|
ShearY 0.7 6 Solarize 0.4 8|Invert 0.6 - Rotate 0.8 4|ShearY 0.3 7 TranslateX 0.9 3|ShearX 0.1 6 Invert 0.6 -|
Solarize 0.7 2 TranslateY 0.6 7|ShearY 0.8 4 Invert 0.8 -|ShearX 0.7 9 TranslateY 0.8 3|ShearY 0.8 5 AutoContrast 0.7 -|
ShearX 0.7 2 Invert 0.1 -"""


def _parse_policy(text):
    """Parse the text of a policy. Return for each subpolicy a pair of (operation, probability, magnitude or None)."""
    rows = []
    for subpolicy in text.replace("\n", "").split("|"):
        words = subpolicy.split()
        rows.append(
            tuple((words[i], float(words[i + 1]), None if words[i + 2] == "-" else int(words[i + 2])) for i in (0, 3))
        )
    return rows


_POLICIES = {
    AutoAugmentPolicy.IMAGENET: _parse_policy(_IMAGENET),
    AutoAugmentPolicy.CIFAR10: _parse_policy(_CIFAR10),
    AutoAugmentPolicy.SVHN: _parse_policy(_SVHN),
}
_SIGNED = {"ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness"}


def _space_floats(start, end, count):
    """Return `count` float32 numbers from `start` to `end`, each computed in float32."""
    start = np.float32(start)
    step = (np.float32(end) - start) / np.float32(count - 1)
    return start + np.arange(count, dtype=np.float32) * step


def _make_magnitude_tables(bins, height, width, wide=False, solarize_start=255):
    """Return {operation: magnitudes from weak to strong}, with None for operations without magnitude."""
    line = _space_floats
    if wide:
        translations = {"TranslateX": line(0, 32, bins), "TranslateY": line(0, 32, bins)}
        shear, turn, colour, bits = 0.99, 135.0, 0.99, 6
    else:
        translations = {
            "TranslateX": line(0, 150.0 / 331.0 * width, bins),
            "TranslateY": line(0, 150.0 / 331.0 * height, bins),
        }
        shear, turn, colour, bits = 0.3, 30.0, 0.9, 4
    colours = {name: line(0, colour, bins) for name in ("Brightness", "Color", "Contrast", "Sharpness")}
    return {
        "ShearX": line(0, shear, bins),
        "ShearY": line(0, shear, bins),
        **translations,
        "Rotate": line(0, turn, bins),
        **colours,
        "Posterize": 8 - np.round(np.arange(bins) / ((bins - 1) / bits)),
        "Solarize": line(solarize_start, 0, bins),
        "AutoContrast": None,
        "Equalize": None,
    }


def apply_operation(image, name, magnitude, interpolation, fill):
    """Apply one operation of a policy."""
    if name in ("ShearX", "ShearY"):
        degrees = float(np.degrees(magnitude))
        return kernels.affine(
            image, 0.0, (0, 0), 1.0, (degrees, 0) if name == "ShearX" else (0, degrees), interpolation, fill
        )
    if name in ("TranslateX", "TranslateY"):
        move = (int(magnitude), 0) if name == "TranslateX" else (0, int(magnitude))
        return kernels.affine(image, 0.0, move, 1.0, (0, 0), interpolation, fill)
    if name == "Rotate":
        return kernels.rotate(image, magnitude, interpolation, False, None, fill)
    if name in ("Brightness", "Color", "Contrast", "Sharpness"):
        change = {
            "Brightness": kernels.brightness,
            "Color": kernels.saturation,
            "Contrast": kernels.contrast,
            "Sharpness": kernels.sharpness,
        }
        return change[name](image, 1.0 + magnitude)
    if name == "Posterize":
        return kernels.posterize(image, int(magnitude))
    if name == "Solarize":
        return kernels.solarize(image, magnitude, 255)
    return {
        "AutoContrast": kernels.autocontrast,
        "Equalize": kernels.equalize,
        "Invert": kernels.invert,
        "Identity": lambda x: x,
    }[name](image)


class _Policy(TensorOp):
    deterministic = False
    costly = True

    def _set_interpolation_and_fill(self, interpolation, fill_value):
        self.interpolation = interpolation
        self.fill_value = to_channel_values(fill_value)

    def _apply_params(self, operations, image):
        if image.ndim != 3 or image.shape[2] != 3:
            raise RuntimeError(f"{type(self).__name__}: image shape should be <H,W,3>, but got {image.shape}.")
        for name, magnitude in operations:
            image = apply_operation(image, name, magnitude, self.interpolation, self.fill_value)
        return image


class AutoAugment(_Policy):
    """Apply a random one of the 25 pairs of operations that AutoAugment learned on a data set.

    Args:
        policy (AutoAugmentPolicy, optional): Data set on which the policy was learned. Default:
            AutoAugmentPolicy.IMAGENET.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.
    """

    @checked
    def __init__(
        self,
        policy: Annotated[AutoAugmentPolicy, of_type(AutoAugmentPolicy)] = AutoAugmentPolicy.IMAGENET,
        interpolation: Interpolation = Inter.NEAREST,
        fill_value: FillValue = 0,
    ):
        self.policy = policy
        self._set_interpolation_and_fill(interpolation, fill_value)

    def _sample_params(self, stream, image):
        pairs = _POLICIES[self.policy]
        magnitudes = _make_magnitude_tables(10, image.shape[0], image.shape[1], solarize_start=256)
        operations = []
        pair = pairs[stream.uniform_int(0, len(pairs) - 1)]
        chances = [stream.uniform_float(0, 1) for _ in pair]
        signs = [stream.uniform_int(0, 1) for _ in pair]
        for (name, prob, magnitude), chance, sign in zip(pair, chances, signs):
            if chance <= prob:
                value = 0.0 if magnitude is None else float(magnitudes[name][magnitude])
                operations.append((name, -value if name in _SIGNED and sign == 0 else value))
        return operations


def _draw_name(stream, magnitudes):
    """Draw the name of an operation. As in MindSpore, the first of the sorted names has two chances."""
    names = sorted(magnitudes)
    return names[stream.uniform_int(0, len(names)) % len(names)]


def _draw_sign(stream, name):
    """Draw the factor 1 or -1 for the magnitude of an operation. As in MindSpore, one of three is -1."""
    return -1 if stream.uniform_int(0, 2) == 1 and name in _SIGNED else 1


class RandAugment(_Policy):
    """Apply random operations of one strength.

    Args:
        num_ops (int, optional): Number of operations. Default: 2.
        magnitude (int, optional): The strength. Default: 9.
        num_magnitude_bins (int, optional): Number of strengths. Default: 31.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.
    """

    @checked
    def __init__(
        self,
        num_ops: Annotated[int, within(0, 16777216, int)] = 2,
        magnitude: Int = 9,
        num_magnitude_bins: Annotated[int, within(2, 16777216, int)] = 31,
        interpolation: Interpolation = Inter.NEAREST,
        fill_value: FillValue = 0,
    ):
        check(within(0, num_magnitude_bins - 1), magnitude, "magnitude", "RandAugment")
        self.num_ops: int = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins: int = num_magnitude_bins
        self._set_interpolation_and_fill(interpolation, fill_value)

    def _sample_params(self, stream, image):
        magnitudes = {
            "Identity": None,
            **_make_magnitude_tables(self.num_magnitude_bins, image.shape[0], image.shape[1]),
        }
        operations = []
        for _ in range(self.num_ops):
            name = _draw_name(stream, magnitudes)
            value = 0.0 if magnitudes[name] is None else float(magnitudes[name][self.magnitude])
            operations.append((name, value * _draw_sign(stream, name)))
        return operations


class TrivialAugmentWide(_Policy):
    """Apply one random operation of random strength.

    Args:
        num_magnitude_bins (int, optional): Number of strengths. Default: 31.
        interpolation (Inter, optional): Interpolation mode. Default: Inter.NEAREST.
        fill_value (Union[int, tuple], optional): Fill value outside the image. Default: 0.
    """

    @checked
    def __init__(
        self,
        num_magnitude_bins: Annotated[int, within(2, 16777216, int)] = 31,
        interpolation: Interpolation = Inter.NEAREST,
        fill_value: FillValue = 0,
    ):
        self.num_magnitude_bins: int = num_magnitude_bins
        self._set_interpolation_and_fill(interpolation, fill_value)

    def _sample_params(self, stream, image):
        magnitudes = {
            "Identity": None,
            **_make_magnitude_tables(self.num_magnitude_bins, image.shape[0], image.shape[1], wide=True),
        }
        name = _draw_name(stream, magnitudes)
        value = 0.0
        if magnitudes[name] is not None:
            # MindSpore draws one number too many, and then reads behind the table
            value = float(
                magnitudes[name][min(stream.uniform_int(0, self.num_magnitude_bins), len(magnitudes[name]) - 1)]
            )
        return [(name, value * _draw_sign(stream, name))]
