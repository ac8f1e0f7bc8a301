"""A graph as a short text that two graphs share only where JAX makes the same program of them.

Everything that lowering reads is in it: equations with their parameters, element types, shapes, constants, the graphs
inside. Names of variables and places in the source are not. A graph that holds something unknown, such as a Python
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
# Rules of derivatives and of what is kept for them: when a program is lowered, they have been taken.
_OF_DERIVATIVES = {
    "custom_jvp_call": ("jvp_jaxpr_fun",),
    "custom_vjp_call": ("fwd_jaxpr_thunk", "bwd", "out_trees"),
    "checkpoint": ("policy",),
}
_TREE = re.compile(r"(None|RightsOnly|Right|[(), ])*")
_HOMES = frozenset("jax jaxlib msnb numpy ml_dtypes builtins operator _operator functools".split())


class _UnknownPart(Exception):
    """Of a graph: it may be another thing in another process."""


def fingerprint(*parts: Any) -> str | None:
    """The fingerprint of graphs and values together, None where one of them has none.

    Args:
        parts (Any): ClosedJaxprs, numbers, texts, element types, arrays, and tuples, lists and dicts of them.
    """
    written = _Written()
    try:
        for part in parts:
            written.add(part)
    except _UnknownPart:
        return None
    return _digest(repr(written.texts).encode())


class _Written:
    """What has been written of a text; a graph that comes again is its number."""

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
        self.graphs[id(closed)] = len(self.graphs), closed  # its id is its own while it is kept
        jaxpr, consts = (closed.jaxpr, closed.consts) if isinstance(closed, ClosedJaxpr) else (closed, ())
        names = {}

        def atoms(given):
            self.text("atoms", str(len(given)))
            for atom in given:
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
                if not _lowered_here(eqn.primitive):
                    raise _UnknownPart
                self.primitives.add(eqn.primitive)
            self.text(eqn.primitive.name)
            left_out = _OF_DERIVATIVES.get(eqn.primitive.name, ())
            for name, value in eqn.params.items():
                if name not in left_out:
                    self.text(name)
                    self.add(value)
            atoms(eqn.invars)
            atoms(eqn.outvars)
        atoms(jaxpr.outvars)

    def kind(self, aval):
        """Element type, shape and what else there is to an abstract value."""
        known = self.kinds.get(id(aval))
        if known is None:
            if type(aval) is not jax.core.ShapedArray or getattr(aval, "vma", ()) or not aval.sharding.mesh.empty:
                raise _UnknownPart
            if not all(type(n) is int for n in aval.shape):
                raise _UnknownPart
            text = f"{_element(aval.dtype)}{aval.shape}{aval.weak_type}{getattr(aval, 'memory_space', '')}"
            known = self.kinds[id(aval)] = text, aval
        return known[0]

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
            self.text("dtype", _element(value))
        elif isinstance(value, (np.generic, np.ndarray)) or isinstance(value, jax.Array) and not is_tracer(value):
            array = np.asarray(value)
            if array.dtype.hasobject:
                raise _UnknownPart
            self.text(
                kind.__qualname__,
                f"{array.dtype}{array.shape}{getattr(value, 'weak_type', '')}",
                _digest(array.tobytes()),
            )
        elif isinstance(value, type) and value.__module__.partition(".")[0] in _HOMES:
            self.text("type", f"{value.__module__}.{value.__qualname__}")
        elif kind.__module__.partition(".")[0] in ("jax", "jaxlib"):
            self.of_jax(kind, value)
        else:
            raise _UnknownPart

    def generator(self, value):
        """One of JAX's random generators, in which nobody else has a hand."""
        if not all(_made_here(part, 0) for part in value if callable(part)):
            raise _UnknownPart
        self.text("generator", value.name, value.tag, str(value.key_shape))

    def of_jax(self, kind, value):
        """Objects of JAX's own that stand in parameters."""
        if kind.__name__ == "UnspecifiedValue" or kind.__name__ in ("Mesh", "AbstractMesh") and value.empty:
            self.text(kind.__name__)
        elif kind.__module__ == "jax._src.flattree" and _TREE.fullmatch(repr(value)):  # of no values
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
            raise _UnknownPart


def _digest(data):
    return hashlib.blake2b(data, digest_size=24).hexdigest()


def _element(dtype):
    """Name of an element type."""
    if not isinstance(dtype, np.dtype) and str(dtype) not in _KEYS:
        raise _UnknownPart
    return str(dtype)


def _lowered_here(primitive):
    """Whether JAX or msnb lower a primitive, and nobody else has a hand in it."""
    rules = lowering_rules(primitive)
    return bool(rules) and all(_made_here(rule, 0) for rule in rules)


def _made_here(rule, depth):
    """Whether a function, and all that it is made of, is JAX's or msnb's."""
    if depth > 8 or (getattr(rule, "__module__", None) or "").partition(".")[0] not in _HOMES:
        return False
    parts = []
    if isinstance(rule, functools.partial):
        parts += [rule.func, *rule.args, *rule.keywords.values()]
    elif isinstance(rule, types.FunctionType):
        parts += [cell.cell_contents for cell in rule.__closure__ or () if cell.cell_contents is not rule]
    return all(_made_here(part, depth + 1) for part in parts if callable(part))
