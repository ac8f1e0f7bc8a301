"""`Kernel`: a pure function of arrays under a name, compiled once per signature, and its pullbacks."""

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core import interrupts
from msnb.core._jax_private import forget_compiled, strengthen
from msnb.core.dtype import is_inexact
from msnb.core.names import GraphName


class Kernel:
    """A pure function of arrays with one `jax.jit`, which shows in a graph under `name`.

    Args:
        name (str): Name of the operator; a `GraphName` says its attributes as well.
        fn (Callable): Takes arrays and Python scalars, returns an array or a tuple of arrays.
    """

    __slots__ = ("name", "fn", "run", "checked", "_pullbacks")

    def __init__(self, name, fn):
        def kernel(*arrays):
            out = fn(*arrays)
            if type(out) is tuple:
                return tuple([strengthen(jnp.asarray(o)) for o in out])
            return strengthen(jnp.asarray(out))

        self.name = name if isinstance(name, GraphName) else GraphName(name)
        kernel.__name__ = kernel.__qualname__ = self.name
        self.fn = fn
        self.run = jax.jit(kernel)
        self.checked = None  # of an operator with checks: what is static, and where the inputs stand
        self._pullbacks = {}

    def call(self, *arrays):
        """`run`, and what has to be done when it fails; the hot paths call `run` and do it themselves."""
        try:
            return self.run(*arrays)
        except BaseException as error:
            self.recover(error)
            raise

    def recover(self, error):
        """Make sure that an error which broke off a first call does not slow down all later ones."""
        if interrupts.broken_off(error):
            forget_compiled(self.run, error)

    def pullback(self, needs):
        """Kernel that takes the inputs, then one cotangent per output, and returns a tuple of cotangents: one for
        each input that `needs` (tuple of bool) marks."""
        kernel = self._pullbacks.get(needs)
        if kernel is None:
            kernel = self._pullbacks[needs] = Kernel(self.name.gradient, self._pull_fn(needs))
        return kernel

    def _pull_fn(self, needs):
        count = len(needs)
        wanted = [i for i, need in enumerate(needs) if need]

        def pull(*args):
            arrays, cotangents = list(args[:count]), args[count:]

            def part(*variables):
                for i, variable in zip(wanted, variables):
                    arrays[i] = variable
                return self.run(*arrays)

            out, vjp = jax.vjp(part, *[arrays[i] for i in wanted])
            outs = out if type(out) is tuple else (out,)
            cotangents = tuple(
                c.astype(o.dtype) if is_inexact(o.dtype) else np.zeros(o.shape, jax.dtypes.float0)
                for c, o in zip(cotangents, outs)
            )
            return tuple(vjp(cotangents if type(out) is tuple else cotangents[0]))

        return pull
