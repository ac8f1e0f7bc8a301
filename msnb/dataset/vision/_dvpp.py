"""Decoders of Ascend hardware, computed with OpenCV."""

from collections.abc import Sequence

from msnb import log
from msnb.common.arguments import answered
from msnb.dataset.vision._crops import RandomCropDecodeResize
from msnb.dataset.vision._geometry import Decode, Resize
from msnb.dataset.vision._pixels import ImageOp


class SoftDvppDecodeResizeJpeg(ImageOp):
    """Decode and resize. MindSpore uses Ascend hardware, msnb uses OpenCV.

    Args:
        size (Union[int, sequence]): As for :class:`Resize`.
    """

    costly = True

    @answered
    def __init__(self, size: int | Sequence[int]) -> None:
        log.once("SoftDvppDecodeResizeJpeg runs on Ascend hardware in MindSpore; here OpenCV decodes and resizes.")
        self.size = size
        self._steps = Decode(), Resize(size)

    def _transform_row(self, data):
        decode, resize = self._steps
        return resize._transform_row(decode._transform_row(data))


class SoftDvppDecodeRandomCropResizeJpeg(RandomCropDecodeResize):
    """Decode, crop at random and resize. MindSpore uses Ascend hardware, msnb uses OpenCV.

    Args:
        size, scale, ratio, max_attempts: As for :class:`RandomCropDecodeResize`.
    """

    @answered
    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        max_attempts: int = 10,
    ) -> None:
        log.once(
            "SoftDvppDecodeRandomCropResizeJpeg runs on Ascend hardware in MindSpore; here OpenCV decodes, crops and "
            "resizes."
        )
        super().__init__(size, scale, ratio, max_attempts=max_attempts)
