"""What the audio transforms share: the kinds of input they take."""

from typing import Any

import numpy as np

from msnb.dataset.core.tensor_op import TensorOp


class AudioOp(TensorOp):
    """Base of the audio transforms, which take numpy arrays only."""

    def __call__(self, *inputs: Any) -> Any:
        for value in inputs:
            if not isinstance(value, np.ndarray):
                raise TypeError(
                    f"Input should be NumPy audio, but {type(self).__name__} got {type(value)}; convert it with "
                    "numpy.asarray, or with asnumpy() if it is a Tensor."
                )
        return super().__call__(*inputs)

    def _real(self, array, shape, ndim):
        """The audio in floating point: float64 stays, every other number becomes float32.

        Args:
            array (numpy.ndarray): The input.
            shape (str): Wanted shape, for the message.
            ndim (int): Least number of dimensions.
        """
        self._check(array, "biuf", shape, ndim)
        return array if array.dtype == np.float64 else array.astype(np.float32, copy=False)

    def _check(self, array, kinds, shape, ndim):
        name = type(self).__name__
        if array.dtype.kind not in kinds:
            raise RuntimeError(f"{name} does not take a column of type {array.dtype}; give it floating point numbers.")
        if array.ndim < ndim:
            raise RuntimeError(f"{name} takes audio of shape {shape}, but got shape {array.shape}.")
