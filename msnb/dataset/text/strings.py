"""Arrays of str from arrays of bytes, and back."""

import numpy as np


def to_str(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """Decode an array of bytes.

    Args:
        array (numpy.ndarray): Bytes; an array of str is returned as it is.
        encoding (str, optional): The encoding. Default: 'utf8'.

    Returns:
        numpy.ndarray of str.

    Raises:
        ValueError: If `array` is no numpy array.
    """
    return _converted(array, "U", np.char.decode, encoding)


def to_bytes(array: np.ndarray, encoding: str = "utf8") -> np.ndarray:
    """Encode an array of str.

    Args:
        array (numpy.ndarray): Strings; an array of bytes is returned as it is.
        encoding (str, optional): The encoding. Default: 'utf8'.

    Returns:
        numpy.ndarray of bytes.

    Raises:
        ValueError: If `array` is no numpy array.
    """
    return _converted(array, "S", np.char.encode, encoding)


def _converted(array, kind, convert, encoding):
    """`array` as it is when its dtype is of this kind, converted otherwise."""
    if isinstance(array, np.ndarray):
        return array if array.dtype.kind == kind else convert(array, encoding)
    raise ValueError(f"input should be a NumPy array, but got {type(array).__name__}.")
