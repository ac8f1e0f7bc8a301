"""Base of the audio transforms."""

from typing import Any

import numpy as np

from msnb.dataset.core.tensor_op import TensorOp


class AudioOp(TensorOp):
    """Base of the audio transforms. They accept numpy arrays only."""

    def __call__(self, *inputs: Any) -> Any:
        for value in inputs:
            if not isinstance(value, np.ndarray):
                raise TypeError(
                    f"Input should be NumPy audio, but {type(self).__name__} got {type(value)}; convert it with "
                    "numpy.asarray, or with asnumpy() if it is a Tensor."
                )
        return super().__call__(*inputs)

    def _to_float(self, array, shape, ndim):
        """Convert `array` to floating point: float64 stays float64, every other dtype becomes float32.

        Args:
            array (numpy.ndarray): The input.
            shape (str): Required shape, for the error message.
            ndim (int): Minimum number of dimensions.
        """
        self._check_input(array, "biuf", shape, ndim)
        return array if array.dtype == np.float64 else array.astype(np.float32, copy=False)

    def _check_input(self, array, kinds, shape, ndim):
        name = type(self).__name__
        if array.dtype.kind not in kinds:
            raise RuntimeError(f"{name} does not take a column of type {array.dtype}; give it floating point numbers.")
        if array.ndim < ndim:
            raise RuntimeError(f"{name} takes audio of shape {shape}, but got shape {array.shape}.")
