"""ROIAlign with one sample for each pixel of a cell, beside a direct sum over the samples."""

import math

import numpy as np
import pytest

from msnb import Tensor, context, ops
from msnb.ops import operations as P

FEATURES = np.random.default_rng(0).normal(size=(2, 2, 6, 7)).astype(np.float32)
ROIS = np.array(
    [[0, 1, 2, 9, 10], [1, -3, 0, 14, 5], [0, -200, -300, 500, 400], [1, 3, 3, 3.2, 3.1]], np.float32
)  # inside, across the border, much larger than the image, smaller than a pixel


def at(image, y, x):
    """Return the image between its pixels: 0 from one pixel outside on."""
    height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    rows, columns = [top, min(top + 1, height - 1)], [left, min(left + 1, width - 1)]
    return np.array([1 - y + top, y - top]) @ image[np.ix_(rows, columns)] @ np.array([1 - x + left, x - left])


def direct(cells, scale, end):
    means = np.zeros((len(ROIS), FEATURES.shape[1], *cells))
    for n, (index, *corners) in enumerate(ROIS):
        x, y, *_ = (c * scale for c in corners)
        wide, high = ((corners[i + 2] + end) * scale - (x, y)[i] for i in (0, 1))
        wide, high = (wide, high) if end else (max(wide, 1), max(high, 1))
        steps = high / cells[0], wide / cells[1]
        many = [max(math.floor(s), 1) for s in steps]
        for channel, i, j in np.ndindex(means.shape[1:]):
            image = FEATURES[int(index), channel]
            values = [
                at(image, y + (i + (a + 0.5) / many[0]) * steps[0], x + (j + (b + 0.5) / many[1]) * steps[1])
                for a, b in np.ndindex(*many)
            ]
            means[n, channel, i, j] = np.mean(values)
    return means


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
@pytest.mark.parametrize(("scale", "end"), [(1.0, 0), (0.5, 1)])
def test_a_sample_for_each_pixel_gives_the_mean_of_them(mode, scale, end):
    context.set_context(mode=mode)
    result = P.ROIAlign(2, 3, scale, -1, end)(Tensor(FEATURES), Tensor(ROIS))
    np.testing.assert_allclose(result.asnumpy(), direct((2, 3), scale, end), atol=2e-6)


def test_its_gradient_is_the_transposed_sum():
    weights = np.random.default_rng(1).normal(size=(4, 2, 2, 3)).astype(np.float32)
    align = P.ROIAlign(2, 3, 0.5, -1, 1)
    slope = ops.GradOperation()(lambda x: (align(x, Tensor(ROIS)) * Tensor(weights)).sum())(Tensor(FEATURES)).asnumpy()
    np.testing.assert_allclose((slope * FEATURES).sum(), (direct((2, 3), 0.5, 1) * weights).sum(), rtol=1e-4)


def test_other_numbers_below_one_are_refused():
    with pytest.raises(ValueError, match="'sample_num' should be a positive int, or -1"):
        P.ROIAlign(2, 2, 1.0, 0)
