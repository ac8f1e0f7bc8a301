"""Loss functions for classes that newer versions of MindSpore added."""

import numpy as np

from msnb._checkparam import Validator
from msnb.core.tensor import Tensor
from msnb.nn.loss.loss import _Loss
from msnb.ops import operations as P

__all__ = ["NLLLoss", "CrossEntropyLoss", "BCEWithLogitsLoss", "DiceLoss", "FocalLoss"]


class NLLLoss(_Loss):
    r"""
    Negative log likelihood of the true class: :math:`-w_y x_y`; the mean is weighted.

    Args:
        weight (Tensor): The weight of each class, (C,). Default: None.
        ignore_index (int): The label that does not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - log-probabilities, of shape (N, C) or (N, C, d1, ...).
        - **labels** (Tensor) - int32 or int64, of the shape of `logits` without axis 1.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of `labels`.

    Raises:
        ValueError: If `reduction` is unknown, or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        super().__init__(reduction)
        self.weight = weight
        self.ignore_index = Validator.check_value_type("ignore_index", ignore_index, [int], self.cls_name)
        self.gather_d = P.GatherD()
        self.gather = P.Gather()
        self.expand_dims = P.ExpandDims()
        self.squeeze = P.Squeeze(1)
        self.not_equal = P.NotEqual()
        self.select = P.Select()
        self.cast = P.Cast()
        self.zeros_like = P.ZerosLike()

    def construct(self, logits, labels):
        if (logits.shape[0], *logits.shape[2:]) != tuple(labels.shape):
            raise ValueError(
                f"For '{self.cls_name}', 'labels' should be of shape {(logits.shape[0], *logits.shape[2:])}, "
                f"but got {labels.shape}."
            )
        counts = self.not_equal(labels, self.ignore_index)
        classes = self.select(counts, labels, self.zeros_like(labels))
        weight = self.cast(counts, logits.dtype)
        if self.weight is not None:
            weight = weight * self.gather(self.weight, classes, 0)
        loss = -self.squeeze(self.gather_d(logits, 1, self.expand_dims(classes, 1))) * weight
        if self.reduce and self.average:
            return self.reduce_sum(loss) / self.reduce_sum(weight)
        return self.get_loss(loss)


class CrossEntropyLoss(_Loss):
    r"""
    Cross entropy of labels and softmax over axis 1: :math:`-\sum_c y_c \log softmax(x)_c`.

    Args:
        weight (Tensor): The weight of each class, (C,). Default: None.
        ignore_index (int): The class number that does not count. Default: -100.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        label_smoothing (float): In [0, 1]: the share that is spread evenly over all classes. Default: 0.0.

    Inputs:
        - **logits** (Tensor) - of shape (N, C) or (N, C, d1, ...).
        - **labels** (Tensor) - class numbers of the shape of `logits` without axis 1, or probabilities of its shape.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of `logits` without axis 1.

    Raises:
        TypeError: If `label_smoothing` is not a float.
        ValueError: If `label_smoothing` is not in [0, 1], or `reduction` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(reduction)
        Validator.check_value_type("label_smoothing", label_smoothing, [float], self.cls_name)
        if not 0 <= label_smoothing <= 1:
            raise ValueError(
                f"For 'CrossEntropyLoss', 'label_smoothing' should be in [0, 1], but got {label_smoothing}."
            )
        self.weight = weight
        self.label_smoothing = label_smoothing
        self.ignore_index = ignore_index
        self.nll_loss = NLLLoss(weight, ignore_index, reduction)
        self.log_softmax = P.LogSoftmax(1)
        self.reshape = P.Reshape()
        self.not_equal = P.NotEqual()
        self.cast = P.Cast()

    def _class_weights(self, logits):
        return self.reshape(self.weight, (1, -1) + (1,) * (logits.ndim - 2))

    def construct(self, logits, labels):
        log_probability = self.log_softmax(logits)
        if labels.ndim == logits.ndim:
            return self._of_probabilities(log_probability, labels)
        loss = self.nll_loss(log_probability, labels)
        if self.label_smoothing == 0:
            return loss
        return (1 - self.label_smoothing) * loss + self.label_smoothing * self._spread(log_probability, labels)

    def _of_probabilities(self, log_probability, labels):
        if self.label_smoothing > 0:
            labels = labels * (1 - self.label_smoothing) + self.label_smoothing / labels.shape[1]
        if self.weight is not None:
            labels = labels * self._class_weights(labels)
        loss = -self.reduce_sum(log_probability * labels, 1)
        if self.reduce and self.average:
            return self.reduce_sum(loss) / (loss.size or 1)
        return self.get_loss(loss)

    def _spread(self, log_probability, labels):
        """The loss of the even distribution, reduced as that of the labels is."""
        counts = self.cast(self.not_equal(labels, self.ignore_index), log_probability.dtype)
        weighted = log_probability if self.weight is None else log_probability * self._class_weights(log_probability)
        loss = -self.reduce_sum(weighted, 1) / log_probability.shape[1] * counts
        if not (self.reduce and self.average):
            return self.get_loss(loss)
        if self.weight is None:
            return self.reduce_sum(loss) / self.reduce_sum(counts)
        # The mean of NLLLoss is over the weights of the true classes: the loss of log-probabilities that are all -1,
        # summed, is that weight.
        ones = self.nll_loss.ones_weight(log_probability, labels)
        return self.reduce_sum(loss) / ones


class BCEWithLogitsLoss(_Loss):
    r"""
    Binary cross entropy of sigmoid(x): :math:`-w (p\, y \log \sigma(x) + (1 - y) \log(1 - \sigma(x)))`.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".
        weight (Tensor): The weight w of each element. Default: None.
        pos_weight (Tensor): The weight p of positive labels. Default: None.

    Inputs:
        - **logits** (Tensor) - float16 or float32, of any shape.
        - **labels** (Tensor) - of the shape and type of `logits`.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of `logits`.

    Raises:
        ValueError: If `reduction` is unknown, or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, reduction="mean", weight=None, pos_weight=None):
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"For 'BCEWithLogitsLoss', '{name}' should be a Tensor, but got {value!r}.")
        self.weight = weight
        self.pos_weight = pos_weight
        self.softplus = P.Softplus()

    def construct(self, logits, labels):
        # -log sigmoid(x) = softplus(-x), -log(1 - sigmoid(x)) = softplus(x).
        positive = labels * self.softplus(-logits)
        if self.pos_weight is not None:
            positive = positive * self.pos_weight
        loss = positive + (1 - labels) * self.softplus(logits)
        return self.get_loss(loss, 1.0 if self.weight is None else self.weight)


class DiceLoss(_Loss):
    r"""
    One less the Dice coefficient: :math:`1 - (2 \sum x y + s) / (\sum x^2 + \sum y^2 + s)`.

    Args:
        smooth (float): The s that keeps the quotient finite, positive. Default: 1e-5.

    Inputs:
        - **logits** (Tensor) - of any shape.
        - **label** (Tensor) - of the shape of `logits`.

    Outputs:
        Tensor, a scalar.

    Raises:
        TypeError: If `smooth` is not a float.
        ValueError: If `smooth` is not positive, or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, smooth=1e-5):
        super().__init__()
        self.smooth = Validator.check_positive_float(smooth, "smooth", self.cls_name)
        self.square = P.Square()

    def construct(self, logits, label):
        if tuple(logits.shape) != tuple(label.shape):
            raise ValueError(
                f"For 'DiceLoss', 'logits' and 'label' should have one shape, but got {logits.shape} and {label.shape}."
            )
        intersection = self.reduce_sum(logits * label)
        union = self.reduce_sum(self.square(logits)) + self.reduce_sum(self.square(label))
        return 1 - (2 * intersection + self.smooth) / (union + self.smooth)


class FocalLoss(_Loss):
    r"""
    Cross entropy that counts hard examples more (Lin et al., 2017): :math:`-w_y (1 - p_y)^\gamma \log p_y`.

    Args:
        weight (Tensor): The weight of each class, (C,). Default: None.
        gamma (float): The exponent. Default: 2.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **logits** (Tensor) - of shape (N, C).
        - **labels** (Tensor) - class numbers of shape (N,) or (N, 1).

    Outputs:
        Tensor, a scalar, or for "none" of shape (N,).

    Raises:
        TypeError: If `gamma` is neither an int nor a float, or `weight` not a Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, weight=None, gamma=2.0, reduction="mean"):
        super().__init__(reduction)
        self.gamma = Validator.check_value_type("gamma", gamma, [int, float], self.cls_name)
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(f"For 'FocalLoss', 'weight' should be a Tensor, but got {weight!r}.")
        self.weight = weight
        self.log_softmax = P.LogSoftmax(1)
        self.gather_d = P.GatherD()
        self.gather = P.Gather()
        self.reshape = P.Reshape()
        self.exp = P.Exp()
        self.pow = P.Pow()

    def construct(self, logits, labels):
        log_p = self.gather_d(self.log_softmax(logits), 1, self.reshape(labels, (-1, 1)))
        log_p = self.reshape(log_p, (-1,))
        loss = -self.pow(1 - self.exp(log_p), float(np.float32(self.gamma))) * log_p
        if self.weight is not None:
            loss = loss * self.gather(self.weight, self.reshape(labels, (-1,)), 0)
        return self.get_loss(loss)
