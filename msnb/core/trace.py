"""What is going on in this thread: the frame being traced, whether a gradient is being recorded, and the epoch.

Tracing never changes a Parameter's box. While a function is traced, a `Frame` maps Parameters to the arrays that stand
in for them, remembers which were written, and falls back to its parent for those it does not hold.
"""
import contextlib
import threading

import jax


class _Thread(threading.local):
    """State of one thread."""

    frame = None  # innermost Frame while tracing
    recording = 0  # number of PYNATIVE gradients being recorded
    nodes = None  # Parameter id -> tape node, while recording
    compute_dtype = None  # numpy dtype that Cell.to_float asks for
    random = None  # forced key source, see core.random


thread = _Thread()


class Frame:
    """The functional view of all boxes during one trace.

    Args:
        values (dict): Parameter id -> array that stands in for it.
        parent (Frame): Where reads go that this frame does not hold; None for the frame of a whole program.
    """

    __slots__ = ("values", "parent", "boxes", "written", "missing", "tensors", "cells", "key", "key_used", "number",
                 "_outer")

    def __init__(self, params=(), arrays=(), parent=None, key=None):
        self.parent = parent
        self.boxes = {id(p): p for p in params}
        self.values = dict(zip(self.boxes, arrays))
        self.written = {}
        self.missing = {}
        self.tensors = {}
        self.cells = {} if parent is None else parent.cells  # Cells called in this trace
        self.key = key
        self.key_used = False
        self.number = None  # of the seed stream, for the frame of a whole program

    def read(self, param):
        """Current array of `param`."""
        frame = self
        ident = id(param)
        while frame is not None:
            array = frame.values.get(ident)
            if array is not None:
                return array
            if frame.parent is None:
                frame.missing[ident] = param
                return param._stored()
            frame = frame.parent

    def write(self, param, array):
        """Rebind `param` within this trace."""
        ident = id(param)
        if ident not in self.written:
            if ident not in self.values and self.parent is None:
                self.missing[ident] = param
            self.written[ident] = param
        self.boxes[ident] = param
        self.values[ident] = array

    def remember(self, tensor):
        """Note the array of a plain Tensor before it is rebound, to put it back when the trace ends."""
        if id(tensor) not in self.tensors:
            self.tensors[id(tensor)] = (tensor, tensor._array)

    def next_key(self):
        """A fresh random key, split off this trace's stream."""
        self.key_used = True
        key = self.key if self.key is not None else self._inherited_key()
        self.key, sub = jax.random.split(key)
        return sub

    def _inherited_key(self):
        frame = self
        while frame.key is None:
            if frame.parent is None:
                frame.key_used = True
                frame.key = jax.random.key(frame.number)
                break
            frame = frame.parent
        return frame.key

    def writes(self):
        """[(Parameter, new array)] in the order of first writing."""
        return [(p, self.values[i]) for i, p in self.written.items()]

    def __enter__(self):
        self._outer = thread.frame
        thread.frame = self
        return self

    def __exit__(self, *exc):
        thread.frame = self._outer
        for tensor, array in self.tensors.values():
            tensor._array = array
        return False


class Epoch:
    """One counter for the whole process: it moves whenever something that programs depend on may have changed."""

    __slots__ = ("value",)

    def __init__(self):
        self.value = 0

    def bump(self):
        """Make every compiled program check, at its next call, that it still fits."""
        self.value += 1


epoch = Epoch()
watched = set()  # ids of plain Tensors that a program holds as constants


def tracing():
    """Whether this thread is tracing a graph."""
    return thread.frame is not None


@contextlib.contextmanager
def compute_dtype(dtype):
    """Within, float Parameters enter operators as `dtype` (numpy), None for as they are."""
    before = thread.compute_dtype
    thread.compute_dtype = dtype
    try:
        yield
    finally:
        thread.compute_dtype = before
