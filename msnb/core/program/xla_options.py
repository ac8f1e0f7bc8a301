"""On CPU, XLA is asked for what is worth its time: kernels are waited for one after the other, and few run for long.

What the user compiles with JAX is compiled as XLA does it by default.
"""

import re

import jaxlib.version

from msnb import context
from msnb.core.compat import jax_compilation
from msnb.core.eager import kernel
from msnb.core.program import persistent_cache

# Loops written by XLA's older emitter are there in half the time, and as fast while there is little to compute. On
# larger arrays it depends on what is computed: what goes through its inputs in order is as fast, a transposition takes
# seven times as long, a flattening five. An expression that is used several times it computes, and compiles, as often:
# in large programs, and where functions are dear, it takes up to eight times as long to compile. Later versions of
# jaxlib do not have it, and refuse what they do not know.
_LOOPS = {"xla_cpu_use_fusion_emitters": False} if jaxlib.version.__version__.startswith("0.10.") else {}
# Hardly any optimization: with so few elements, computing them is lost in the price of the call.
_SMALL = {**_LOOPS, "xla_backend_optimization_level": 0, "xla_cpu_parallel_codegen_split_count": 1}
_SMALL_ELEMENTS = 256
# LLVM's third level takes a fifth longer than the second, and no step was quicker for it. (The option that spares the
# copies of donated weights, xla_cpu_copy_insertion_use_region_analysis, gives wrong numbers with JAX 0.12: CTCLoss.)
_PROGRAM = {"xla_backend_optimization_level": 2}
_QUICKLY = {**_PROGRAM, **_LOOPS}
# What `compile_effort="quick"` asks for: a first step in a third of the time, later ones up to three times as long.
_HASTY = {**_LOOPS, "xla_backend_optimization_level": 0}
# For what is never run, only read: communication and work are those of any other level, memory is within 0.1 %.
READ_ONLY = {**_HASTY, "xla_llvm_disable_expensive_passes": True}
_MOST_ELEMENTS, _MOST_OPERATIONS, _MOST_CALLS, _MOST_DEAR = 1024, 1500, 100, 4  # for the older emitter; by measurement
_CALL = "func.call"  # of an operator
# Of a kernel that goes through its inputs in order; beyond so many elements its loops were up to twice as long as well.
_STRAIGHT = "abs add and broadcast_in_dim compare constant convert divide maximum minimum multiply negate not or select"
_STRAIGHT = {f"stablehlo.{n}" for n in [*_STRAIGHT.split(), "slice", "subtract", "xor"]}
_STRAIGHT |= {"builtin.module", "func.func", "func.return", _CALL}
_MOST_STRAIGHT, _MOST_IN_A_KERNEL = 1 << 18, 60
_DEAR = [f"stablehlo.{n}" for n in "exponential tanh logistic log rsqrt sqrt power sine cosine custom_call".split()]
_REPEATS = "stablehlo.while"  # computes for long with few elements
_REWRITTEN = re.compile(r"[^\w.-]")  # what JAX replaces by "_" in the names that it gives XLA


def _options(name, about):
    """XLA's options for the program `name`, beyond those that it has."""
    hasty = context._state.compile_effort == "quick"
    if persistent_cache.compiling_program():  # which may have the name of an operator
        if hasty:
            return _HASTY
        seen = about(_MOST_OPERATIONS) if _LOOPS else None
        return _QUICKLY if seen is not None and _is_little(*seen) else _PROGRAM
    name = name.removeprefix("jit_").rstrip("_")
    if not any(_REWRITTEN.sub("_", k.name).rstrip("_") == name for k in kernel.live_kernels()):
        return {}
    if hasty:
        return _HASTY
    seen = about(600)
    if seen is None:  # a whole program on the tape
        return _PROGRAM
    if seen[1] <= _SMALL_ELEMENTS and _REPEATS not in seen[0]:
        return _SMALL
    return _QUICKLY if seen[1] <= _MOST_ELEMENTS or _is_straight(*seen) else _PROGRAM


def _is_straight(operations, elements):
    """Whether the older emitter's loops for a kernel are as fast as the newer one's on larger arrays too."""
    short = operations.total() <= _MOST_IN_A_KERNEL and elements <= _MOST_STRAIGHT
    return short and _STRAIGHT.issuperset(operations)


def _is_little(operations, elements):
    """Whether the older emitter is the quicker one to compile a program and loses nothing when that runs."""
    few = operations[_CALL] <= _MOST_CALLS and sum(operations[d] for d in _DEAR) <= _MOST_DEAR
    return few and elements <= _MOST_ELEMENTS


jax_compilation.share_contexts()
jax_compilation.add_compile_options(_options)
