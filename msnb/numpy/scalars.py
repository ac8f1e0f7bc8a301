"""`isscalar`: a test for scalars."""

import numpy as np

from msnb.core.operator.declare import spelling


@spelling(numpy="isscalar")
def isscalar(element: object) -> bool:
    """Return True if an object is a Python number, a bool or a string. For Tensors of any shape the result is False.

    Args:
        element (Any): Any object.

    Returns:
        bool.

    Examples:
        >>> print(mindspore.numpy.isscalar(3.1), mindspore.numpy.isscalar(Tensor(3.1)))
        True False
    """
    return isinstance(element, (int, float, complex, str, np.generic))
