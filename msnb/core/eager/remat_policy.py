"""Rematerialisation: choose whether a gradient saves a value or computes it again in the backward pass."""

from collections.abc import Callable
from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name

_SAVED_NAMES = "kept"
policy: Callable[..., Any] = jax.checkpoint_policies.save_only_these_names(_SAVED_NAMES)  # for recomputed Cells


def recompute_in_gradient(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return `fn` (of arrays) such that a gradient saves only its inputs."""
    return jax.checkpoint(fn)


def save_in_gradient(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return `fn` (of arrays) such that a gradient saves its results, even inside a recomputed Cell."""

    def run(*arrays):
        return jax.tree.map(lambda out: checkpoint_name(out, _SAVED_NAMES), fn(*arrays))

    return run
