"""Source transformation: Python control flow over Tensors becomes graph control flow."""
import contextlib


def call(fn):
    return fn


@contextlib.contextmanager
def collecting():
    yield []
