"""Loss functions for classes that newer versions of MindSpore added."""

from msnb._checkparam import Validator
from msnb.core.tensor import Tensor
from msnb.nn._half import rounded, widened
from msnb.nn.loss.loss import _Loss
from msnb.ops import operations as P
from msnb.ops.nn.loss import check_labels

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
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`; in GRAPH mode at the next look at a value.

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

    def _counting(self, logits, labels):
        """(class numbers that exist, 1.0 where a label counts, the weight of each label)."""
        expected = (logits.shape[0], *logits.shape[2:])
        if tuple(labels.shape) != expected:
            raise ValueError(
                f"For '{self.cls_name}', 'labels' should be of shape {expected}, but got {tuple(labels.shape)}."
            )
        check_labels(self.cls_name, labels, logits.shape[1], self.ignore_index)
        is_counted = self.not_equal(labels, self.ignore_index)
        classes = self.select(is_counted, labels, self.zeros_like(labels))
        counted = self.cast(is_counted, logits.dtype)
        weight = counted if self.weight is None else counted * self.gather(self.weight, classes, 0)
        return classes, counted, weight

    def _true_class(self, logits, classes):
        return self.squeeze(self.gather_d(logits, 1, self.expand_dims(classes, 1)))

    def _reduced(self, loss, weight):
        if self.reduce and self.average:
            return self.reduce_sum(loss) / self.reduce_sum(weight)
        return self.get_loss(loss)

    def construct(self, logits, labels):
        classes, _, weight = self._counting(logits, labels)
        return self._reduced(-self._true_class(logits, classes) * weight, weight)


class CrossEntropyLoss(NLLLoss):
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
        RuntimeError: If a label is neither in [0, C) nor `ignore_index`; in GRAPH mode at the next look at a value.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, ignore_index, reduction)
        Validator.check_value_type("label_smoothing", label_smoothing, [float], self.cls_name)
        if not 0 <= label_smoothing <= 1:
            raise ValueError(
                f"For 'CrossEntropyLoss', 'label_smoothing' should be in [0, 1], but got {label_smoothing}."
            )
        self.label_smoothing = label_smoothing
        self.log_softmax = P.LogSoftmax(1)
        self.reshape = P.Reshape()

    def _times_class_weights(self, x):
        if self.weight is None:
            return x
        return x * self.reshape(self.weight, (1, -1) + (1,) * (x.ndim - 2))

    def construct(self, logits, labels):
        log_p = self.log_softmax(logits)
        if labels.ndim == logits.ndim:
            return self._of_probabilities(log_p, labels)
        classes, counted, weight = self._counting(logits, labels)
        loss = -self._true_class(log_p, classes) * weight
        if self.label_smoothing > 0:
            even = -self.reduce_sum(self._times_class_weights(log_p), 1) / logits.shape[1] * counted
            loss = (1 - self.label_smoothing) * loss + self.label_smoothing * even
        return self._reduced(loss, weight)

    def _of_probabilities(self, log_p, labels):
        if self.label_smoothing > 0:
            labels = labels * (1 - self.label_smoothing) + self.label_smoothing / labels.shape[1]
        return self.get_loss(-self.reduce_sum(self._times_class_weights(log_p * labels), 1))


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
        x, y = widened(logits), widened(labels)
        positive = y * self.softplus(-x)
        if self.pos_weight is not None:
            positive = positive * self.pos_weight
        loss = self.get_loss(positive + (1 - y) * self.softplus(x), 1.0 if self.weight is None else self.weight)
        return rounded(loss, logits, labels, self.weight, self.pos_weight)


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
        x, y = widened(logits), widened(label)
        intersection = self.reduce_sum(x * y)
        union = self.reduce_sum(self.square(x)) + self.reduce_sum(self.square(y))
        return rounded(1 - (2 * intersection + self.smooth) / (union + self.smooth), logits, label)


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
        RuntimeError: If a label is not in [0, C); in GRAPH mode at the next look at a value.

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
        check_labels(self.cls_name, labels, logits.shape[1])
        log_p = self.gather_d(self.log_softmax(logits), 1, self.reshape(labels, (-1, 1)))
        log_p = self.reshape(log_p, (-1,))
        loss = -self.pow(1 - self.exp(log_p), float(self.gamma)) * log_p
        if self.weight is not None:
            loss = loss * self.gather(self.weight, self.reshape(labels, (-1,)), 0)
        return self.get_loss(loss)
