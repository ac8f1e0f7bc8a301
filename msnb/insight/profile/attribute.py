"""Attribute kernels of a compiled program to operators of the traced graph, with the certainty of each attribution.

XLA stores the origin of most kernels, but loses it for others, convolutions on a CPU in particular. A stored name is
checked: a kernel that contracts, sorts or scatters must belong to an operator that can do that.
"""

import re
from typing import TYPE_CHECKING, Any

from msnb.ir.anf import CNode, ParameterNode
from msnb.ir.compare import compare

if TYPE_CHECKING:  # used only in annotations
    from msnb.ir.anf import FuncGraph

MEASURED, XLA, INFERRED = "measured", "xla", "inferred"

# operations that only some operators can produce
_CONTRACTION, _WINDOW, _SORT, _SCATTER, _RANDOM, _FFT, _SOLVER = (
    "contraction",
    "window",
    "sort",
    "scatter",
    "random",
    "fft",
    "solver",
)
_OPCODES = {
    "convolution": _CONTRACTION,
    "dot": _CONTRACTION,
    "reduce-window": _WINDOW,
    "select-and-scatter": _WINDOW,
    "sort": _SORT,
    "scatter": _SCATTER,
    "rng": _RANDOM,
    "rng-bit-generator": _RANDOM,
    "fft": _FFT,
    "cholesky": _SOLVER,
    "triangular-solve": _SOLVER,
}
_CUSTOM = (
    ("gemm", _CONTRACTION),
    ("matmul", _CONTRACTION),
    ("conv", _CONTRACTION),
    ("topk", _SORT),
    ("getrf", _SOLVER),
    ("potrf", _SOLVER),
    ("geqrf", _SOLVER),
    ("syevd", _SOLVER),
    ("fft", _FFT),
)
_PRIMITIVES = {
    "dot_general": {_CONTRACTION},
    "conv_general_dilated": {_CONTRACTION},
    "conv": {_CONTRACTION},
    "conv_input_grad": {_CONTRACTION},
    "conv_filter_grad": {_CONTRACTION},
    "ragged_dot": {_CONTRACTION},
    "sort": {_SORT},
    "top_k": {_SORT},
    "approx_top_k": {_SORT},
    "fft": {_FFT},
    "select_and_scatter_add": {_WINDOW, _SCATTER},
    "select_and_gather_add": {_WINDOW},
    "random_bits": {_RANDOM},
    "rng_bit_generator": {_RANDOM},
    "threefry2x32": {_RANDOM},
}
_PREFIXES = (
    ("reduce_window", {_WINDOW}),
    ("scatter", {_SCATTER}),
    ("cum", {_WINDOW}),
    ("reduce", {_WINDOW}),
    ("arg", {_WINDOW}),
    ("random", {_RANDOM}),
)
_BODIES = frozenset(("while", "body", "cond", "scan", "closed_call", "checkpoint", "rematted_computation"))
_BRANCH = re.compile(r"branch_\d+_fun$")
_ANYTHING = frozenset(_OPCODES.values())
_SOLVERS = frozenset(("cholesky", "triangular_solve", "lu", "qr", "svd", "eigh", "householder_product", "geqrf"))
_CONTRACTIONS = frozenset(name for name, classes in _PRIMITIVES.items() if _CONTRACTION in classes)
_LAYOUT = frozenset(
    ("copy", "transpose", "bitcast", "reshape", "pad", "convert", "slice", "broadcast", "concatenate", "reverse")
)
CONTAINERS = frozenset(("while", "conditional", "call"))


class Owner:
    """The operators of one kernel.

    Attributes:
        nodes (list[CNode]): operators of the traced graph that the kernel computes; empty for XLA's own copies and
            for unknown origins.
        how (str): ``"measured"`` if XLA names the operator and the operation fits, or if operation and shapes fit only
            one operator; ``"xla"`` for a copy that XLA inserted; ``"inferred"`` if the operators are those of
            neighbouring kernels.
        note (str): the reason in words.
    """

    __slots__ = ("nodes", "how", "note")

    def __init__(self, nodes: "list[CNode]", how: str, note: str | None) -> None:
        self.nodes: list[CNode] = nodes
        self.how: str = how
        self.note: str | None = note

    def __repr__(self) -> str:
        return f"Owner({[node.fullname for node in self.nodes]}, {self.how}: {self.note})"


def owners(traced: "FuncGraph", compiled: "FuncGraph") -> "dict[str, Owner]":
    """Return the owner of each kernel of a compiled program.

    Args:
        traced (FuncGraph): the program in operators.
        compiled (FuncGraph): the same program as XLA optimised it, see `msnb.ir.read_hlo`.

    Returns:
        dict[str, Owner], by the name of the HLO instruction.
    """
    return _Join(traced, compiled).owners()


class _Join:
    def __init__(self, traced, compiled):
        self.nodes = list(traced.all_nodes())
        self.kernels = list(compiled.all_nodes())
        self.owner_of = {}
        self.allowed = {}
        self.named = {}
        by_id = {node.id: node for node in self.nodes}
        for number, kernel in compare(traced, compiled).links:
            self.named.setdefault(kernel, []).append(by_id[number])
        self._match_loop_bodies()
        self.readers = {}
        for kernel in self.kernels:
            for source in kernel.inputs:
                if isinstance(source, CNode):
                    self.readers.setdefault(source, []).append(kernel)

    def _match_loop_bodies(self):
        """Match kernels in the bodies of loops and branches, whose scopes the traced graph lacks."""
        nodes_by_origin = {}
        for node in self.nodes:
            op = node.op.lower() if node.graphs else node.op
            origin = plain(node.scope), op, node.direction == "backward"
            nodes_by_origin.setdefault(origin, []).append(node)
        for kernel in self.kernels:
            if kernel.id not in self.named:
                mates = dict.fromkeys(
                    node
                    for scope, op, backward, _ in kernel.origins
                    for node in nodes_by_origin.get((plain(scope), op, backward), ())
                )
                if kernel.op in CONTAINERS:  # time that no kernel of the body accounts for belongs to the loop itself
                    mates = [node for node in mates if node.graphs] or mates
                if mates:
                    self.named[kernel.id] = list(mates)

    def owners(self):
        nameless = []
        for kernel in self.kernels:
            nodes = self.named.get(kernel.id, [])
            needs = set() if kernel.op in CONTAINERS else needed(kernel)
            if nodes and all(any(need in self.can(node) for node in nodes) for need in needs):
                self.owner_of[kernel] = Owner(
                    _select_nodes_by_size(nodes, kernel), MEASURED, "named by XLA, operation checked"
                )
            else:
                nameless.append((kernel, nodes, needs))
        rest = self.by_shape(nameless)
        for kernel, _, needs in rest:
            if not needs and _is_copy(kernel) and any(isinstance(source, ParameterNode) for source in kernel.inputs):
                weight = next(source for source in kernel.inputs if isinstance(source, ParameterNode))
                carried = re.fullmatch(r"p\d+(\.\d+)?", weight.name)  # a name created by XLA
                what = "a value that a loop carries" if carried else weight.name
                self.owner_of[kernel] = Owner([], XLA, f"XLA's copy of {what}")
        for kernel, nodes, needs in rest:
            if kernel not in self.owner_of:
                self.owner_of[kernel] = self.infer(kernel, nodes, needs)
        return {kernel.instruction: owner for kernel, owner in self.owner_of.items()}

    def can(self, node):
        """Return classes of operations that an operator may be compiled to."""
        classes = self.allowed.get(node)
        if classes is None:
            classes = self.allowed[node] = _ANYTHING if node.graphs else capabilities(node)
        return classes

    # ------------------------------------------------------------------ kernels without a name
    def by_shape(self, nameless):
        """Assign contractions to the only unclaimed operator of their shapes. Return the unassigned kernels."""
        claims = {}  # node -> shapes of the contractions that are assigned to it
        for kernel, owner in self.owner_of.items():
            if _CONTRACTION in needed(kernel):
                for node in owner.nodes:
                    if _CONTRACTION in self.can(node):
                        claims.setdefault(node, []).append(_get_contraction_sizes(kernel))
        unclaimed = {}
        for node in self.nodes:
            shapes, claimed = list(contractions(node)), claims.get(node, ())
            # the gradient of a convolution is two contractions, and one of them may be unnamed
            if len(claimed) < len(shapes):
                for shape in shapes:
                    if shape not in claimed:
                        unclaimed.setdefault(shape, []).append(node)
        kernels_by_shape = {}
        for entry in nameless:
            if _CONTRACTION in entry[2]:
                kernels_by_shape.setdefault(_get_contraction_sizes(entry[0]), []).append(entry)
        rest = [entry for entry in nameless if _CONTRACTION not in entry[2]]
        for shape, entries in kernels_by_shape.items():
            candidates = unclaimed.get(shape, [])
            if len({(node.scope, node.op, node.direction, node.source) for node in candidates}) == 1:
                for kernel, nodes, _ in entries:
                    self.owner_of[kernel] = Owner(
                        list(dict.fromkeys([*nodes, *candidates])), MEASURED, "the only contraction of these shapes"
                    )
            elif (
                len(candidates) == len(entries)
                and _is_chain(candidates)
                and _is_chain([kernel for kernel, _, _ in entries])
            ):
                for (kernel, nodes, _), candidate in zip(entries, candidates, strict=True):
                    self.owner_of[kernel] = Owner(
                        list(dict.fromkeys([*nodes, candidate])),
                        MEASURED,
                        "contractions of these shapes depend on each other in one order",
                    )
            elif candidates:
                for number, (kernel, nodes, _) in enumerate(entries):
                    candidate = candidates[min(number * len(candidates) // len(entries), len(candidates) - 1)]
                    self.owner_of[kernel] = Owner(
                        list(dict.fromkeys([*nodes, candidate])),
                        INFERRED,
                        f"one of {len(candidates)} contractions of these shapes",
                    )
            else:
                rest += entries
        return rest

    def infer(self, kernel, nodes, needs):
        """Infer the operators of a kernel: those of the nearest attributed kernel that can do its operation. Kernels
        that read its result come first, then those that compute its inputs.
        """
        if nodes and not needs:
            return Owner(nodes, INFERRED, "named by XLA")
        for step, note in (
            (lambda one: self.readers.get(one, ()), "made for its reader"),
            (lambda one: [node for node in one.inputs if isinstance(node, CNode)], "made from its producer"),
        ):
            visited, edge = {kernel}, [kernel]
            for _ in range(4):
                edge = [near for one in edge for near in step(one) if near not in visited and not visited.add(near)]
                for near in edge:
                    owner = self.owner_of.get(near)
                    if owner is None or not owner.nodes or owner.how == INFERRED:
                        continue
                    fits = [node for node in owner.nodes if all(need in self.can(node) for need in needs)]
                    if fits:
                        return Owner(fits, INFERRED, note)
        return Owner(nodes, INFERRED, "nothing is known about where it came from")


def plain(scope: str) -> str:
    """Return a scope without the segments that JAX adds for bodies of loops and branches."""
    return "/".join(part for part in scope.split("/") if part not in _BODIES and not _BRANCH.match(part))


def needed(kernel: "CNode") -> set[str]:
    """Return classes of operations in a kernel that only some operators can produce."""
    opcodes = [kernel.op, *str(kernel.attrs.get("fused", "")).split(", ")]
    classes = {_OPCODES[opcode] for opcode in opcodes if opcode in _OPCODES}
    target = str(kernel.attrs.get("custom_call_target", "")).lower()
    classes.update(kind for word, kind in _CUSTOM if word in target)
    return classes


def capabilities(node: "CNode") -> frozenset[str]:
    """Return classes of operations that a node of the traced graph may be compiled to, from its primitives."""
    classes = set()
    for name, _ in _iterate_primitives(node):
        if name in _PRIMITIVES:
            classes |= _PRIMITIVES[name]
        elif name in _SOLVERS:
            classes |= {_SOLVER, _CONTRACTION}
        elif name in ("while", "scan", "cond", "custom_call", "ffi_call", "pallas_call", "pure_callback"):
            return _ANYTHING
        else:
            for prefix, kinds in _PREFIXES:
                if name.startswith(prefix):
                    classes |= kinds
                    break
    return frozenset(classes)


def contractions(node: "CNode") -> Any:
    """Yield (elements of the result, sorted elements of the operands) of each contraction in a node."""
    for name, eqn in _iterate_primitives(node):
        if name in _CONTRACTIONS:
            if eqn is None:
                yield node.types[0].size, tuple(sorted(n.types[s].size for n, s in node.uses if n.types))
            else:
                yield (_count_elements(eqn.outvars[0]), tuple(sorted(_count_elements(var) for var in eqn.invars)))


def _iterate_primitives(node):
    """Yield (name, equation) of all primitives of a node; a node that is a primitive itself has no equation."""
    if node.kernel is None:
        yield node.op, None
        return
    todo = [getattr(node.kernel, "jaxpr", node.kernel)]
    while todo:
        for eqn in todo.pop().eqns:
            yield eqn.primitive.name, eqn
            for value in eqn.params.values():
                for item in value if isinstance(value, (tuple, list)) else (value,):
                    inner = getattr(item, "jaxpr", item)
                    if hasattr(inner, "eqns"):
                        todo.append(inner)


def _count_elements(var):
    total = 1
    for extent in getattr(var.aval, "shape", ()):
        total *= extent
    return total


def _get_contraction_sizes(kernel):
    return (
        kernel.types[0].size if kernel.types else 0,
        tuple(sorted(node.types[slot].size for node, slot in kernel.uses if slot < len(node.types))),
    )


def _is_copy(kernel):
    words = str(kernel.attrs.get("fused", "")).split(", ") if "fused" in kernel.attrs else [kernel.op]
    return all(word in _LAYOUT for word in words)


def _select_nodes_by_size(nodes, kernel):
    """Select, of several calls of one operator, those with a result as large as one of the kernel's results."""
    sizes = {kind.size for kind in kernel.types}
    selected, places = [], {}
    for node in nodes:
        places.setdefault((node.scope, node.op, node.direction), []).append(node)
    for candidates in places.values():
        fits = [node for node in candidates if any(kind.size in sizes for kind in node.types)]
        selected += fits if fits and len(candidates) > 1 else candidates
    return selected


def _is_chain(nodes):
    """Return True if each node depends on the one before it, so that their order is fixed."""
    for before, after in zip(nodes, nodes[1:], strict=False):
        visited, todo = set(), [after]
        while todo:
            node = todo.pop()
            if node is before:
                break
            for source in node.inputs:
                if isinstance(source, CNode) and source not in visited:
                    visited.add(source)
                    todo.append(source)
        else:
            return False
    return True
