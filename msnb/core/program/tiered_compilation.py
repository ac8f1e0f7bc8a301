"""Tiered compilation: the first calls of a large program run an executable that XLA compiles quickly.

XLA compiles the full executable on a thread in the meantime, and it takes over at a fixed call. The last bits of the
results of the two differ. The call is therefore a number that follows from the graph alone: equal programs compute
equal bits in every run and on every machine, however long XLA takes and whatever is on disk.
"""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, jaxprs_in_params

from msnb import context
from msnb.core.compat.jax_private import argument_signature
from msnb.core.program.xla_options import QUICK_COMPILE
from msnb.core.state import trace_state

# Measured on a processor with two cores, with LeNet, ResNet-18 and -50, MobileNet v2 and v3, a Transformer and a GRU.
_SAVED_BY_KERNEL = 8e-3  # seconds of compilation that the quick executable saves for each distinct operation
_LOST_BY_ELEMENT = 2e-9  # seconds that it takes longer for each element of an operation
_LOST_BY_TAP = 8e-9  # and for each product of a convolution with one channel per filter, which XLA adds up in a loop
_FEW_KERNELS = 100  # with fewer, the full executable is ready within some tenths of a second
_WORTH = 6  # the quick executable must save more time than this number of quick calls loses
_FIRST, _LAST = 11, 64  # bounds of the call at which the full executable takes over
_EARLY = 3  # call at which its compilation starts if the calls meanwhile do not compete with it for processors
_MANY_CALLS, _MANY_PROCESSORS = 30, 4  # they do not if they are short, or with more processors than these
_MATRIX_PRODUCTS = "dot_general"  # both executables call the same library
_MOVED_FOR_FREE = {"reshape", "broadcast_in_dim", "squeeze", "expand_dims", "stop_gradient", "name"}


class TierPlan(NamedTuple):
    """The calls at which the executable of a program changes; the first call has number 0.

    Attributes:
        start (int): The call at which the compilation of the full executable starts. It has no effect on results.
        takeover (int): The first call that runs the full executable, which follows from the graph.
    """

    start: int
    takeover: int


def plan_tiers(graph: ClosedJaxpr, device: Any) -> TierPlan | None:
    """Return the plan for a program; None if its full executable runs from the first call on."""
    if context._state.compile_effort != "auto" or device.platform != "cpu":
        return None
    if any(option in os.environ.get("XLA_FLAGS", "") for option in QUICK_COMPILE):  # the user has chosen
        return None
    if _is_small(graph.jaxpr):
        return None
    work = _Work()
    work.add(graph.jaxpr, 1)
    saved = len(work.kernels) * _SAVED_BY_KERNEL
    lost = work.elements * _LOST_BY_ELEMENT + work.taps * _LOST_BY_TAP
    if work.is_unbounded or len(work.kernels) < _FEW_KERNELS or saved < _WORTH * lost:
        return None
    balance = saved / lost if lost else math.inf  # number of calls after which the quick executable has saved nothing
    takeover = int(min(max(balance / 2, _FIRST), _LAST))
    is_early = balance > _MANY_CALLS or _count_processors() > _MANY_PROCESSORS
    return TierPlan(_EARLY if is_early else takeover, takeover)


def _is_small(jaxpr):
    """Return True if the graph has fewer equations than `_FEW_KERNELS`. Small programs are not examined further."""
    count, graphs = 0, [jaxpr]
    while graphs and count < _FEW_KERNELS:
        equations = graphs.pop().eqns
        count += len(equations)
        for equation in equations:
            graphs.extend(jaxprs_in_params(equation.params))
    return count < _FEW_KERNELS


def _count_processors():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Work:
    """Work of a graph that depends on XLA's effort, counted from its equations."""

    def __init__(self):
        self.kernels = set()  # distinct (primitive, shapes and dtypes)
        self.elements = self.taps = 0
        self.is_unbounded = False  # True if the number of rounds of a loop is not known
        self._counts = {}  # nested jaxpr -> (elements, taps) of one run

    def add(self, jaxpr: Jaxpr, rounds: int) -> None:
        """Add the equations of a jaxpr that runs `rounds` times."""
        if jaxpr not in self._counts:
            before, self.elements, self.taps = (self.elements, self.taps), 0, 0
            for equation in jaxpr.eqns:
                self._add_equation(equation)
            self._counts[jaxpr] = self.elements, self.taps
            self.elements, self.taps = before
        elements, taps = self._counts[jaxpr]
        self.elements += rounds * elements
        self.taps += rounds * taps

    def _add_equation(self, equation: JaxprEqn) -> None:
        name, params = equation.primitive.name, equation.params
        inner = list(jaxprs_in_params(params))
        self.is_unbounded |= name == "while"
        for jaxpr in inner:
            self.add(jaxpr, params["length"] if name == "scan" else 1)
        if inner or name in _MOVED_FOR_FREE:
            return
        values = [v.aval for v in (*equation.invars, *equation.outvars)]
        shapes = tuple([(aval.shape, aval.dtype) for aval in values if _is_array(aval)])
        self.kernels.add((name, shapes))
        sizes = [math.prod(shape) for shape, _ in shapes]
        kernel = params.get("kernel")  # shape of the weights of a convolution
        if kernel is not None:
            if kernel[1] == 1 and math.prod(kernel[2:]) > 1:
                self.taps += max(sizes) * math.prod(kernel[2:])
        elif name != _MATRIX_PRODUCTS:
            self.elements += max(sizes, default=0)


def _is_array(aval: Any) -> bool:
    return all([isinstance(size, int) for size in getattr(aval, "shape", (None,))])


class QuickForm:
    """A form (variant) of a program as an executable that XLA compiles quickly.

    Args:
        full (Callable): The form as a `jax.jit` function, which shares its trace and its lowering.
        takeover (int): The first call that runs the full executable, from 0.
    """

    __slots__ = ("full", "takeover", "executable", "arguments", "__weakref__")

    def __init__(self, full: Any, takeover: int) -> None:
        self.full: Any = full
        self.takeover: int = takeover
        self.executable: Any = None  # `jax.stages.Compiled`
        self.arguments: Any = None  # shapes, dtypes and shardings for which it was compiled

    def compile(self, arguments: tuple[Any, ...]) -> None:
        """Compile for arguments with these shapes, dtypes and shardings, unless the executable is for them."""
        if self.executable is None or self.arguments != arguments:
            self.executable = self.full.lower(*arguments).compile(compiler_options=dict(QUICK_COMPILE))
            self.arguments = arguments

    def __call__(self, *arguments: Any) -> Any:
        if self.executable is None:  # on other threads than the main one, nothing is compiled ahead of the call
            self.compile(jax.tree.map(argument_signature, arguments))
        executable: Any = self.executable
        return executable(*arguments)

    def clear_cache(self) -> None:
        """Drop the executable; the next call compiles again."""
        self.executable = self.arguments = None
        self.full.clear_cache()


def full_form(form: Any) -> Any:
    """Return the `jax.jit` function of a form, be its executable quick or full."""
    return form.full if isinstance(form, QuickForm) else form


class Tiers:
    """The tiers of one program: its plan, and the quick executables of its forms until the full one takes over.

    Args:
        plan (Union[TierPlan, None]): None for a program that has one tier.

    Attributes:
        is_over (bool): True once the full executable has taken over.
        earlier_calls (int): Number of calls of an equal program in the process whose training goes on in this one.
    """

    __slots__ = ("_plan", "_forms", "is_over", "earlier_calls")

    def __init__(self, plan: TierPlan | None) -> None:
        self._plan = plan
        self._forms: dict[Any, QuickForm] = {}
        self.is_over: bool = plan is None
        self.earlier_calls: int = 0

    def continue_from(self, earlier_calls: int) -> None:
        """Set `earlier_calls`. The full executable may not have taken over at that call."""
        self.earlier_calls = earlier_calls
        self.is_over = self._plan is None

    def runs_quickly(self, call: int) -> bool:
        """Return True if the call with this number runs an executable that is compiled quickly."""
        return self._plan is not None and call < self._plan.takeover and not _requests

    def compiles_full(self, call: int) -> bool:
        """Return True if the full executable has to be compiled while the call with this number runs."""
        return self._plan is not None and call >= self._plan.start and self.runs_quickly(call)

    def select(self, form: Any, call: int) -> Any:
        """Return `form`, or its `QuickForm` if the call with this number runs a quick executable."""
        if self._plan is None or not self.runs_quickly(call):
            return form
        if form not in self._forms:
            self._forms[form] = QuickForm(form, self._plan.takeover)
        return self._forms[form]

    def end_if_due(self, call: int) -> bool:
        """Drop the quick executables if the full one runs from the call with this number on. Return True if so."""
        if self.is_over or self._plan is None or call < self._plan.takeover:
            return False
        self.is_over = True
        self._forms.clear()
        return True


_requests = 0  # number of blocks `full_executables` that are active


@contextmanager
def full_executables() -> Iterator[None]:
    """Context manager: programs run their full executables, because their time or memory is measured."""
    global _requests
    _requests += 1
    trace_state.storage_epoch.bump()
    try:
        yield
    finally:
        _requests -= 1
        trace_state.storage_epoch.bump()
