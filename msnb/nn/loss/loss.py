"""The loss functions of MindSpore r1.1, and the base of all of them."""

from msnb._checkparam import Rel, Validator
from msnb.common import dtype as mstype
from msnb.core.tensor import Tensor
from msnb.nn._half import rounded, widened
from msnb.nn.cell import Cell
from msnb.ops import operations as P
from msnb.ops.nn.loss import check_labels

__all__ = [
    "LossBase",
    "L1Loss",
    "MSELoss",
    "SmoothL1Loss",
    "SoftmaxCrossEntropyWithLogits",
    "SampledSoftmaxLoss",
    "BCELoss",
    "CosineEmbeddingLoss",
]


class _Loss(Cell):
    """
    Base of loss functions: a subclass computes element by element in `construct` and returns `self.get_loss(...)`.

    Args:
        reduction (str): What `get_loss` does: "mean", "sum", or "none" (None means the same). Default: "mean".

    Raises:
        ValueError: If `reduction` is none of the above.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, reduction="mean"):
        super().__init__()
        if reduction is None:
            reduction = "none"
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(
                f"For '{self.cls_name}', the reduction method {reduction!r} is not supported; "
                "it should be 'mean', 'sum' or 'none'."
            )
        self.average = reduction != "sum"
        self.reduce = reduction != "none"
        self.reduce_mean = P.ReduceMean()
        self.reduce_sum = P.ReduceSum()

    def get_axis(self, x):
        """All axes of `x`, a tuple."""
        return tuple(range(x.ndim))

    def get_loss(self, x, weights=1.0):
        """
        Reduce the loss of each element to one number, as `reduction` says.

        Args:
            x (Tensor): The losses.
            weights (Union[float, Tensor]): What they are multiplied by first. Default: 1.0.

        Returns:
            Tensor, the loss.
        """
        if isinstance(weights, Tensor) or weights != 1.0:
            x = x * weights
        if self.reduce and self.average:
            return self.reduce_mean(x, self.get_axis(x))
        if self.reduce:
            return self.reduce_sum(x, self.get_axis(x))
        return x

    def construct(self, base, target):
        raise NotImplementedError(f"{self.cls_name} must implement construct.")


# The name that newer versions give the base.
LossBase = _Loss


class L1Loss(_Loss):
    r"""
    Absolute error: :math:`|x - y|`, reduced.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **base** (Tensor) - the prediction, of any shape.
        - **target** (Tensor) - what it should be.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of the difference.

    Raises:
        ValueError: If `reduction` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> loss = nn.L1Loss()
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 2, 2], mindspore.float32)
        >>> output = loss(x, y)
        >>> print(output)
        0.33333334
    """

    def __init__(self, reduction="mean"):
        super().__init__(reduction)
        self.abs = P.Abs()

    def construct(self, base, target):
        return self.get_loss(self.abs(base - target))


class MSELoss(_Loss):
    r"""
    Squared error: :math:`(x - y)^2`, reduced.

    Args:
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **base** (Tensor) - the prediction, of any shape.
        - **target** (Tensor) - what it should be.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of the difference.

    Raises:
        ValueError: If `reduction` is unknown.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> loss = nn.MSELoss()
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 2, 2], mindspore.float32)
        >>> output = loss(x, y)
        >>> print(output)
        0.33333334
    """

    def __init__(self, reduction="mean"):
        super().__init__(reduction)
        self.square = P.Square()

    def construct(self, base, target):
        return rounded(self.get_loss(self.square(widened(base) - widened(target))), base, target)


class SmoothL1Loss(_Loss):
    r"""
    Squared error near 0, absolute error beyond, element by element: with :math:`d = |x - y|`,
    :math:`d^2 / (2 \beta)` where :math:`d < \beta` and :math:`d - \beta / 2` elsewhere (Girshick, 2015).

    Args:
        beta (float): Where the two meet. Default: 1.0.

    Inputs:
        - **base** (Tensor) - the prediction, float16 or float32.
        - **target** (Tensor) - of the shape and type of `base`.

    Outputs:
        Tensor of the shape of `base`: nothing is reduced.

    Raises:
        TypeError: If `beta` is not a float, or the inputs are of different types.
        ValueError: If `beta` is not positive, or the inputs are of different shapes.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> loss = nn.SmoothL1Loss()
        >>> x, y = Tensor([1, 2, 3], mindspore.float32), Tensor([1, 2, 2], mindspore.float32)
        >>> output = loss(x, y)
        >>> print(output)
        [0.  0.  0.5]
    """

    def __init__(self, beta=1.0):
        super().__init__()
        self.beta = beta
        self.smooth_l1_loss = P.SmoothL1Loss(beta)

    def construct(self, base, target):
        return self.smooth_l1_loss(base, target)


class SoftmaxCrossEntropyWithLogits(_Loss):
    r"""
    Cross entropy of labels and softmax: :math:`-\sum_c y_c \log softmax(x)_c` for each sample.

    Args:
        sparse (bool): Whether labels are class numbers, not probabilities. Default: False.
        reduction (str): "mean", "sum" or "none". Default: "none".

    Inputs:
        - **logits** (Tensor) - float16 or float32, of shape (N, C).
        - **labels** (Tensor) - int32 or int64 of shape (N,) if sparse, else of the shape and type of `logits`.

    Outputs:
        Tensor, a scalar, or for "none" of shape (N,).

    Raises:
        TypeError: If `sparse` is not a bool.
        ValueError: If `reduction` is unknown, or the shapes do not fit.
        RuntimeError: If a label is not in [0, C); in GRAPH mode at the next look at a value, and a step with such a
            label changes no Parameter.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
        >>> logits = Tensor(np.array([[3, 5, 6, 9, 12, 33, 42, 12, 32, 72]]), mindspore.float32)
        >>> print(loss(logits, Tensor(np.array([1]).astype(np.int32))))
        [67.]
    """

    def __init__(self, sparse=False, reduction="none"):
        super().__init__(reduction)
        self.sparse = Validator.check_bool(sparse, "sparse")
        self.reduction = reduction
        self.softmax_cross_entropy = P.SoftmaxCrossEntropyWithLogits()
        self.sparse_softmax_cross_entropy = P.SparseSoftmaxCrossEntropyWithLogits()
        self.one_hot = P.OneHot()
        self.on_value = Tensor(1.0, mstype.float32)
        self.off_value = Tensor(0.0, mstype.float32)

    def construct(self, logits, labels):
        if self.sparse:
            if self.reduction == "mean":
                return self.sparse_softmax_cross_entropy(logits, labels)
            check_labels(self.cls_name, labels, logits.shape[-1])
            labels = self.one_hot(labels, logits.shape[-1], self.on_value, self.off_value)
        return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])


class SampledSoftmaxLoss(_Loss):
    """
    Softmax cross entropy over the true classes and a sample of the others, for many classes (Jean et al., 2015).

    Args:
        num_sampled (int): The number of classes to sample.
        num_classes (int): The number of classes.
        num_true (int): The number of true classes of each example. Default: 1.
        sampled_values (Union[list, tuple]): (sampled candidates, expected count of the true classes, expected count of
            the sampled ones), what ops.UniformCandidateSampler returns; None to sample. Default: None.
        remove_accidental_hits (bool): Whether a sampled class does not count for the examples whose true class it is;
            only where `sampled_values` is None. Default: True.
        seed (int): The seed of the sampler. Default: 0.
        reduction (str): "mean", "sum" or "none"; the loss of each example is returned for any. Default: "none".

    Inputs:
        - **weights** (Tensor) - (C, dim), the classes' weights.
        - **bias** (Tensor) - (C,), the classes' biases.
        - **labels** (Tensor) - (N, num_true), int32 or int64.
        - **inputs** (Tensor) - (N, dim).

    Outputs:
        Tensor of shape (N,).

    Raises:
        TypeError: If `sampled_values` is neither a list nor a tuple, or `labels` not int32 or int64.
        ValueError: If a number is out of range, or `sampled_values` is not of 3 items.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> loss = nn.SampledSoftmaxLoss(num_sampled=4, num_classes=7, num_true=1)
        >>> weights = Tensor(np.random.randint(0, 9, [7, 10]), mindspore.float32)
        >>> biases = Tensor(np.random.randint(0, 9, [7]), mindspore.float32)
        >>> inputs = Tensor(np.random.randint(0, 9, [3, 10]), mindspore.float32)
        >>> output = loss(weights, biases, Tensor([[0], [1], [2]], mindspore.int32), inputs)
    """

    def __init__(
        self,
        num_sampled,
        num_classes,
        num_true=1,
        sampled_values=None,
        remove_accidental_hits=True,
        seed=0,
        reduction="none",
    ):
        super().__init__(reduction)
        for name, value, low, high in (
            ("num_true", num_true, 1, num_classes),
            ("seed", seed, 0, None),
            ("num_sampled", num_sampled, 1, num_classes),
        ):
            if value < low:
                raise ValueError(f"For 'SampledSoftmaxLoss', '{name}' {value} is less than {low}.")
            if high is not None and value > high:
                raise ValueError(f"For 'SampledSoftmaxLoss', '{name}' {value} is greater than 'num_classes' {high}.")
        if sampled_values is not None:
            if not isinstance(sampled_values, (list, tuple)):
                raise TypeError(f"For 'SampledSoftmaxLoss', 'sampled_values' {sampled_values} is not a list or tuple.")
            if len(sampled_values) != 3:
                raise ValueError(f"For 'SampledSoftmaxLoss', 'sampled_values' has {len(sampled_values)} items, not 3.")
        self.num_sampled = num_sampled
        self.num_classes = num_classes
        self.num_true = num_true
        self.sampled_values = sampled_values
        self.remove_accidental_hits = remove_accidental_hits
        self.seed = seed
        self.sampler = P.UniformCandidateSampler(num_true, num_sampled, True, num_classes, seed)
        self.cast = P.Cast()
        self.reshape = P.Reshape()
        self.log = P.Log()
        self.matmul = P.MatMul(False, True)
        self.gather = P.Gather()
        self.concat = P.Concat(1)
        self.expand_dims = P.ExpandDims()
        self.equal = P.Equal()
        self.ones_like = P.OnesLike()
        self.zeros_like = P.ZerosLike()
        self.log_softmax = P.LogSoftmax(1)

    def construct(self, weights, biases, labels, inputs):
        Validator.check_type_name("labels", labels.dtype, [mstype.int32, mstype.int64], self.cls_name)
        logits, targets = self._sampled_logits(weights, biases, labels, inputs)
        return -self.reduce_sum(targets * self.log_softmax(logits), 1)

    def _sampled_logits(self, weights, biases, labels, inputs):
        """Logits and target probabilities: the true classes first, then the sampled ones."""
        labels = self.reshape(self.cast(labels, mstype.int32), (-1, self.num_true))
        values = self.sampler(labels) if self.sampled_values is None else self.sampled_values
        sampled, true_expected_count, sampled_expected_count = values
        sampled = self.cast(sampled, mstype.int32)

        true_weights = self.gather(weights, labels, 0)
        true_logits = self.reduce_sum(self.expand_dims(inputs, 1) * true_weights, 2) + self.gather(biases, labels, 0)
        sampled_logits = self.matmul(inputs, self.gather(weights, sampled, 0)) + self.gather(biases, sampled, 0)
        # Less the log of the expected count, so that often sampled classes do not weigh more.
        true_logits = true_logits - self.log(true_expected_count)
        sampled_logits = sampled_logits - self.log(sampled_expected_count)
        if self.remove_accidental_hits and self.sampled_values is None:
            hits = self.equal(self.expand_dims(labels, 2), self.reshape(sampled, (1, 1, -1)))
            hits = self.reduce_sum(self.cast(hits, mstype.float32), 1)
            sampled_logits = sampled_logits - 1e30 * hits
        logits = self.concat((true_logits, sampled_logits))
        targets = self.concat((self.ones_like(true_logits) / self.num_true, self.zeros_like(sampled_logits)))
        return logits, targets


class BCELoss(_Loss):
    r"""
    Binary cross entropy of probabilities: :math:`-w (y \log x + (1 - y) \log(1 - x))`.

    Args:
        weight (Tensor): The weight of each element, of the shape of the inputs. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "none".

    Inputs:
        - **inputs** (Tensor) - the probabilities, in [0, 1], float16 or float32.
        - **labels** (Tensor) - of the shape and type of `inputs`.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of `inputs`.

    Raises:
        ValueError: If `reduction` is unknown, or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> loss = nn.BCELoss(reduction='mean')
        >>> logits = Tensor(np.array([[0.1, 0.2, 0.3], [0.5, 0.7, 0.9]]), mindspore.float32)
        >>> output = loss(logits, Tensor(np.array([[0, 1, 0], [0, 0, 1]]), mindspore.float32))
    """

    def __init__(self, weight=None, reduction="none"):
        super().__init__(reduction)
        self.binary_cross_entropy = P.BinaryCrossEntropy(reduction="none" if reduction is None else reduction)
        self.weight = weight
        self.ones_like = P.OnesLike()

    def construct(self, inputs, labels):
        weight = self.ones_like(inputs) if self.weight is None else self.weight
        return self.binary_cross_entropy(inputs, labels, weight)


class CosineEmbeddingLoss(_Loss):
    r"""
    Similarity of pairs of vectors: :math:`1 - \cos(x_1, x_2)` where y is 1,
    :math:`\max(0, \cos(x_1, x_2) - margin)` where y is -1.

    Args:
        margin (float): In [-1, 1]. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Inputs:
        - **x1** (Tensor) - of shape (N, dim, ...).
        - **x2** (Tensor) - of the shape and type of `x1`.
        - **y** (Tensor) - 1 or -1, of the shape of `x1` without axis 1.

    Outputs:
        Tensor, a scalar, or for "none" of the shape of `y`.

    Raises:
        TypeError: If `margin` is not a float, or the types differ.
        ValueError: If `margin` is not in [-1, 1], `reduction` is unknown, or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x1 = Tensor(np.array([[0.3, 0.8], [0.4, 0.3]]), mindspore.float32)
        >>> x2 = Tensor(np.array([[0.4, 1.2], [-0.4, -0.9]]), mindspore.float32)
        >>> print(nn.CosineEmbeddingLoss()(x1, x2, Tensor(np.array([1, -1]), mindspore.int32)))
        0.0003426075
    """

    def __init__(self, margin=0.0, reduction="mean"):
        super().__init__(reduction)
        Validator.check_value_type("margin", margin, [float], self.cls_name)
        self.margin = Validator.check_float_range(margin, -1.0, 1.0, Rel.INC_BOTH, "margin", self.cls_name)
        self.square = P.Square()
        self.sqrt = P.Sqrt()
        self.maximum = P.Maximum()
        self.equal = P.Equal()
        self.select = P.Select()
        self.zeros_like = P.ZerosLike()

    def construct(self, x1, x2, y):
        if x1.dtype != x2.dtype:
            raise TypeError(
                f"For 'CosineEmbeddingLoss', 'x1' and 'x2' should have one type, but got {x1.dtype} and {x2.dtype}."
            )
        if tuple(x1.shape) != tuple(x2.shape):
            raise ValueError(
                f"For 'CosineEmbeddingLoss', 'x1' and 'x2' should have one shape, but got {x1.shape} and {x2.shape}."
            )
        Validator.check_reduce_shape(x1.shape, y.shape, (1,), self.cls_name)
        a, b = widened(x1), widened(x2)
        norms = self.reduce_sum(self.square(a), (1,)) * self.reduce_sum(self.square(b), (1,))
        cosine = self.reduce_sum(a * b, (1,)) / self.sqrt(norms)
        zeros = self.zeros_like(cosine)
        similar = self.select(self.equal(y, 1), 1.0 - cosine, zeros)
        different = self.select(self.equal(y, -1), self.maximum(cosine - self.margin, 0.0), zeros)
        return rounded(self.get_loss(similar + different), x1, x2)
