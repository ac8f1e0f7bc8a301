"""Base class of Bayesian layers: prior and posterior of weight and bias, and the divergence of both."""

from collections.abc import Callable
from typing import Any

from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell
from msnb.nn.probability.bnn_layers.layer_distribution import NormalPosterior
from msnb.nn.probability.distribution.normal import Normal
from msnb.ops import functional as F
from msnb.ops import operations as P


def normal_posterior(name: str, shape: Any) -> NormalPosterior:
    """Create the default posterior of a layer, a NormalPosterior."""
    return NormalPosterior(name=name, shape=shape)


def _check_contains_normal(distribution, argument, layer):
    """Raise TypeError unless the Cell `distribution` contains a normal distribution and no other Cell."""
    cells = distribution.name_cells() if isinstance(distribution, Cell) else {}
    if list(cells) != ["normal"] or not isinstance(cells["normal"], Normal):
        raise TypeError(
            f"For '{layer}', '{argument}' should give a Cell like NormalPrior or NormalPosterior, which holds a Normal "
            f"as 'normal', but got {describe(distribution)}."
        )


class Variational(Cell):
    """Base class of layers that sample weight and bias from their posteriors in each call."""

    has_bias: bool
    weight_prior: Any
    weight_posterior: Any
    bias_prior: Any
    bias_posterior: Any

    def _add_prior_and_posterior(
        self, what: str, shape: Any, prior_fn: Callable[..., Any], posterior_fn: Callable[..., Any]
    ) -> None:
        """Create the prior and the posterior of `what`, "weight" or "bias", for a shape."""
        prior = prior_fn if isinstance(prior_fn, Cell) else prior_fn()
        _check_contains_normal(prior, f"{what}_prior_fn", self.cls_name)
        if None in prior.normal.default_parameters:
            raise TypeError(f"For '{self.cls_name}', the Normal of '{what}_prior_fn' should have a mean and an sd.")
        try:
            posterior = posterior_fn(shape=shape, name=f"bnn_{what}")
        except TypeError as error:
            raise TypeError(
                f"For '{self.cls_name}', '{what}_posterior_fn' should be a function of 'name' and 'shape' that returns "
                f"a NormalPosterior: {error}"
            ) from error
        _check_contains_normal(posterior, f"{what}_posterior_fn", self.cls_name)
        setattr(self, f"{what}_prior", prior)
        setattr(self, f"{what}_posterior", posterior)

    def apply_variational_bias(self, inputs: Tensor) -> Tensor:
        """Return `inputs` (Tensor) plus a bias sampled from its posterior."""
        return P.BiasAdd()(inputs, self.bias_posterior("sample"))

    def compute_kl_loss(self) -> Tensor:
        """Return the Kullback-Leibler divergence of posterior and prior, summed over weight and bias."""
        loss = _kl_divergence(self.weight_prior, self.weight_posterior)
        return loss + _kl_divergence(self.bias_prior, self.bias_posterior) if self.has_bias else loss

    def _format_posteriors(self):
        text = (
            f"weight_mean={self.weight_posterior.mean}, weight_std={self.weight_posterior.untransformed_std}, "
            f"has_bias={self.has_bias}"
        )
        if self.has_bias:
            text += f", bias_mean={self.bias_posterior.mean}, bias_std={self.bias_posterior.untransformed_std}"
        return text


def _kl_divergence(prior, posterior):
    """Return KL(prior||posterior), the direction that r1.1 uses."""
    return F.reduce_sum(prior("kl_loss", posterior("get_dist_type"), *posterior("get_dist_args")))
