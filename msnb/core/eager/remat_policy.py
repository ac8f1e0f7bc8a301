"""What a gradient keeps of operators, and what it computes again on its way back."""

from collections.abc import Callable
from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name

_SAVED_NAMES = "kept"
policy: Callable[..., Any] = jax.checkpoint_policies.save_only_these_names(
    _SAVED_NAMES
)  # of Cells that are computed again


def recompute_in_gradient(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays as it is, of which a gradient keeps the inputs alone."""
    return jax.checkpoint(fn)


def save_in_gradient(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays as it is, whose results a gradient keeps although it computes what is around again."""

    def run(*arrays):
        return jax.tree.map(lambda out: checkpoint_name(out, _SAVED_NAMES), fn(*arrays))

    return run
