"""Tensor, Parameter and related classes: boxes around `jax.Array`."""

from msnb.core.tensor.tensor import _from_pickle as _from_pickle  # pickles of msnb 0.1 name it here
