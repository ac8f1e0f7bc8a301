"""Sampled softmax loss, for a large number of classes."""

from typing import TYPE_CHECKING, Annotated

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, Kind, NonNegInt, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._input_checks import INTS, check_dtypes
from msnb.nn._kinds import Reduction
from msnb.nn.loss._base import LossBase
from msnb.ops import functional as F
from msnb.ops import operations as P

if TYPE_CHECKING:  # used in annotations only
    pass

__all__ = ["SampledSoftmaxLoss"]


def _check_three_tensors(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) != 3:
        raise ValueError
    return tuple(value)


Sample = Annotated[tuple | list, Kind("a tuple or list of three Tensors", _check_three_tensors, whole=True)]
_NEVER = 1e30  # subtracted from a logit, it makes the probability 0


class SampledSoftmaxLoss(LossBase):
    """
    Softmax cross entropy over the true classes and a random sample of the others (Jean et al., 2015).

    Args:
        num_sampled (int): Number of sampled classes.
        num_classes (int): Number of all classes.
        num_true (int): Number of true classes of each example. Default: 1.
        sampled_values (Union[list, tuple]): The sample, as returned by ops.UniformCandidateSampler: classes, expected
            counts of the true classes, expected counts of the sampled classes. Default: None, a new sample.
        remove_accidental_hits (bool): Whether a sampled class that is a true class is ignored; only without
            `sampled_values`. Default: True.
        seed (int): Seed of the sampler. Default: 0.
        reduction (str): "mean", "sum" or "none". It is checked, but has no effect: the losses of all examples are
            returned. Default: "none".

    Inputs:
        - **weights** (Tensor) - (C, dim), the weights of the classes.
        - **bias** (Tensor) - (C,), the biases of the classes.
        - **labels** (Tensor) - (N, num_true), the true classes, int32 or int64.
        - **inputs** (Tensor) - (N, dim), the examples.

    Outputs:
        Tensor of shape (N,).

    Raises:
        TypeError: If an argument has the wrong type, or `labels` are no ints.
        ValueError: If a number is out of range, or `sampled_values` does not have three elements.

    Examples:
        >>> net = nn.SampledSoftmaxLoss(num_sampled=4, num_classes=7)
        >>> weights, biases = Tensor(np.ones((7, 10)), mindspore.float32), Tensor(np.zeros(7), mindspore.float32)
        >>> labels, inputs = Tensor([[0], [1]], mindspore.int32), Tensor(np.ones((2, 10)), mindspore.float32)
        >>> print(net(weights, biases, labels, inputs).shape)
        (2,)
    """

    @checked
    def __init__(
        self,
        num_sampled: PositiveInt,
        num_classes: PositiveInt,
        num_true: PositiveInt = 1,
        sampled_values: Sample | None = None,
        remove_accidental_hits: Bool = True,
        seed: NonNegInt = 0,
        reduction: Reduction = "none",
    ) -> None:
        super().__init__(reduction)
        for name, count in (("num_sampled", num_sampled), ("num_true", num_true)):
            if count > num_classes:
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' should be at most 'num_classes' {num_classes}, but got {count}."
                )
        self.num_true: int = num_true
        self.sampled_values = sampled_values
        self.remove_accidental_hits: bool = remove_accidental_hits and sampled_values is None
        self.sampler: P.UniformCandidateSampler = P.UniformCandidateSampler(
            num_true, num_sampled, True, num_classes, seed
        )
        self.matmul: P.MatMul = P.MatMul(transpose_b=True)

    def construct(self, weights: Tensor, biases: Tensor, labels: Tensor, inputs: Tensor) -> Tensor:
        """Return the losses."""
        check_dtypes(self.cls_name, INTS, labels=labels)
        true = F.reshape(F.cast(labels, mstype.int32), (-1, self.num_true))
        sampled, expected_true, expected = self.sampled_values or self.sampler(true)
        sampled = F.cast(sampled, mstype.int32)
        # The expected count is subtracted, so that frequently sampled classes do not weigh more.
        examples = F.expand_dims(inputs, 1)
        own = self.reduce_sum(examples * F.gather(weights, true, 0), 2) + F.gather(biases, true, 0)
        own = own - F.log(expected_true)
        others = self.matmul(inputs, F.gather(weights, sampled, 0)) + F.gather(biases, sampled, 0)
        others = others - F.log(expected)
        if self.remove_accidental_hits:
            hits = F.equal(F.expand_dims(true, 2), F.reshape(sampled, (1, 1, -1)))
            others = others - self.reduce_sum(F.cast(hits, mstype.float32), 1) * _NEVER
        logits = F.log_softmax(F.concat((own, others), 1), 1)
        # Each true class has an equal share of the probability.
        return -self.reduce_mean(logits[:, : self.num_true], 1)
