"""The grammar of a JAX name stack: which scope a node stands in, and which transformations made it.

    stack     = [ part { "/" part } ]
    part      = transform "(" stack ")" | name
    transform = "jvp" | "transpose" | "vmap" | ...

JAX wraps a transformation around the first scope that follows it: ``transpose(jvp(Default/network))/conv1-Conv2d``.
Any other name may contain whatever its author wrote, parentheses included.
"""

import functools
import re
from typing import Any

TRANSFORMS = frozenset(
    (
        "jvp",
        "transpose",
        "vmap",
        "pmap",
        "xmap",
        "shard_map",
        "linearize",
        "remat",
        "checkpoint",
        "rematted_computation",
        "custom_jvp_call",
        "custom_vjp_call",
    )
)
ROOT = "Default"  # the scope of a whole program
RECOMPUTED = "rematted_computation"
_OPENING = re.compile(rf"({'|'.join(sorted(TRANSFORMS))})\(")


@functools.lru_cache(maxsize=65536)
def parse(stack):
    """(scope segments, transformations outermost first) of the text of a name stack."""
    segments, transforms, end = _stack(stack, 0, 0)
    if end < len(stack):  # a stray ")" that no transformation opened: part of a name after all
        segments.append(stack[end:].strip("/"))
    # a block that is computed again has its whole stack once more behind that of the gradient
    again = segments.index(ROOT, 1) if segments[:1] == [ROOT] and ROOT in segments[1:] else 0
    if again and segments[:again] == segments[again : 2 * again]:
        del segments[:again]
    return tuple(segments), tuple(transforms)


def _stack(text, at, depth):
    segments, transforms = [], []
    while at < len(text) and not (depth and text[at] == ")"):
        opening = _OPENING.match(text, at)
        if opening and _closes(text, opening.end()):
            inside, outer, at = _stack(text, opening.end(), depth + 1)
            transforms += [opening.group(1), *outer]
            # the gradient of a `jax.custom_vjp` has its whole stack once more behind that of the gradient
            segments = inside if segments and inside[: len(segments)] == segments else segments + inside
            at += 1  # the closing parenthesis
        else:
            name, at = _name(text, at, depth)
            if name == RECOMPUTED:  # what `jax.checkpoint` computes again stands behind this word
                transforms.append(name)
            elif name:
                segments.append(name)
        if at < len(text) and text[at] == "/":
            at += 1
    return segments, transforms, at


def _name(text, at, depth):
    """A name up to the next "/" or the parenthesis that closes the transformation around it."""
    start, nested = at, 0
    while at < len(text):
        char = text[at]
        if char == "(":
            nested += 1
        elif char == ")":
            if nested == 0 and depth:
                break
            nested = max(nested - 1, 0)
        elif char == "/" and nested == 0:
            break
        at += 1
    return text[start:at], at


def _closes(text, at):
    depth = 1
    for char in text[at:]:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return True
    return False


def is_recomputed(transforms: Any) -> bool:
    """Return whether the transformations say that a node computes a forward value once more, for the backward pass."""
    return RECOMPUTED in transforms


def is_backward(transforms: Any) -> bool:
    """Return whether the transformations say that a node computes a cotangent."""
    return "transpose" in transforms
