"""The `generator=` argument of random functions."""

import contextlib
from typing import Any

from msnb.core.state import random_stream
from msnb.core.state.trace_state import thread
from msnb.core.tensor.generator import Generator, default_generator

_OF_SET_SEED = contextlib.nullcontext()


def drawn_from(function: str, generator: Any) -> contextlib.AbstractContextManager[None]:
    """Return a context manager in which random functions of this thread draw from `generator`. For None and
    `default_generator` they draw from the stream of `set_seed`.

    Args:
        function (str): Name of the function for error messages.
        generator (Union[Generator, None]): The generator.

    Raises:
        TypeError: If `generator` is neither a Generator nor None.
        NotImplementedError: If a program is being compiled. Compiled programs only draw from the stream of `set_seed`.
    """
    if generator is None or generator is default_generator:
        return _OF_SET_SEED
    if not isinstance(generator, Generator):
        raise TypeError(
            f"For '{function}', 'generator' should be a Generator or None, but got {type(generator).__name__}."
        )
    if thread.frame is not None:
        raise NotImplementedError(
            f"For '{function}', 'generator' draws outside of compiled programs, which are given random numbers of the "
            f"stream that mindspore.set_seed fixes: draw before, and hand the numbers in."
        )
    return random_stream.draw_from(generator._stream)
