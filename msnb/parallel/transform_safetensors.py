"""Read safetensors files as numpy arrays."""

import numpy as np

from msnb.formats import safetensors


def _fast_load_file(filename: str) -> dict[str, np.ndarray]:
    """Return {name: array} of a safetensors file."""
    return dict(safetensors.read(filename))
