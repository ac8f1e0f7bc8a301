"""Safetensors files as arrays of numpy."""

import numpy as np

from msnb.formats import safetensors


def _fast_load_file(filename: str) -> dict[str, np.ndarray]:
    """What a safetensors file holds: {name: array}."""
    return dict(safetensors.read(filename))
