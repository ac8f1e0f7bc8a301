"""Read the HLO text of a compiled program as a FuncGraph.

Each instruction carries the name stack of its origin, so a fused kernel can be traced to its Cells. A fusion is one
CNode; ``attrs["fused"]`` names the operations in it, and `origins` lists the operators of the traced graph that they
came from.
"""

import itertools
import re
from typing import Any

from .anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode
from .collectives import KINDS, group_size, result_bytes, sent_bytes
from .read import is_library, mark_updates
from .scope import is_backward, parse

TYPES = {
    "pred": ("Bool", 1),
    "bf16": ("BFloat16", 2),
    "f16": ("Float16", 2),
    "f32": ("Float32", 4),
    "f64": ("Float64", 8),
    "s4": ("Int4", 1),
    "u4": ("UInt4", 1),
    "c64": ("Complex64", 8),
    "c128": ("Complex128", 16),
}
TYPES.update(
    {
        f"{short}{bits}": (f"{name}{bits}", bits // 8)
        for short, name in (("s", "Int"), ("u", "UInt"))
        for bits in (8, 16, 32, 64)
    }
)
COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{\s*$")
_INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = ")
ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")
_CALLEES = re.compile(r"(?:calls|to_apply|body|condition|branch_computations)=(\{[^}]*\}|%?[\w.\-]+)")
_METADATA = re.compile(r"metadata=\{([^}]*)\}")
_SHOWN_ATTRIBUTE = re.compile(r"(?:window|dimensions|dim_labels|custom_call_target|direction)=(\{[^}]*\}|[^,\s]+)")
_JIT = re.compile(r"^jit\((([^\[#]*)(\[)?.*)\)$")  # operator[attributes]#number, see msnb.core.jaxpr.op_names
_FORWARDED = frozenset(("bitcast", "get-tuple-element", "tuple", "opt-barrier", "copy-start", "copy-done"))
_FREE = frozenset(
    (
        "copy",
        "transpose",
        "reshape",
        "broadcast",
        "slice",
        "concatenate",
        "pad",
        "iota",
        "convert",
        "gather",
        "dynamic-slice",
        "dynamic-update-slice",
        "select",
        "reverse",
        "parameter",
        "constant",
        "bitcast",
    )
)
_SCALAR_BODIES = frozenset(("reduce", "reduce-window", "scatter", "sort", "map", "select-and-scatter", "all-reduce"))
_COSTLY = frozenset(
    (
        "exponential",
        "log",
        "tanh",
        "power",
        "logistic",
        "sine",
        "cosine",
        "erf",
        "divide",
        "sqrt",
        "rsqrt",
        "exponential-minus-one",
        "log-plus-one",
        "cbrt",
        "atan2",
        "tan",
    )
)
_SHARED = frozenset(("constant", "broadcast", "iota", "parameter"))
_UNLISTED = frozenset(("parameter", "constant", "bitcast", "tuple", "get-tuple-element", "broadcast", "fusion", "call"))


class _Instruction:
    __slots__ = (
        "name",
        "types",
        "opcode",
        "operands",
        "rest",
        "attributes",
        "root",
        "called",
        "segments",
        "operator",
        "last",
        "backward",
        "frame",
        "literal",
    )


class _Module:
    """Computations of an HLO module by name, and its tables of source locations."""

    def __init__(self, text):
        self.computations = {}
        self.entry = None
        partitions = re.search(r"num_partitions=(\d+)", text.partition("\n")[0])
        self.devices = int(partitions[1]) if partitions else 1  # the field is missing if the program runs on one device
        self.tables = {"FileNames": {}, "FunctionNames": {}, "FileLocations": {}, "StackFrames": {}}
        table, body = None, None
        for line in text.splitlines():
            if line in self.tables:
                table = self.tables[line]
            elif table is not None and line[:1].isdigit():
                number, _, value = line.partition(" ")
                table[int(number)] = value
            elif body is not None and line.startswith("}"):
                body = None
            elif body is not None:
                match = _INSTRUCTION.match(line)
                if match:
                    body.append(_parse_instruction(match, line))
            else:
                table = None
                match = COMPUTATION.match(line)
                if match and not line.startswith("HloModule"):
                    body = self.computations[match.group(2)] = []
                    if match.group(1):
                        self.entry = match.group(2)

    def source(self, frame):
        """Return (file, line, function) of the innermost stack frame that is not in msnb."""
        best = None
        while frame:
            fields = dict(re.findall(r"(\w+)=(\d+)", self.tables["StackFrames"].get(frame, "")))
            location = self.tables["FileLocations"].get(int(fields.get("file_location_id", 0)), "")
            position = dict(re.findall(r"(\w+)=(\d+)", location))
            file = self.tables["FileNames"].get(int(position.get("file_name_id", 0)), "").strip('"')
            if file:
                function = self.tables["FunctionNames"].get(int(position.get("function_name_id", 0)), "").strip('"')
                best = best or (file, int(position.get("line", 0)), function)
                if not is_library(file):
                    return file, int(position.get("line", 0)), function
            parent = int(fields.get("parent_frame_id", 0))
            frame = parent if parent != frame else 0
        return best


def _find_closing_parenthesis(text, start):
    """Return the index after the parenthesis that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "({":
            depth += 1
        elif text[at] in ")}":
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)


def _parse_instruction(header, line):
    instruction = _Instruction()
    instruction.root, instruction.name = bool(header.group(1)), header.group(2)
    at = header.end()
    end = _find_closing_parenthesis(line, at) if line[at] == "(" else line.index(" ", at)
    instruction.types = tuple(
        _make_tensor_type(*match) for match in ARRAY.findall(re.sub(r"/\*.*?\*/", "", line[at:end]))
    )
    opening = line.index("(", end)
    instruction.opcode = line[end:opening].strip()
    close = _find_closing_parenthesis(line, opening)
    operands_text, instruction.rest = line[opening + 1 : close - 1], line[close:]
    instruction.literal = operands_text if instruction.opcode in ("constant", "parameter") else None
    instruction.operands = [] if instruction.literal is not None else re.findall(r"%([\w.\-]+)", operands_text)
    metadata = _METADATA.search(instruction.rest)
    fields = metadata.group(1) if metadata else ""
    # drop op_name, which may contain "dimensions=" as well
    instruction.attributes = _METADATA.sub("", instruction.rest)
    instruction.called = [
        name for group in _CALLEES.findall(instruction.attributes) for name in re.findall(r"[\w.\-]+", group)
    ]
    frame = re.search(r"stack_frame_id=(\d+)", fields)
    instruction.frame = int(frame.group(1)) if frame else 0
    name = re.search(r'op_name="([^"]*)"', fields)
    instruction.segments, instruction.operator, instruction.last, instruction.backward = parse_op_name(
        name.group(1) if name else ""
    )
    return instruction


def parse_op_name(name: str) -> Any:
    """Return (scope segments, operator, primitive, backward) of an op_name such as
    ``jit(step)/jvp(Default/net)/conv1-Conv2d/jit(Conv2D)/conv_general_dilated``."""
    if "/" not in name:  # the name of an argument, or empty
        return (), None, None, False
    segments, transforms = parse(name)
    scope, operator, last = [], None, segments[-1] if segments else None
    for index, segment in enumerate(segments if last and _JIT.match(last) else segments[:-1]):
        jit = _JIT.match(segment)
        if jit is None and operator is None:
            if segment != "shard_map":  # the computation of one device; no Cell has this name
                scope.append(segment)
        elif jit is not None and index and operator is None and (jit.group(2)[:1].isupper() or jit.group(3)):
            operator = jit.group(2)
    if operator is not None and scope and scope[-1].partition("-op")[0] == operator:
        scope.pop()
    return tuple(scope), operator, last, is_backward(transforms)


def _make_tensor_type(name, shape):
    title, size = TYPES.get(name, (name.capitalize(), 4))
    return TensorType(title, tuple(int(part) for part in shape.split(",") if part), size)


def read_hlo(text: str, name: str = "main") -> FuncGraph:
    """Read a compiled program.

    Args:
        text (str): HLO text, as ``jax.jit(f).lower(x).compile().as_text()`` gives it.
        name (str): name of the graph. Default: "main".

    Returns:
        FuncGraph. Its CNodes are the kernels that run; a fusion is one of them. For a program on several devices the
        shapes are those on one device; a collective has the number of devices, and the bytes that each one sends.

    Raises:
        ValueError: If `text` is no HLO module.
    """
    module = _Module(text)
    if module.entry is None:
        raise ValueError("For 'ir.read_hlo', 'text' should be an HLO module, but it has no ENTRY computation.")
    return _Builder(module).graph(module.entry, name)


def count_work(text: str) -> dict[Any, Any]:
    """Count the elements that each kernel computes for each of the operators fused into it.

    Args:
        text (str): HLO text, see `read_hlo`.

    Returns:
        dict, {instruction: {origin: elements}}, an origin as in ``CNode.origins``. An instruction that takes many
        operations per element, such as an exponential, counts as ten.
    """
    module = _Module(text)
    builder, work_of = _Builder(module), {}
    for body in module.computations.values():
        for item in body:
            if item.opcode not in ("fusion", "call"):
                continue
            work = work_of[item.name] = {}
            for inner in (inner for called in item.called for inner in builder.all_instructions(called)):
                operator = inner.operator or inner.last
                if operator and inner.opcode not in _SHARED and inner.opcode not in _FORWARDED:
                    key = ("/".join(inner.segments), operator, inner.backward, builder.line(inner.frame))
                    flops = _count_flops(inner, module) if inner.opcode in ("dot", "convolution") else 0
                    size = sum(kind.size for kind in inner.types) * (10 if inner.opcode in _COSTLY else 1)
                    work[key] = work.get(key, 0) + max(flops, size)
    return work_of


class _Builder:
    def __init__(self, module):
        self.module = module
        self.count = 0
        self.lines = {}

    def graph(self, computation, name, top=True, outer_values=()):
        """Return the graph of a computation. `outer_values` are the values passed to the single parameter of a loop or
        a branch.
        """
        parameters, nodes, env, outputs = [], [], {}, []
        by_name = {}
        for item in self.module.computations[computation]:
            by_name[item.name] = item
            if item.opcode == "parameter":
                number = int(item.literal)
                title = re.search(r'op_name="([^"]*)"', item.rest)
                if top or len(outer_values) != len(item.types):
                    node = ParameterNode(title.group(1) if title else f"p{number}", item.types[:1])
                    parameters.append((number, node))
                    env[item.name] = [(node, 0)] * max(1, len(item.types))
                else:  # a loop variable keeps its outer name
                    loop_parameters = [
                        ParameterNode(outer.name if isinstance(outer, ParameterNode) else f"p{number}.{at}", (kind,))
                        for at, ((outer, _), kind) in enumerate(zip(outer_values, item.types, strict=True))
                    ]
                    parameters += [(number, node) for node in loop_parameters]
                    env[item.name] = [(node, 0) for node in loop_parameters]
            elif item.opcode == "constant":
                env[item.name] = [(ValueNode(_parse_literal(item.literal), item.types), 0)]
            elif item.opcode == "tuple":
                env[item.name] = [env[operand][0] for operand in item.operands]
            elif item.opcode == "get-tuple-element":
                index = int(re.search(r"index=(\d+)", item.rest).group(1))
                values = env[item.operands[0]]
                env[item.name] = [values[index] if index < len(values) else values[0]]
            elif item.opcode in _FORWARDED:
                env[item.name] = env[item.operands[0]] if item.operands else []
            else:
                node = self.call(item, env)
                nodes.append(node)
                env[item.name] = [(node, slot) for slot in range(max(1, len(item.types)))]
            if item.root:
                outputs = env[item.name]
        if top:
            _infer_missing_scopes(nodes)
            mark_updates(nodes)
        parameters = [node for _, node in sorted(parameters, key=lambda pair: pair[0])]
        return FuncGraph(name, parameters, nodes, list(outputs))

    def call(self, item, env):
        number, self.count = self.count, self.count + 1
        inner_items = [inner for called in item.called for inner in self.all_instructions(called)]
        described = [item, *(inner for inner in inner_items if inner.segments or inner.operator)]
        main = _select_main_instruction(item, inner_items)
        flow = [env[operand][0] for operand in item.operands if env.get(operand)]
        graphs = ()
        if item.opcode in ("while", "conditional"):
            first = item.opcode == "conditional"  # the first operand selects the branch
            operands = item.operands[1:] if first else item.operands * len(item.called)
            graphs = tuple(
                self.graph(called, called, top=False, outer_values=env.get(operand, ()))
                for called, operand in itertools.zip_longest(item.called, operands[: len(item.called)])
            )
        attrs = {}
        words = [inner.opcode for inner in inner_items if inner.opcode not in _UNLISTED]
        if item.opcode == "fusion":
            attrs["fused"] = ", ".join(dict.fromkeys(words))
            attrs["operations"] = len(words)
        window = _SHOWN_ATTRIBUTE.search(item.attributes)
        if window:
            attrs[window.group(0).partition("=")[0]] = window.group(1).strip('"')
        kind = item.opcode.removesuffix("-start")
        if kind in KINDS and self.module.devices > 1:
            sizes = [entry.nbytes for entry in item.types]
            group = group_size(kind, item.attributes, self.module.devices)
            attrs["devices"] = f"{group} of {self.module.devices}"
            attrs["bytes_sent"] = round(sent_bytes(kind, result_bytes(kind, sizes, kind != item.opcode), group))
        flops = (
            sum(_count_flops(inner, self.module) for inner in inner_items)
            if inner_items
            else _count_flops(item, self.module)
        )
        moved = sum(kind.nbytes for kind in item.types)
        moved += sum(node.types[slot].nbytes for node, slot in flow if slot < len(node.types))
        frame = next((inner.frame for inner in (main, *described) if inner.frame), 0)
        with_origin = [entry for entry in (*described[1:], item) if entry.operator or entry.last]
        # Equal constants are merged across their users: a constant in a kernel does not show the kernel's origin.
        with_origin = [entry for entry in with_origin if entry.opcode not in _SHARED] or with_origin
        origins = dict.fromkeys(
            ("/".join(entry.segments), entry.operator or entry.last, entry.backward, self.line(entry.frame))
            for entry in with_origin
        )
        return CNode(
            _format_kernel_title(item, origins, words),
            tuple(node for node, _ in flow),
            tuple(slot for _, slot in flow),
            item.types,
            attrs=attrs,
            scope="/".join(main.segments),
            direction="backward" if main.backward else "forward",
            source=self.module.source(frame) if frame else None,
            graphs=graphs,
            id=number,
            flops=flops,
            nbytes=moved,
            instruction=item.name,
            origins=tuple(origins),
        )

    def line(self, frame):
        """Return (file, line) of the user's code that calls, to distinguish the calls of one Cell."""
        if frame not in self.lines:
            source = self.module.source(frame) if frame else None
            self.lines[frame] = source[:2] if source else None
        return self.lines[frame]

    def all_instructions(self, computation, depth=0):
        """Yield the instructions of a computation and of those it calls."""
        for item in self.module.computations.get(computation, ()):
            yield item
            if depth < 8 and item.opcode not in _SCALAR_BODIES:
                for called in item.called:
                    yield from self.all_instructions(called, depth + 1)


_HEAVY = ("convolution", "dot", "custom-call", "reduce-window", "select-and-scatter", "scatter", "sort", "reduce")


def _select_main_instruction(item, inner_items):
    """Return the instruction that gives a kernel its name: the one with a known origin that does the most work."""
    if item.segments or item.operator:
        return item
    with_origin = [inner for inner in inner_items if inner.segments or inner.operator]
    for opcode in _HEAVY:
        for inner in with_origin:
            if inner.opcode == opcode:
                return inner
    return with_origin[-1] if with_origin else item


def _format_kernel_title(item, origins, words):
    """Return the name of a kernel, from the operators fused into it if they are known."""
    if item.opcode == "custom-call":
        target = re.search(r'custom_call_target="([^"]*)"', item.rest)
        return target.group(1) if target else "custom-call"
    if item.opcode in ("fusion", "call"):
        operators = list(dict.fromkeys(operator for _, operator, _, _ in origins)) or words[-1:] or ["copy"]
        return f"fusion:{'+'.join(operators[:3])}{'+…' if len(operators) > 3 else ''}"
    return item.opcode


def _parse_literal(text):
    try:
        return float(text) if re.search(r"[.e]|inf|nan", text) else int(text)
    except ValueError:
        return {"true": True, "false": False}.get(text)


def _count_flops(item, module):
    size = sum(kind.size for kind in item.types)
    if item.opcode in _FREE or item.opcode in _FORWARDED or item.opcode in ("fusion", "call", "while", "conditional"):
        return 0
    if item.opcode == "dot":
        return 0 if not item.operands else 2 * size * _compute_contraction_size(item, module)
    if item.opcode == "convolution":
        return 2 * size * _compute_contraction_size(item, module)
    return size


def _compute_contraction_size(item, module):
    """Return the number of products that are summed for each element of a dot or convolution."""
    shapes = {}
    for body in module.computations.values():
        for other in body:
            if other.name in item.operands:
                shapes[other.name] = other.types[0].shape if other.types else ()
        if len(shapes) == len(set(item.operands)):
            break
    operands = [shapes.get(name, ()) for name in item.operands]
    if item.opcode == "dot":
        axes = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", item.rest)
        total = 1
        for axis in axes.group(1).split(",") if axes and axes.group(1) else ():
            total *= operands[0][int(axis)]
        return total
    labels = re.search(r"dim_labels=\w+_(\w+)->", item.rest)
    if labels is None or len(operands) < 2:
        return 1
    total = 1
    for label, extent in zip(labels.group(1), operands[1], strict=False):
        total *= 1 if label == "o" else extent
    return total


def _infer_missing_scopes(nodes):
    """Set the scope of nodes without metadata from XLA to that of a neighbouring node."""
    for node in nodes:
        if not node.scope and not node.origins:
            near = next((source for source in node.inputs if isinstance(source, CNode) and source.scope), None)
            if near is not None:
                node.scope, node.direction = near.scope, near.direction
                node.attrs["place"] = "inferred from its input"
    readers = {}
    for node in nodes:
        for source in node.inputs:
            readers.setdefault(source, node)
    for node in reversed(nodes):
        near = readers.get(node)
        if not node.scope and not node.origins and near is not None and near.scope:
            node.scope, node.direction = near.scope, near.direction
            node.attrs["place"] = "inferred from its reader"
