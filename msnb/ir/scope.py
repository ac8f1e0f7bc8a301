"""Parse a JAX name stack: the scope of a node, and the transformations that produced it.

    stack     = [ part { "/" part } ]
    part      = transform "(" stack ")" | name
    transform = "jvp" | "transpose" | "vmap" | ...

JAX wraps a transformation around the first scope that follows it: ``transpose(jvp(Default/network))/conv1-Conv2d``. Any
other name may contain arbitrary characters, parentheses included.
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
ROOT = "Default"  # the outermost scope of a program
RECOMPUTED = "rematted_computation"
_OPENING = re.compile(rf"({'|'.join(sorted(TRANSFORMS))})\(")


@functools.lru_cache(maxsize=65536)
def parse(stack):
    """Return (scope segments, transformations outermost first) for the text of a name stack."""
    segments, transforms, end = _parse_name_stack(stack, 0, 0)
    if end < len(stack):  # an unmatched ")" belongs to a name
        segments.append(stack[end:].strip("/"))
    # a recomputed block repeats its complete stack after that of the gradient
    repeat_start = segments.index(ROOT, 1) if segments[:1] == [ROOT] and ROOT in segments[1:] else 0
    if repeat_start and segments[:repeat_start] == segments[repeat_start : 2 * repeat_start]:
        del segments[:repeat_start]
    return tuple(segments), tuple(transforms)


def _parse_name_stack(text, at, depth):
    segments, transforms = [], []
    while at < len(text) and not (depth and text[at] == ")"):
        opening = _OPENING.match(text, at)
        if opening and _is_parenthesis_closed(text, opening.end()):
            inner_segments, outer, at = _parse_name_stack(text, opening.end(), depth + 1)
            transforms += [opening.group(1), *outer]
            # the gradient of a `jax.custom_vjp` repeats its complete stack after that of the gradient
            segments = (
                inner_segments
                if segments and inner_segments[: len(segments)] == segments
                else segments + inner_segments
            )
            at += 1  # the closing parenthesis
        else:
            name, at = _parse_scope_name(text, at, depth)
            if name == RECOMPUTED:  # the recomputation of `jax.checkpoint` follows this word
                transforms.append(name)
            elif name:
                segments.append(name)
        if at < len(text) and text[at] == "/":
            at += 1
    return segments, transforms, at


def _parse_scope_name(text, at, depth):
    """Return (name, its end): the text up to the next "/" or the parenthesis that closes the surrounding
    transformation.
    """
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


def _is_parenthesis_closed(text, at):
    depth = 1
    for char in text[at:]:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return True
    return False


def is_recomputed(transforms: Any) -> bool:
    """Return whether the transformations mark a node as recomputing a forward value for the backward pass."""
    return RECOMPUTED in transforms


def is_backward(transforms: Any) -> bool:
    """Return whether the transformations mark a node as computing a cotangent."""
    return "transpose" in transforms
