"""Features of items: of a network without its last Dense, or of a fixed function of pictures or texts."""

import copy
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.nn import Cell, CellList, Dense, SequentialCell

BATCH = 500
_SIDE = 32  # pixels of the picture that features are computed of
_DIRECTIONS = 8
_TEXT_SIZE = 1024
_COMPONENTS = 64
_SAMPLE = 4000  # items
_WORD = re.compile(r"\w+")


def describe_features(net: Any, is_text: bool) -> str:
    """Return one phrase that names the features."""
    if net is not None:
        return f"the features before the last Dense of {type(net).__name__}"
    if is_text:
        return f"counts of words and pairs of words, hashed to {_TEXT_SIZE} numbers"
    return f"directions of edges and brightness of the picture at {_SIDE} x {_SIDE} pixels"


def measure_picture(picture: np.ndarray) -> np.ndarray:
    """Return features of a picture: histograms of edge directions, and its colours on a coarse grid.

    The picture is reduced to 32 x 32 pixels. Each of 7 x 7 overlapping fields of 8 x 8 pixels gives a histogram of 8
    edge directions, weighted by strength and of length 1. The colours are means over 8 x 8 fields.

    Args:
        picture (numpy.ndarray): (height, width) or (height, width, 3), uint8.

    Returns:
        numpy.ndarray, float32.
    """
    small = cv2.resize(picture, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    grey = small if small.ndim == 2 else small.mean(2)
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    strength = np.hypot(across, down)
    turn = np.arctan2(down, across) * (_DIRECTIONS / (2 * np.pi)) % _DIRECTIONS
    lower = np.floor(turn)
    share = turn - lower
    lower = lower.astype(int) % _DIRECTIONS
    planes = np.zeros((_SIDE, _SIDE, _DIRECTIONS), np.float32)
    rows, columns = np.indices(grey.shape)
    planes[rows, columns, lower] = strength * (1 - share)  # a direction between two bins counts in both
    planes[rows, columns, (lower + 1) % _DIRECTIONS] = strength * share
    blocks = planes.reshape(8, 4, 8, 4, _DIRECTIONS).sum((1, 3))
    fields = blocks[:-1, :-1] + blocks[1:, :-1] + blocks[:-1, 1:] + blocks[1:, 1:]
    fields /= np.sqrt((fields**2).sum(-1, keepdims=True) + 0.1)
    colours = cv2.resize(small, (8, 8), interpolation=cv2.INTER_AREA)
    return np.concatenate([fields.ravel(), colours.ravel()])


def measure_text(text: str) -> np.ndarray:
    """Return features of a text: logarithms of the counts of its words and pairs of words, hashed, of length 1.

    Returns:
        numpy.ndarray, float32.
    """
    words = _WORD.findall(text.lower())
    counts = np.zeros(_TEXT_SIZE, np.float32)
    for term in [*words, *(f"{a} {b}" for a, b in zip(words, words[1:], strict=False))]:
        counts[zlib.crc32(term.encode()) % _TEXT_SIZE] += 1
    counts = np.log1p(counts)
    return counts / max(float(np.linalg.norm(counts)), 1e-12)


class _PassThrough(Cell):
    """Return the input."""

    def construct(self, x):
        return x


def remove_last_dense(net: Cell) -> Cell:
    """Return a copy of a network whose last Dense returns its input; an equal copy if the network has none.

    The last Dense is the last one in the order of attributes.
    """
    net = copy.deepcopy(net)
    net.set_train(False)
    paths = [path for path, cell in net.cells_and_names() if isinstance(cell, Dense)]
    if paths == [""] or not paths:
        return net if not paths else _PassThrough()
    *parents, name = paths[-1].split(".")
    owner = net
    for step in parents:
        owner = owner._cells[step]
    if isinstance(owner, (SequentialCell, CellList)):
        owner[int(name)] = _PassThrough()
    else:
        setattr(owner, name, _PassThrough())
    return net


def run_in_batches(net: Cell, read: Callable[[range], np.ndarray], count: int) -> Iterator[np.ndarray]:
    """Yield the outputs of `net` for all items, batch by batch, each flattened to (items, size).

    Args:
        net (Cell): the network.
        read (Callable): function of a range of indices that returns the inputs of these items.
        count (int): number of items.
    """
    size = min(BATCH, count)
    for first in range(0, count, size):
        batch = np.asarray(read(range(first, min(first + size, count))))
        missing = size - len(batch)  # the last batch is filled up, so that one compiled program serves all
        if missing:
            batch = np.concatenate([batch, np.repeat(batch[-1:], missing, 0)])
        output = net(Tensor(batch)).asnumpy()[: size - missing]
        yield output.reshape(len(output), -1).astype(np.float32)


def reduce_features(features: np.ndarray) -> np.ndarray:
    """Return at most 64 numbers per item: the principal components, with a mean square of 1 over all numbers.

    A small classifier learns in a hundredth of a second. All components share one factor, so noise in components that
    hardly vary is not enlarged. The components are those of at most 4000 items, spread over the pool.

    Args:
        features (numpy.ndarray): (items, size).

    Returns:
        numpy.ndarray, float32.
    """
    features = np.asarray(features, np.float32)
    features = features - features.mean(0)
    if features.shape[1] > _COMPONENTS:
        sample = features[:: max(1, len(features) // _SAMPLE)]
        _, directions = np.linalg.eigh(sample.T @ sample)
        features = features @ directions[:, -_COMPONENTS:]
    return features / max(float(np.sqrt(np.mean(features**2))), 1e-12)
