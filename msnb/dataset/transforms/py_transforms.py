"""``mindspore.dataset.transforms.py_transforms``: transforms made of Python functions, and one-hot codes."""

from msnb.dataset.core.validator_helpers import check_positive, check_value, type_check
from msnb.dataset.transforms import py_transforms_util as util

__all__ = ["OneHotOp", "Compose", "RandomApply", "RandomChoice", "RandomOrder"]


def _check_list(transforms, empty=True):
    type_check(transforms, (list,), "transforms")
    if not empty and not transforms:
        raise ValueError("transforms list is empty.")
    for i, transform in enumerate(transforms):
        if not callable(transform):
            raise ValueError(f"transforms[{i}] is not callable.")


class OneHotOp:
    """A label as a row with a 1 at its place.

    Args:
        num_classes (int): Length of the row, greater than every label.
        smoothing_rate (float, optional): Share of the 1 that is spread over all places. Default: 0.0.

    Raises:
        TypeError: If `num_classes` is no int.
        ValueError: If an argument is out of range.
    """

    def __init__(self, num_classes, smoothing_rate=0.0):
        type_check(num_classes, (int,), "num_classes")
        check_positive(num_classes)
        if smoothing_rate is not None:
            check_value(smoothing_rate, (0.0, 1.0), "smoothing_rate")
        self.num_classes = num_classes
        self.smoothing_rate = smoothing_rate

    def __call__(self, label):
        """The row of one label, or one row per label."""
        return util.one_hot_encoding(label, self.num_classes, self.smoothing_rate)


class Compose:
    """Functions one after the other; PIL images may travel between them.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is no list.
        ValueError: If it is empty or holds something that cannot be called.

    Examples:
        >>> import mindspore.dataset.vision.py_transforms as PV
        >>> from mindspore.dataset.transforms.py_transforms import Compose
        >>> Compose([PV.Decode(), PV.RandomHorizontalFlip(0.5), PV.ToTensor()])
    """

    def __init__(self, transforms):
        _check_list(transforms, empty=False)
        self.transforms = transforms

    def __call__(self, *args):
        """Apply them to the columns of a row, given as numpy arrays."""
        if not args:
            raise TypeError(
                "Compose was called without an image. Fix invocation (avoid it being invoked as Compose([...])())."
            )
        return util.compose(self.transforms, *args)


class RandomApply:
    """Functions one after the other, or none of them, at random.

    Args:
        transforms (list): Transforms or functions.
        prob (float, optional): Probability of applying them. Default: 0.5.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `prob` is not in [0, 1] or a transform cannot be called.
    """

    def __init__(self, transforms, prob=0.5):
        _check_list(transforms)
        if prob is not None:
            type_check(prob, (float, int), "prob")
            check_value(prob, (0.0, 1.0), "prob")
        self.prob = prob
        self.transforms = transforms

    def __call__(self, img):
        """Apply them to an image."""
        return util.random_apply(img, self.transforms, self.prob)


class RandomChoice:
    """One of the functions, at random.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is no list.
        ValueError: If it holds something that cannot be called.
    """

    def __init__(self, transforms):
        _check_list(transforms)
        self.transforms = transforms

    def __call__(self, img):
        """Apply one to an image."""
        return util.random_choice(img, self.transforms)


class RandomOrder:
    """The functions one after the other, in random order.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is no list.
        ValueError: If it holds something that cannot be called.
    """

    def __init__(self, transforms):
        _check_list(transforms)
        self.transforms = transforms

    def __call__(self, img):
        """Apply them to an image."""
        return util.random_order(img, self.transforms)
