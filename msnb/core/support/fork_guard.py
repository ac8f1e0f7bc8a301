"""Guard for processes that are forked while JAX is in use: operators raise an error instead of waiting forever.

XLA computes in threads, and threads do not survive a fork. The first operator in a forked process would wait for a
thread that does not exist. The guard is installed in the child after the fork, so it costs nothing at dispatch.
Reading Tensors and numpy still work in the child. Processes that were spawned, or forked before JAX was used, are not
affected.
"""

import os

from msnb.core.compat import jax_private

SENTENCE = (
    "operators cannot run in worker processes: this one was forked while JAX was in use, and the threads that "
    "compute did not come along. Use numpy here, or python_multiprocessing=False; a process that is spawned "
    "(multiprocessing.get_context('spawn')) can run operators."
)


def _refuse_computations_in_child():
    if jax_private.is_initialized():
        jax_private.refuse_computations(SENTENCE)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_refuse_computations_in_child)
