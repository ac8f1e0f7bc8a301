"""A GPU where there is none."""

import pytest

from msnb import context
from msnb.core.eager import matmul_precision
from msnb.core.program import executable


class _Context:
    """`msnb.context` with a processor that passes for a GPU."""

    class device:  # noqa: N801 - what is called by that name
        platform = "gpu"

    def __getattr__(self, name):
        return getattr(context, name)


@pytest.fixture
def gpu(monkeypatch):
    """Compile programs as for a GPU. This processor runs them."""
    for asking in (matmul_precision, executable):
        monkeypatch.setattr(asking, "context", _Context())
    yield
    context.set_context(gpu_config={"matmul_allow_tf32": False, "conv_allow_tf32": True})
