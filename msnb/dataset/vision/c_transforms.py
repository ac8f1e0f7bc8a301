"""The transforms of images as arrays, under MindSpore's path ``mindspore.dataset.vision.c_transforms``.

The tables ``DE_C_*`` map each enumeration member to itself.
"""

from msnb.dataset.vision._augment import CutMixBatch, MixUpBatch, RandomLighting, RandomSelectSubpolicy, UniformAugment
from msnb.dataset.vision._auto import AutoAugment
from msnb.dataset.vision._boxes import (
    BoundingBoxAugment,
    RandomCropWithBBox,
    RandomHorizontalFlipWithBBox,
    RandomResizedCropWithBBox,
    RandomResizeWithBBox,
    RandomVerticalFlipWithBBox,
    ResizeWithBBox,
)
from msnb.dataset.vision._crops import CenterCrop, RandomCrop, RandomCropDecodeResize, RandomResizedCrop
from msnb.dataset.vision._dvpp import SoftDvppDecodeRandomCropResizeJpeg, SoftDvppDecodeResizeJpeg
from msnb.dataset.vision._fixed_geometry import Crop, HorizontalFlip, Rotate, SlicePatches, VerticalFlip
from msnb.dataset.vision._fixed_pixels import (
    AdjustGamma,
    ConvertColor,
    GaussianBlur,
    RandomAdjustSharpness,
    RandomAutoContrast,
    RandomEqualize,
    RandomInvert,
)
from msnb.dataset.vision._geometry import (
    CutOut,
    Decode,
    Pad,
    RandomAffine,
    RandomHorizontalFlip,
    RandomResize,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
)
from msnb.dataset.vision._kinds import parse_padding
from msnb.dataset.vision._pixels import (
    HWC2CHW,
    AutoContrast,
    Equalize,
    Invert,
    Normalize,
    NormalizePad,
    RandomColor,
    RandomColorAdjust,
    RandomPosterize,
    RandomSharpness,
    RandomSolarize,
    Rescale,
)
from msnb.dataset.vision.utils import AutoAugmentPolicy, Border, ConvertMode, ImageBatchFormat, Inter, SliceMode

DE_C_INTER_MODE = {mode: mode for mode in (Inter.NEAREST, Inter.LINEAR, Inter.CUBIC, Inter.AREA)}
DE_C_BORDER_TYPE = {border: border for border in Border}
DE_C_IMAGE_BATCH_FORMAT = {form: form for form in ImageBatchFormat}

__all__ = [
    "AdjustGamma",
    "AutoAugment",
    "AutoAugmentPolicy",
    "ConvertColor",
    "ConvertMode",
    "Crop",
    "GaussianBlur",
    "HorizontalFlip",
    "RandomAdjustSharpness",
    "RandomAutoContrast",
    "RandomEqualize",
    "RandomInvert",
    "Rotate",
    "SliceMode",
    "SlicePatches",
    "VerticalFlip",
    "AutoContrast",
    "Border",
    "BoundingBoxAugment",
    "CenterCrop",
    "CutMixBatch",
    "CutOut",
    "DE_C_BORDER_TYPE",
    "DE_C_IMAGE_BATCH_FORMAT",
    "DE_C_INTER_MODE",
    "Decode",
    "Equalize",
    "HWC2CHW",
    "ImageBatchFormat",
    "Inter",
    "Invert",
    "MixUpBatch",
    "Normalize",
    "NormalizePad",
    "Pad",
    "RandomAffine",
    "RandomColor",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomCropWithBBox",
    "RandomHorizontalFlip",
    "RandomHorizontalFlipWithBBox",
    "RandomLighting",
    "RandomPosterize",
    "RandomResize",
    "RandomResizeWithBBox",
    "RandomResizedCrop",
    "RandomResizedCropWithBBox",
    "RandomRotation",
    "RandomSelectSubpolicy",
    "RandomSharpness",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomVerticalFlipWithBBox",
    "Rescale",
    "Resize",
    "ResizeWithBBox",
    "SoftDvppDecodeRandomCropResizeJpeg",
    "SoftDvppDecodeResizeJpeg",
    "UniformAugment",
    "parse_padding",
]
