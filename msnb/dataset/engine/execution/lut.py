"""Fuses pointwise transforms of uint8 images into one table look-up, which may also move the channels to the front."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.dataset.core.optional import cv2
from msnb.dataset.engine.execution.chunk import stack_if_uniform
from msnb.dataset.engine.execution.program import LibraryStep, Step

_OPENCV = tuple(map(np.dtype, ("float32", "float64", "uint8", "uint16", "int16", "int32")))
_BLOCK = 1 << 17  # bytes of images per block, so that intermediate results stay in the processor's cache


class TableStep(Step):
    """Consecutive pointwise transforms, applied to uint8 input by a table of 256 results per channel.

    The transforms themselves compute the table, so results are equal to the bit. Other input passes through the
    transforms one by one.

    Args:
        steps (list[LibraryStep]): The transforms.
        planes (LibraryStep, optional): The next transform, which moves the channels to the front. Default: None.
    """

    deterministic = True
    pointwise = True

    def __init__(self, steps: list[LibraryStep], planes: LibraryStep | None = None) -> None:
        super().__init__(steps[0].inputs, 1, steps[0].names, steps[0].workers)
        self.steps = steps
        self.planes = planes
        self.label: str = " + ".join(s.label for s in [*steps, *([planes] if planes else [])])
        self._tables = {}
        self._lock = threading.Lock()

    def _get_lookup_table(self, channels):
        """Return (channels, 256) results, or (1, 256) if the channels agree, or None if the transforms change the
        shape.
        """
        if channels not in self._tables:
            with self._lock:
                values = np.repeat(np.arange(256, dtype=np.uint8), channels).reshape(256, 1, channels)
                for step in self.steps:
                    values = step.op._transform_row(values)
                if values.shape != (256, 1, channels):
                    self._tables[channels] = None
                else:
                    table = np.ascontiguousarray(values.reshape(256, channels).T)
                    self._tables[channels] = table[:1] if (table == table[:1]).all() else table
        return self._tables[channels]

    def apply(self, columns: Any, n: int, first: int) -> list[Any]:
        column = stack_if_uniform(columns[0])
        if isinstance(column, np.ndarray) and column.dtype == np.uint8 and column.ndim == 4 and column.shape[-1] <= 4:
            table = self._get_lookup_table(column.shape[-1])
            if table is not None:
                return [(look_up if self.planes is None else look_up_planes)(table, np.ascontiguousarray(column))]
        for step in [*self.steps, *([self.planes] if self.planes else [])]:
            column = step.apply([column], n, first)[0]
        return [column]


def look_up(table: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Return ``table[channel, pixel]`` for uint8 images (N, H, W, C)."""
    n, height, width, channels = images.shape
    if table.dtype not in _OPENCV:
        return table[0][images] if len(table) == 1 else table[np.arange(channels), images]
    if len(table) == 1:
        return cv2().LUT(images.reshape(n * height, width * channels), table[0]).reshape(images.shape)
    return (
        cv2()
        .LUT(images.reshape(n * height, width, channels), np.ascontiguousarray(table.T)[None])
        .reshape(images.shape)
    )


def look_up_planes(table: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Return :func:`look_up` in the layout (N, C, H, W)."""
    n, height, width, channels = images.shape
    if channels == 1 or table.dtype not in _OPENCV:
        return np.ascontiguousarray(look_up(table, images).transpose(0, 3, 1, 2))
    c = cv2()
    out = np.empty((n, channels, height * width), table.dtype)
    block = max(1, _BLOCK // (height * width * channels))
    planes = [np.empty((min(block, n) * height, width), np.uint8) for _ in range(channels)]
    for start in range(0, n, block):
        images_block = images[start : start + block]
        if len(images_block) != block:
            planes = [p[: len(images_block) * height] for p in planes]
        c.split(images_block.reshape(-1, width, channels), planes)
        for i, plane in enumerate(planes):
            # One channel of the block as a matrix, with a row per image. OpenCV can write its rows at the stride of
            # the result.
            c.LUT(plane.reshape(len(images_block), -1), table[i % len(table)], out[start : start + block, i])
    return out.reshape(n, channels, height, width)


def fuse_pointwise(steps: Sequence[Any]) -> list[Any]:
    """Replace neighbouring pointwise steps on the same column, and a following HWC2CHW, by one TableStep."""
    out, run = [], []

    def close(planes=None):
        if run:
            out.append(TableStep(list(run), planes))
            run.clear()

    for step in steps:
        library = isinstance(step, LibraryStep) and len(step.inputs) == 1
        if library and step.pointwise:
            if run and run[-1].inputs != step.inputs:
                close()
            run.append(step)
        elif library and step.op.to_planes and run and run[-1].inputs == step.inputs:
            close(step)
        else:
            close()
            out.append(step)
    close()
    return out
