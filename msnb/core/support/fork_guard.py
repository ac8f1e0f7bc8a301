"""Processes that are forked while JAX is in use: an operator raises there, in place of waiting for ever.

XLA computes in threads, and threads do not survive a fork: the first operator in a forked process would wait for one
that is not there. Nothing of this is looked at when operators are dispatched; the child prepares itself when it starts.
Reading Tensors, numpy, and processes that were forked before JAX was used or spawned are as always.
"""

import os

from msnb.core.compat import jax_private

SENTENCE = (
    "operators cannot run in worker processes: this one was forked while JAX was in use, and the threads that "
    "compute did not come along. Use numpy here, or python_multiprocessing=False; a process that is spawned "
    "(multiprocessing.get_context('spawn')) can run operators."
)


def _in_child():
    if jax_private.in_use():
        jax_private.refuse_computations(SENTENCE)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
