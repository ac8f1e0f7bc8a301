"""Small tests of what a value is."""

import numpy as np


def is_numpy(img: object) -> bool:
    """Whether `img` is a numpy array."""
    return isinstance(img, np.ndarray)
