"""``mindspore.dataset.transforms.py_transforms``: combinations of Python functions, and one-hot encoding."""

from typing import Annotated, Any

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import of_type, within
from msnb.dataset.core.tensor_op import Described
from msnb.dataset.core.tensor_op import PyTensorOperation as PyTensorOperation
from msnb.dataset.transforms import py_transforms_util as util
from msnb.dataset.transforms._common import check_one_hot

__all__ = ["OneHotOp", "Compose", "RandomApply", "RandomChoice", "RandomOrder"]


class _FunctionList(Described):
    """Base of transforms of a list of functions."""

    @checked
    def __init__(self, transforms: Annotated[list, of_type(list)]):
        invalid = [i for i, transform in enumerate(transforms) if not callable(transform)]
        if invalid:
            raise ValueError(f"transforms[{invalid[0]}] is not callable.")
        self.transforms = transforms


class OneHotOp(Described):
    """Encode a label as a one-hot vector.

    Args:
        num_classes (int): Number of classes, greater than every label.
        smoothing_rate (float, optional): Label smoothing: fraction of the 1 that is spread over all classes. Default:
            0.0.

    Raises:
        TypeError: If `num_classes` is not an int.
        ValueError: If an argument is out of range.
    """

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        check_one_hot(num_classes, 0.0 if smoothing_rate is None else smoothing_rate)
        self.num_classes: int = num_classes
        self.smoothing_rate: float = smoothing_rate

    def __call__(self, label: Any) -> Any:
        """Encode one label, or each label of an array."""
        return util.one_hot_encoding(label, self.num_classes, self.smoothing_rate)


class Compose(_FunctionList):
    """Apply functions one after the other. PIL images may be passed between them.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is not a list.
        ValueError: If it is empty or an item is not callable.

    Examples:
        >>> import mindspore.dataset.vision.py_transforms as PV
        >>> from mindspore.dataset.transforms.py_transforms import Compose
        >>> Compose([PV.Decode(), PV.RandomHorizontalFlip(0.5), PV.ToTensor()])
    """

    def __init__(self, transforms: list[Any]) -> None:
        super().__init__(transforms)
        if not transforms:
            raise ValueError("transforms list is empty.")

    def __call__(self, *args: Any) -> Any:
        """Apply the functions, one after the other, to the columns of a row (numpy arrays)."""
        if not args:
            raise TypeError(
                "Compose was called without an image. Fix invocation (avoid it being invoked as Compose([...])())."
            )
        return util.compose(self.transforms, *args)


class RandomApply(_FunctionList):
    """Apply all functions one after the other with probability `prob`, or none of them.

    Args:
        transforms (list): Transforms or functions.
        prob (float, optional): Probability of applying them. Default: 0.5.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `prob` is not in [0, 1] or a transform cannot be called.
    """

    @checked
    def __init__(
        self, transforms: list[Any], prob: Annotated[float | int, within(0.0, 1.0, float, int)] | None = 0.5
    ) -> None:
        super().__init__(transforms)
        self.prob = prob

    def __call__(self, img: Any) -> Any:
        """Apply the functions to an image."""
        return util.random_apply(img, self.transforms, self.prob)


class RandomChoice(_FunctionList):
    """Apply one random function.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is not a list.
        ValueError: If an item is not callable.
    """

    def __call__(self, img: Any) -> Any:
        """Apply one function to an image."""
        return util.random_choice(img, self.transforms)


class RandomOrder(_FunctionList):
    """Apply the functions in random order.

    Args:
        transforms (list): Transforms or functions.

    Raises:
        TypeError: If `transforms` is not a list.
        ValueError: If an item is not callable.
    """

    def __call__(self, img: Any) -> Any:
        """Apply the functions to an image."""
        return util.random_order(img, self.transforms)
