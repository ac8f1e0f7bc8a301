"""Conversion between arrays of str and arrays of bytes."""

import numpy as np


def to_str(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """Decode an array of bytes.

    Args:
        array (numpy.ndarray): Bytes; an array of str is returned unchanged.
        encoding (str, optional): The encoding. Default: 'utf8'.

    Returns:
        numpy.ndarray of str.

    Raises:
        ValueError: If `array` is not a numpy array.
    """
    return _convert_strings(array, "U", np.char.decode, encoding)


def to_bytes(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """Encode an array of str.

    Args:
        array (numpy.ndarray): Strings; an array of bytes is returned unchanged.
        encoding (str, optional): The encoding. Default: 'utf8'.

    Returns:
        numpy.ndarray of bytes.

    Raises:
        ValueError: If `array` is not a numpy array.
    """
    return _convert_strings(array, "S", np.char.encode, encoding)


def _convert_strings(array, kind, convert, encoding):
    """Convert `array`, or return it unchanged if its dtype has this kind."""
    if isinstance(array, np.ndarray):
        return array if array.dtype.kind == kind else convert(array, encoding)
    raise ValueError(f"input should be a NumPy array, but got {type(array).__name__}.")
