"""Type tests of values."""

import numpy as np


def is_numpy(img: object) -> bool:
    """Return True if `img` is a numpy array."""
    return isinstance(img, np.ndarray)
