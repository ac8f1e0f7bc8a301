"""Base classes of the explainers."""

from typing import Any

from msnb._checkparam import check_value_type
from msnb.core.tensor.tensor import Tensor
from msnb.explainer._arguments import check_cell
from msnb.nn.cell import Cell


class Attribution:
    """Base class of explainers.

    A subclass defines ``__call__(inputs, targets)``, which returns the saliency maps (N, 1, H, W) of images
    (N, C, H, W).

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.

    Raises:
        TypeError: If `network` is not a Cell.
    """

    def __init__(self, network: Cell):
        check_cell("network", network, type(self).__name__)
        self._network = network
        network.set_train(False)
        network.set_grad(False)

    @property
    def network(self) -> Cell:
        """Return the network."""
        return self._network

    def _count_steps(self, n_images: int, height: int, width: int) -> int:
        """Return the number of steps that a call reports, 0 if it reports none."""
        return 0

    def __call__(self, inputs: Tensor, targets: Any) -> Tensor:
        """Return the saliency maps of images for labels."""
        raise NotImplementedError(f"{type(self).__name__} should define __call__(inputs, targets).")


class PerturbationAttribution(Attribution):
    """Base class of explainers that change pixels and observe the probabilities.

    Args:
        network (Cell): Network that returns logits (N, number of labels). It is set to evaluation mode.
        activation_fn (Cell): Layer that turns logits into probabilities, such as nn.Softmax() or nn.Sigmoid().
        perturbation_per_eval (int): Number of changed images in one call of the network.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If `perturbation_per_eval` is not positive.
    """

    _unit: str  # name of the steps

    def __init__(self, network: Cell, activation_fn: Cell, perturbation_per_eval: int):
        super().__init__(network)
        owner = type(self).__name__
        check_cell("activation_fn", activation_fn, owner)
        check_value_type("perturbation_per_eval", perturbation_per_eval, int, owner)
        if perturbation_per_eval <= 0:
            raise ValueError(
                f"For '{owner}', 'perturbation_per_eval' should be a positive integer, but got {perturbation_per_eval}."
            )
        self._activation_fn = activation_fn
        self._perturbation_per_eval = perturbation_per_eval
