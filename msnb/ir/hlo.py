"""Reads the HLO text of a compiled program into a FuncGraph: what XLA made of the network.

Each instruction carries the name stack of what it came from, so that a fused kernel still knows its Cells. A fusion is
one CNode; ``attrs["fused"]`` names the operations inside, and `origins` says which operators of the traced graph they
came from.
"""

import itertools
import re
from typing import Any

from .anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode
from .collectives import KINDS, group_of, made_by, sent_by
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
_CALLED = re.compile(r"(?:calls|to_apply|body|condition|branch_computations)=(\{[^}]*\}|%?[\w.\-]+)")
_METADATA = re.compile(r"metadata=\{([^}]*)\}")
_TOLD = re.compile(r"(?:window|dimensions|dim_labels|custom_call_target|direction)=(\{[^}]*\}|[^,\s]+)")
_JIT = re.compile(r"^jit\((([^\[#]*)(\[)?.*)\)$")  # operator[attributes]#number, see msnb.core.jaxpr.op_names
_PASSED_ON = frozenset(("bitcast", "get-tuple-element", "tuple", "opt-barrier", "copy-start", "copy-done"))
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
_UNSAID = frozenset(("parameter", "constant", "bitcast", "tuple", "get-tuple-element", "broadcast", "fusion", "call"))


class _Instruction:
    __slots__ = (
        "name",
        "types",
        "opcode",
        "operands",
        "rest",
        "told",
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
    """Computations of an HLO module by name, and its tables of source frames."""

    def __init__(self, text):
        self.computations = {}
        self.entry = None
        said = re.search(r"num_partitions=(\d+)", text.partition("\n")[0])
        self.devices = int(said[1]) if said else 1  # the shapes are those of one of them
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
                found = _INSTRUCTION.match(line)
                if found:
                    body.append(_instruction(found, line))
            else:
                table = None
                found = COMPUTATION.match(line)
                if found and not line.startswith("HloModule"):
                    body = self.computations[found.group(2)] = []
                    if found.group(1):
                        self.entry = found.group(2)

    def source(self, frame):
        """(file, line, function) of a stack frame, the innermost that is not one of msnb's own."""
        best = None
        while frame:
            fields = dict(re.findall(r"(\w+)=(\d+)", self.tables["StackFrames"].get(frame, "")))
            location = self.tables["FileLocations"].get(int(fields.get("file_location_id", 0)), "")
            place = dict(re.findall(r"(\w+)=(\d+)", location))
            file = self.tables["FileNames"].get(int(place.get("file_name_id", 0)), "").strip('"')
            if file:
                function = self.tables["FunctionNames"].get(int(place.get("function_name_id", 0)), "").strip('"')
                best = best or (file, int(place.get("line", 0)), function)
                if not is_library(file):
                    return file, int(place.get("line", 0)), function
            above = int(fields.get("parent_frame_id", 0))
            frame = above if above != frame else 0
        return best


def _balanced(text, start):
    """Index after the parenthesis that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "({":
            depth += 1
        elif text[at] in ")}":
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)


def _instruction(found, line):
    made = _Instruction()
    made.root, made.name = bool(found.group(1)), found.group(2)
    at = found.end()
    end = _balanced(line, at) if line[at] == "(" else line.index(" ", at)
    made.types = tuple(_type(*match) for match in ARRAY.findall(re.sub(r"/\*.*?\*/", "", line[at:end])))
    opening = line.index("(", end)
    made.opcode = line[end:opening].strip()
    close = _balanced(line, opening)
    inside, made.rest = line[opening + 1 : close - 1], line[close:]
    made.literal = inside if made.opcode in ("constant", "parameter") else None
    made.operands = [] if made.literal is not None else re.findall(r"%([\w.\-]+)", inside)
    metadata = _METADATA.search(made.rest)
    fields = metadata.group(1) if metadata else ""
    made.told = _METADATA.sub("", made.rest)  # without names, which may say "dimensions=" as well
    made.called = [name for group in _CALLED.findall(made.told) for name in re.findall(r"[\w.\-]+", group)]
    frame = re.search(r"stack_frame_id=(\d+)", fields)
    made.frame = int(frame.group(1)) if frame else 0
    name = re.search(r'op_name="([^"]*)"', fields)
    made.segments, made.operator, made.last, made.backward = place_of(name.group(1) if name else "")
    return made


def place_of(name: str) -> Any:
    """(scope segments, operator, primitive, backward) of an op_name such as
    ``jit(step)/jvp(Default/net)/conv1-Conv2d/jit(Conv2D)/conv_general_dilated``."""
    if "/" not in name:  # the name of an argument, or nothing
        return (), None, None, False
    segments, transforms = parse(name)
    kept, operator, last = [], None, segments[-1] if segments else None
    for index, segment in enumerate(segments if last and _JIT.match(last) else segments[:-1]):
        jit = _JIT.match(segment)
        if jit is None and operator is None:
            if segment != "shard_map":  # what each device runs by itself; Cells are called otherwise
                kept.append(segment)
        elif jit is not None and index and operator is None and (jit.group(2)[:1].isupper() or jit.group(3)):
            operator = jit.group(2)
    if operator is not None and kept and kept[-1].partition("-op")[0] == operator:
        kept.pop()
    return tuple(kept), operator, last, is_backward(transforms)


def _type(name, shape):
    title, size = TYPES.get(name, (name.capitalize(), 4))
    return TensorType(title, tuple(int(part) for part in shape.split(",") if part), size)


def read_hlo(text: str, name: str = "main") -> FuncGraph:
    """Read a compiled program.

    Args:
        text (str): HLO text, as ``jax.jit(f).lower(x).compile().as_text()`` gives it.
        name (str): name of the graph. Default: "main".

    Returns:
        FuncGraph. Its CNodes are the kernels that run; a fusion is one of them. Of a program that is spread over
        devices it has the shapes of one of them; a communication says how many take part, and what each one sends.

    Raises:
        ValueError: If `text` is no HLO module.
    """
    module = _Module(text)
    if module.entry is None:
        raise ValueError("For 'ir.read_hlo', 'text' should be an HLO module, but it has no ENTRY computation.")
    return _Builder(module).graph(module.entry, name)


def work_inside(text: str) -> dict[Any, Any]:
    """How much of each kernel is whose: elements computed, counted per operator that was fused into it.

    Args:
        text (str): HLO text, see `read_hlo`.

    Returns:
        dict, {instruction: {origin: elements}}, an origin as in ``CNode.origins``. An instruction that takes many
        operations per element, such as an exponential, counts as ten.
    """
    module = _Module(text)
    builder, found = _Builder(module), {}
    for body in module.computations.values():
        for item in body:
            if item.opcode not in ("fusion", "call"):
                continue
            work = found[item.name] = {}
            for inner in (inner for called in item.called for inner in builder.everything(called)):
                known = inner.operator or inner.last
                if known and inner.opcode not in _SHARED and inner.opcode not in _PASSED_ON:
                    key = ("/".join(inner.segments), known, inner.backward, builder.line(inner.frame))
                    flops = _flops(inner, module) if inner.opcode in ("dot", "convolution") else 0
                    size = sum(kind.size for kind in inner.types) * (10 if inner.opcode in _COSTLY else 1)
                    work[key] = work.get(key, 0) + max(flops, size)
    return found


class _Builder:
    def __init__(self, module):
        self.module = module
        self.count = 0
        self.lines = {}

    def graph(self, computation, name, top=True, given=()):
        """The graph of a computation; `given` are the values of the one parameter that a loop or a branch has."""
        parameters, nodes, env, outputs = [], [], {}, []
        by_name = {}
        for item in self.module.computations[computation]:
            by_name[item.name] = item
            if item.opcode == "parameter":
                number = int(item.literal)
                title = re.search(r'op_name="([^"]*)"', item.rest)
                if top or len(given) != len(item.types):
                    node = ParameterNode(title.group(1) if title else f"p{number}", item.types[:1])
                    parameters.append((number, node))
                    env[item.name] = [(node, 0)] * max(1, len(item.types))
                else:  # what a loop carries keeps the name that it has outside
                    own = [
                        ParameterNode(outer.name if isinstance(outer, ParameterNode) else f"p{number}.{at}", (kind,))
                        for at, ((outer, _), kind) in enumerate(zip(given, item.types, strict=True))
                    ]
                    parameters += [(number, node) for node in own]
                    env[item.name] = [(node, 0) for node in own]
            elif item.opcode == "constant":
                env[item.name] = [(ValueNode(_literal(item.literal), item.types), 0)]
            elif item.opcode == "tuple":
                env[item.name] = [env[operand][0] for operand in item.operands]
            elif item.opcode == "get-tuple-element":
                index = int(re.search(r"index=(\d+)", item.rest).group(1))
                values = env[item.operands[0]]
                env[item.name] = [values[index] if index < len(values) else values[0]]
            elif item.opcode in _PASSED_ON:
                env[item.name] = env[item.operands[0]] if item.operands else []
            else:
                node = self.call(item, env)
                nodes.append(node)
                env[item.name] = [(node, slot) for slot in range(max(1, len(item.types)))]
            if item.root:
                outputs = env[item.name]
        if top:
            _fill_in(nodes)
            mark_updates(nodes)
        parameters = [node for _, node in sorted(parameters, key=lambda pair: pair[0])]
        return FuncGraph(name, parameters, nodes, list(outputs))

    def call(self, item, env):
        number, self.count = self.count, self.count + 1
        inside = [inner for called in item.called for inner in self.everything(called)]
        told = [item, *(inner for inner in inside if inner.segments or inner.operator)]
        main = _main(item, inside)
        flow = [env[operand][0] for operand in item.operands if env.get(operand)]
        graphs = ()
        if item.opcode in ("while", "conditional"):
            first = item.opcode == "conditional"  # the operand before those of the branches chooses
            operands = item.operands[1:] if first else item.operands * len(item.called)
            graphs = tuple(
                self.graph(called, called, top=False, given=env.get(operand, ()))
                for called, operand in itertools.zip_longest(item.called, operands[: len(item.called)])
            )
        attrs = {}
        words = [inner.opcode for inner in inside if inner.opcode not in _UNSAID]
        if item.opcode == "fusion":
            attrs["fused"] = ", ".join(dict.fromkeys(words))
            attrs["operations"] = len(words)
        window = _TOLD.search(item.told)
        if window:
            attrs[window.group(0).partition("=")[0]] = window.group(1).strip('"')
        kind = item.opcode.removesuffix("-start")
        if kind in KINDS and self.module.devices > 1:
            sizes = [one.nbytes for one in item.types]
            group = group_of(kind, item.told, self.module.devices)
            attrs["devices"] = f"{group} of {self.module.devices}"
            attrs["bytes_sent"] = round(sent_by(kind, made_by(kind, sizes, kind != item.opcode), group))
        flops = sum(_flops(inner, self.module) for inner in inside) if inside else _flops(item, self.module)
        moved = sum(kind.nbytes for kind in item.types)
        moved += sum(node.types[slot].nbytes for node, slot in flow if slot < len(node.types))
        frame = next((told_one.frame for told_one in (main, *told) if told_one.frame), 0)
        known = [one for one in (*told[1:], item) if one.operator or one.last]
        # equal constants are merged, whoever asked for them: one inside a kernel does not say where the kernel is from
        known = [one for one in known if one.opcode not in _SHARED] or known
        origins = dict.fromkeys(
            ("/".join(one.segments), one.operator or one.last, one.backward, self.line(one.frame)) for one in known
        )
        return CNode(
            _title(item, origins, words),
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
        """(file, line) of the user's call: it tells apart the calls of a Cell that is called several times."""
        if frame not in self.lines:
            source = self.module.source(frame) if frame else None
            self.lines[frame] = source[:2] if source else None
        return self.lines[frame]

    def everything(self, computation, depth=0):
        """Instructions of a computation and of those it calls in turn."""
        for item in self.module.computations.get(computation, ()):
            yield item
            if depth < 8 and item.opcode not in _SCALAR_BODIES:
                for called in item.called:
                    yield from self.everything(called, depth + 1)


_HEAVY = ("convolution", "dot", "custom-call", "reduce-window", "select-and-scatter", "scatter", "sort", "reduce")


def _main(item, inside):
    """The instruction that names a kernel: its heaviest one that knows where it came from."""
    if item.segments or item.operator:
        return item
    known = [inner for inner in inside if inner.segments or inner.operator]
    for opcode in _HEAVY:
        for inner in known:
            if inner.opcode == opcode:
                return inner
    return known[-1] if known else item


def _title(item, origins, words):
    """What a kernel is called: the operators that went into it, where it knows them."""
    if item.opcode == "custom-call":
        target = re.search(r'custom_call_target="([^"]*)"', item.rest)
        return target.group(1) if target else "custom-call"
    if item.opcode in ("fusion", "call"):
        operators = list(dict.fromkeys(operator for _, operator, _, _ in origins)) or words[-1:] or ["copy"]
        return f"fusion:{'+'.join(operators[:3])}{'+…' if len(operators) > 3 else ''}"
    return item.opcode


def _literal(text):
    try:
        return float(text) if re.search(r"[.e]|inf|nan", text) else int(text)
    except ValueError:
        return {"true": True, "false": False}.get(text)


def _flops(item, module):
    size = sum(kind.size for kind in item.types)
    if item.opcode in _FREE or item.opcode in _PASSED_ON or item.opcode in ("fusion", "call", "while", "conditional"):
        return 0
    if item.opcode == "dot":
        return 0 if not item.operands else 2 * size * _contracted(item, module)
    if item.opcode == "convolution":
        return 2 * size * _contracted(item, module)
    return size


def _contracted(item, module):
    """Length of the sum behind each element of a dot or convolution."""
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


def _fill_in(nodes):
    """Give what XLA made without saying from what the place of its neighbour."""
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
