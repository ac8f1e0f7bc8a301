"""Fingerprint of a graph: a short text that is equal only for graphs from which JAX makes equal programs.

It covers everything that lowering reads: equations with their parameters, element types, shapes, constants and nested
graphs. It does not cover names of variables and source locations. A graph with an unknown object, such as a Python
function or a primitive that neither JAX nor msnb lowers, has no fingerprint.
"""

import dataclasses
import enum
import functools
import hashlib
import re
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr

from msnb.core.compat.jax_compilation import lowering_rules
from msnb.core.compat.jax_private import Literal, is_tracer

_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))
_KEYS = frozenset(("key<fry>", "key<rbg>", "key<urbg>"))  # the random generators of JAX itself
# Equation parameters that lowering does not read: derivative rules and residual policies.
_IGNORED_PARAMETERS = {
    "custom_jvp_call": ("jvp_jaxpr_fun",),
    "custom_vjp_call": ("fwd_jaxpr_thunk", "bwd", "out_trees"),
    "checkpoint": ("policy",),
}
_TREE = re.compile(r"(None|RightsOnly|Right|[(), ])*")
_TRUSTED_PACKAGES = frozenset("jax jaxlib msnb numpy ml_dtypes builtins operator _operator functools".split())


class _NoFingerprint(Exception):
    """Raised if a graph has an object that may differ in another process."""


def fingerprint(*parts: Any) -> str | None:
    """Return the fingerprint of graphs and values together, None if one of them has none.

    Args:
        parts (Any): ClosedJaxprs, numbers, texts, element types, arrays, and tuples, lists and dicts of them.
    """
    builder = _TextBuilder()
    try:
        for part in parts:
            builder.add(part)
    except _NoFingerprint:
        return None
    return _hash_bytes(repr(builder.texts).encode())


class _TextBuilder:
    """Builds the text of a fingerprint. A graph that occurs again is written as its number."""

    def __init__(self):
        self.texts = []
        self.graphs, self.kinds, self.primitives = {}, {}, set()

    def text(self, *words):
        self.texts.extend(words)

    # ------------------------------------------------------------------ graphs
    def graph(self, closed):
        number = self.graphs.get(id(closed))
        if number is not None:
            self.text("again", str(number[0]))
            return
        self.graphs[id(closed)] = len(self.graphs), closed  # the reference keeps the id unique
        jaxpr, consts = (closed.jaxpr, closed.consts) if isinstance(closed, ClosedJaxpr) else (closed, ())
        names = {}

        def atoms(variables):
            self.text("atoms", str(len(variables)))
            for atom in variables:
                if isinstance(atom, Literal):
                    self.text("literal", self.kind(atom.aval))
                    self.add(atom.val)
                else:
                    self.text(str(names.setdefault(atom, len(names))), self.kind(atom.aval))

        atoms(jaxpr.constvars)
        self.add(list(consts))
        atoms(jaxpr.invars)
        for eqn in jaxpr.eqns:
            if eqn.primitive not in self.primitives:
                if not _has_trusted_lowering(eqn.primitive):
                    raise _NoFingerprint
                self.primitives.add(eqn.primitive)
            self.text(eqn.primitive.name)
            ignored = _IGNORED_PARAMETERS.get(eqn.primitive.name, ())
            for name, value in eqn.params.items():
                if name not in ignored:
                    self.text(name)
                    self.add(value)
            atoms(eqn.invars)
            atoms(eqn.outvars)
        atoms(jaxpr.outvars)

    def kind(self, aval):
        """Return the text of an abstract value: element type, shape, weak type and memory space."""
        entry = self.kinds.get(id(aval))
        if entry is None:
            if type(aval) is not jax.core.ShapedArray or getattr(aval, "vma", ()) or not aval.sharding.mesh.empty:
                raise _NoFingerprint
            if not all(type(n) is int for n in aval.shape):
                raise _NoFingerprint
            text = f"{_get_dtype_name(aval.dtype)}{aval.shape}{aval.weak_type}{getattr(aval, 'memory_space', '')}"
            entry = self.kinds[id(aval)] = text, aval
        return entry[0]

    # ------------------------------------------------------------------ values
    def add(self, value):
        kind = type(value)
        if kind in _PLAIN:
            self.text(kind.__name__, repr(value))
        elif isinstance(value, (ClosedJaxpr, Jaxpr)):
            self.text("graph")
            self.graph(value)
        elif isinstance(value, str):
            self.text("str", str(value))
        elif isinstance(value, enum.Enum):
            self.text(kind.__qualname__, value.name)
        elif kind.__name__ == "PRNGImpl":
            self.generator(value)
        elif isinstance(value, (tuple, list)):
            self.text(kind.__qualname__, str(len(value)))
            for item in value:
                self.add(item)
        elif kind is frozenset and all(type(item) in _PLAIN for item in value):
            self.text("frozenset", *sorted(map(repr, value)), "end")
        elif kind is dict:
            self.text("dict", str(len(value)))
            for name, item in value.items():
                self.add(name)
                self.add(item)
        elif isinstance(value, np.dtype) or jnp.issubdtype(kind, jax.dtypes.extended):
            self.text("dtype", _get_dtype_name(value))
        elif isinstance(value, (np.generic, np.ndarray)) or isinstance(value, jax.Array) and not is_tracer(value):
            array = np.asarray(value)
            if array.dtype.hasobject:
                raise _NoFingerprint
            self.text(
                kind.__qualname__,
                f"{array.dtype}{array.shape}{getattr(value, 'weak_type', '')}",
                _hash_bytes(array.tobytes()),
            )
        elif isinstance(value, type) and value.__module__.partition(".")[0] in _TRUSTED_PACKAGES:
            self.text("type", f"{value.__module__}.{value.__qualname__}")
        elif kind.__module__.partition(".")[0] in ("jax", "jaxlib"):
            self.add_jax_object(kind, value)
        else:
            raise _NoFingerprint

    def generator(self, value):
        """Add one of JAX's random generators to the text; all its functions must be those of JAX or msnb."""
        if not all(_is_trusted_rule(part, 0) for part in value if callable(part)):
            raise _NoFingerprint
        self.text("generator", value.name, value.tag, str(value.key_shape))

    def add_jax_object(self, kind, value):
        """Add an object of JAX that is a parameter of an equation to the text."""
        if kind.__name__ == "UnspecifiedValue" or kind.__name__ in ("Mesh", "AbstractMesh") and value.empty:
            self.text(kind.__name__)
        elif kind.__module__ == "jax._src.flattree" and _TREE.fullmatch(repr(value)):  # a tree without values
            self.text(kind.__qualname__, repr(value))
        elif isinstance(value, (int, float, complex)):  # numbers with an element type
            self.text(kind.__qualname__, repr(value))
        elif isinstance(value, jax.core.AbstractValue):
            self.text("aval", self.kind(value))
        elif hasattr(kind, "__array__") and hasattr(value, "dtype"):  # a constant with its own weak type
            self.text(kind.__qualname__, str(getattr(value, "weak_type", "")))
            self.add(np.asarray(value))
        elif dataclasses.is_dataclass(value):
            self.text(kind.__qualname__)
            for field in dataclasses.fields(value):
                self.add(getattr(value, field.name))
        else:
            raise _NoFingerprint


def _hash_bytes(data):
    return hashlib.blake2b(data, digest_size=24).hexdigest()


def _get_dtype_name(dtype):
    if not isinstance(dtype, np.dtype) and str(dtype) not in _KEYS:
        raise _NoFingerprint
    return str(dtype)


def _has_trusted_lowering(primitive):
    """Return True if all lowering rules of a primitive are those of JAX or msnb."""
    rules = lowering_rules(primitive)
    return bool(rules) and all(_is_trusted_rule(rule, 0) for rule in rules)


def _is_trusted_rule(rule, depth):
    """Return True if a function, its partial arguments and its closure are from JAX, msnb, numpy or Python."""
    if depth > 8 or (getattr(rule, "__module__", None) or "").partition(".")[0] not in _TRUSTED_PACKAGES:
        return False
    nested = []
    if isinstance(rule, functools.partial):
        nested += [rule.func, *rule.args, *rule.keywords.values()]
    elif isinstance(rule, types.FunctionType):
        nested += [cell.cell_contents for cell in rule.__closure__ or () if cell.cell_contents is not rule]
    return all(_is_trusted_rule(part, depth + 1) for part in nested if callable(part))
