"""XLA's compile options on CPU: kernels are compiled quickly, because calls wait for them and few of them run long.

Functions that the user compiles with JAX keep XLA's defaults.
"""

import re
from collections.abc import Callable
from typing import Any

import jax
import jaxlib.version

from msnb import context
from msnb.core.compat import jax_compilation
from msnb.core.eager import kernel
from msnb.core.program import persistent_cache

# XLA's older loop emitter compiles in half the time. On small arrays its loops are as fast as those of the new one. On
# larger arrays, element-wise loops are as fast, a transposition takes seven times as long, a flattening five times. The
# older emitter repeats an expression for each use: large programs, and programs with expensive functions, take up to
# eight times as long to compile. Later versions of jaxlib do not have this emitter and reject the option.
_LOOPS = {"xla_cpu_use_fusion_emitters": False} if jaxlib.version.__version__.startswith("0.10.") else {}
# For kernels of at most `_MOST_ELEMENTS` elements. The call takes longer than the computation, so optimization is off.
_SMALL = {**_LOOPS, "xla_backend_optimization_level": 0, "xla_cpu_parallel_codegen_split_count": 1}
# LLVM's third level compiles a fifth longer than the second, and no step was faster. (The option that avoids
# copies of donated weights, xla_cpu_copy_insertion_use_region_analysis, gives wrong numbers with JAX 0.12: CTCLoss.)
_PROGRAM = {"xla_backend_optimization_level": 2}
_SMALL_PROGRAM = {**_PROGRAM, **_LOOPS}
# `compile_effort="quick"`: the first step takes a third of the time, later steps up to three times as long.
QUICK_COMPILE = {**_LOOPS, "xla_backend_optimization_level": 0}
# For programs that are only inspected: communication and work equal those of other levels, memory within 0.1 %.
READ_ONLY = {**QUICK_COMPILE, "xla_llvm_disable_expensive_passes": True}
# limits for the older emitter, measured
_MOST_ELEMENTS, _MOST_OPERATIONS, _MOST_CALLS, _MOST_EXPENSIVE = (1024, 1500, 100, 4)
_CALL = "func.call"  # the call of an operator
# Operations that read their inputs in order. Kernels with only such operations are fast with the older emitter up to
# `_MOST_ELEMENTWISE` elements; with more, their loops took up to twice as long.
_ELEMENTWISE = (
    "abs add and broadcast_in_dim compare constant convert divide maximum minimum multiply negate not or select"
)
_ELEMENTWISE = {f"stablehlo.{n}" for n in [*_ELEMENTWISE.split(), "slice", "subtract", "xor"]}
_ELEMENTWISE |= {"builtin.module", "func.func", "func.return", _CALL}
_MOST_ELEMENTWISE, _MOST_IN_A_KERNEL = 1 << 18, 60
_EXPENSIVE = [
    f"stablehlo.{n}" for n in "exponential tanh logistic log rsqrt sqrt power sine cosine custom_call".split()
]
_LOOP = "stablehlo.while"  # a loop may take long even with few elements
_REWRITTEN = re.compile(r"[^\w.-]")  # characters that JAX replaces by "_" in names for XLA


def _choose_compile_options(name, count_operations):
    """Return XLA's options for the program `name`, in addition to those that it has."""
    is_quick = context._state.compile_effort == "quick"
    if persistent_cache.is_compiling_program():  # a program may have the name of an operator
        if is_quick:
            return QUICK_COMPILE
        counts = count_operations(_MOST_OPERATIONS) if _LOOPS else None
        return _SMALL_PROGRAM if counts is not None and _is_small_program(*counts) else _PROGRAM
    name = name.removeprefix("jit_").rstrip("_")
    if not any(_REWRITTEN.sub("_", k.name).rstrip("_") == name for k in kernel.live_kernels()):
        return {}
    if is_quick:
        return QUICK_COMPILE
    counts = count_operations(600)
    if counts is None:  # the kernel is a complete program on the tape
        return _PROGRAM
    operations, elements = counts
    if elements <= _MOST_ELEMENTS:
        return _SMALL_PROGRAM if _LOOP in operations else _SMALL
    return _SMALL_PROGRAM if _is_short_elementwise(operations, elements) else _PROGRAM


def jit_quickly(function: Callable[..., Any]) -> Any:
    """Return a `jax.jit` function that compiles quickly, because a person waits for it and it runs only a few times."""
    return jax.jit(function, compiler_options=dict(QUICK_COMPILE) if jax.default_backend() == "cpu" else None)


def _is_short_elementwise(operations, elements):
    """Return True for a short elementwise kernel, for which XLA's older emitter is as fast even on larger arrays."""
    short = operations.total() <= _MOST_IN_A_KERNEL and elements <= _MOST_ELEMENTWISE
    return short and _ELEMENTWISE.issuperset(operations)


def _is_small_program(operations, elements):
    """Return True if XLA's older emitter compiles a program faster without slowing its run."""
    few = operations[_CALL] <= _MOST_CALLS and sum(operations[d] for d in _EXPENSIVE) <= _MOST_EXPENSIVE
    return few and elements <= _MOST_ELEMENTS


jax_compilation.share_contexts()
jax_compilation.add_compile_options(_choose_compile_options)
