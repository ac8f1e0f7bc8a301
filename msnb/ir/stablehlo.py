"""Read the StableHLO module of a lowered program, the input of XLA, as a FuncGraph.

The module is read through MLIR's Python bindings. Each operator of msnb is a function in it. Calls of these functions
are inlined, and the operations get the name of the function as their scope.
"""

import math
import re
from typing import Any

from .anf import CNode, FuncGraph, ParameterNode, TensorType, ValueNode
from .hlo import parse_op_name
from .read import is_library, mark_updates

_TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)(.+)>$")
_TYPES = {
    "i1": ("Bool", 1),
    "bf16": ("BFloat16", 2),
    "f16": ("Float16", 2),
    "f32": ("Float32", 4),
    "f64": ("Float64", 8),
    "complex<f32>": ("Complex64", 8),
    "complex<f64>": ("Complex128", 16),
}
_TYPES.update(
    {
        f"{short}{bits}": (f"{name}{bits}", bits // 8)
        for short, name in (("i", "Int"), ("ui", "UInt"))
        for bits in (8, 16, 32, 64)
    }
)
_TITLES = {"while": "While", "case": "Switch", "if": "Switch"}
_FREE = frozenset(
    (
        "reshape",
        "broadcast_in_dim",
        "transpose",
        "slice",
        "dynamic_slice",
        "dynamic_update_slice",
        "concatenate",
        "pad",
        "reverse",
        "gather",
        "convert",
        "bitcast_convert",
        "iota",
        "select",
        "custom_call",
        "optimization_barrier",
        "while",
        "case",
        "if",
    )
)
_NOISE = ("mhlo.", "jax.", "precision_config", "backend_config", "api_version", "channel_handle", "operandSegmentSizes")
_SOURCE_LINE = re.compile(r'"([^"]*)"\("([^"]*)":(\d+):')
_PLATFORM = "_platform_index"  # the argument that selects one of several platforms of a module
_MAX_LENGTH = 80  # longest text of an attribute, in characters


def read_stablehlo(module: Any, name: str = "main", platform: int = 0) -> FuncGraph:
    """Read a lowered program.

    Args:
        module (Module): as ``jax.jit(f).lower(x).compiler_ir("stablehlo")`` returns it.
        name (str): name of the graph. Default: "main".
        platform (int): index of the platform to read if the module is for several. Default: 0.

    Returns:
        FuncGraph. Its CNodes are StableHLO operations, in the scope of their operator.

    Raises:
        ValueError: If the module has no function "main".
    """
    functions = {}
    for operation in module.body.operations:
        if operation.operation.name == "func.func":
            functions[str(operation.attributes["sym_name"]).strip('"')] = operation
    if "main" not in functions:
        raise ValueError(
            "For 'ir.read_stablehlo', 'module' should have a function 'main', but it has "
            f"{', '.join(functions) or 'no functions'}."
        )
    return _Builder(functions, platform).graph(functions["main"], name)


class _Builder:
    def __init__(self, functions, platform=0):
        self.functions = functions
        self.platform = ValueNode(platform, ())
        self.types = {}
        self.count = 0

    def graph(self, function, name):
        (block,) = function.regions[0].blocks
        parameters, env, nodes = [], {}, []
        for number, argument in enumerate(block.arguments):
            if _PLATFORM in _format_argument_attributes(function, number):
                env[argument] = (self.platform, 0)
                continue
            node = ParameterNode(_read_name_stack(argument.location) or f"arg{number}", (self.type_of(argument),))
            parameters.append(node)
            env[argument] = (node, 0)
        outputs = self.walk(block, env, nodes, "", None)
        mark_updates(nodes)
        return FuncGraph(name, parameters, nodes, outputs)

    def type_of(self, value):
        text = str(value.type)
        cached = self.types.get(text)
        if cached is None:
            match = _TENSOR.match(text)
            shape = tuple(-1 if part == "?" else int(part) for part in match.group(1).split("x")[:-1]) if match else ()
            title, size = _TYPES.get(match.group(2) if match else text, ((match.group(2) if match else text), 4))
            cached = self.types[text] = TensorType(title, shape, size)
        return cached

    def walk(self, block, env, nodes, outer, source):
        """Append the nodes of a block to `nodes`. `outer` is the name stack of the call that contains the block,
        `source` the line of that call.
        """
        for operation in block.operations:
            operation = operation.operation
            kind = operation.name.partition(".")[2]
            operands = [env[value] for value in operation.operands]
            if kind == "return":
                return operands
            stack = "/".join(part for part in (outer, _read_name_stack(operation.location)) if part)
            if kind == "call":
                callee = self.functions[str(operation.attributes["callee"]).lstrip("@").strip('"')]
                (body,) = callee.regions[0].blocks
                inner_env = dict(zip(body.arguments, operands, strict=True))
                line = source or _find_user_frame(operation.location)
                results = self.walk(body, inner_env, nodes, stack, line)
                env.update(zip(operation.results, results, strict=True))
            elif kind == "constant":
                value = operation.attributes["value"]
                # arrays are not parsed: their text may be long
                value = _parse_literal(str(value)) if getattr(value, "is_splat", True) else None
                env[operation.results[0]] = (ValueNode(value, (self.type_of(operation.results[0]),)), 0)
            elif kind == "convert" and operands[0][0] is self.platform:
                env[operation.results[0]] = operands[0]
            elif kind == "case" and isinstance(operands[0][0], ValueNode):
                results = self.read_branch(operation, operands[0][0].value, env, nodes, stack, source)
                env.update(zip(operation.results, results, strict=True))
            else:
                node = self.call(operation, kind, operands, env, stack, source)
                nodes.append(node)
                for slot, result in enumerate(operation.results):
                    env[result] = (node, slot)
        return []

    def read_branch(self, operation, index, env, nodes, stack, source):
        """Read only the branch that runs, for a selection between platforms whose index is known."""
        last = len(operation.regions) - 1
        (block,) = operation.regions[index if 0 <= index <= last else last].blocks
        return self.walk(block, env, nodes, stack, source)

    def call(self, operation, kind, operands, env, stack, source):
        number, self.count = self.count, self.count + 1
        segments, operator, primitive, backward = parse_op_name(stack)
        scope = segments if operator is None or segments[-1:] == (operator,) else (*segments, operator)
        source = source or _find_user_frame(operation.location)
        types = tuple(self.type_of(result) for result in operation.results)
        attrs = {
            key: _shorten_attribute_text(value)
            for key, value in _iterate_attributes(operation)
            if not key.startswith(_NOISE)
        }
        graphs = ()
        if kind in _TITLES:
            graphs = tuple(
                self.body(region, index, kind, operands, env, stack, source)
                for index, region in enumerate(operation.regions)
            )
        elif len(operation.regions):  # the region is the scalar function of a reduction or a sort
            attrs["computes"] = ", ".join(
                dict.fromkeys(
                    inner.operation.name.partition(".")[2]
                    for block in operation.regions[0].blocks
                    for inner in block.operations
                    if not inner.operation.name.endswith("return")
                )
            )
        moved = sum(result_type.nbytes for result_type in types) + sum(
            node.types[slot].nbytes for node, slot in operands
        )
        line = source[:2] if source else None
        return CNode(
            _TITLES.get(kind, kind),
            tuple(node for node, _ in operands),
            tuple(slot for _, slot in operands),
            types,
            attrs=attrs,
            scope="/".join(scope),
            direction="backward" if backward else "forward",
            source=source,
            graphs=graphs,
            id=number,
            nbytes=moved,
            flops=_count_flops(kind, operation, types, operands),
            origins=(("/".join(scope), primitive or kind, backward, line),),
        )

    def body(self, region, index, kind, operands, env, stack, source):
        """Return the graph of a loop's or a branch's region, which may read outer values directly."""
        titles = ("condition", "body") if kind == "while" else ("true", "false") if kind == "if" else ()
        title = titles[index] if titles else f"case{index}"
        (block,) = region.blocks
        parameters = [
            ParameterNode(f"{title}_{number}", (self.type_of(argument),))
            for number, argument in enumerate(block.arguments)
        ]
        inner_env = dict(env)
        inner_env.update((argument, (node, 0)) for argument, node in zip(block.arguments, parameters, strict=True))
        nodes = []
        outputs = self.walk(block, inner_env, nodes, stack, source)
        return FuncGraph(title, parameters, nodes, outputs, tuple(range(len(parameters))))


def _format_argument_attributes(function, number):
    """Return the text of the attributes of one argument of a function."""
    return str(function.attributes["arg_attrs"][number]) if "arg_attrs" in function.attributes else ""


def _iterate_attributes(operation):
    """Yield (name, value) of each attribute. Older bindings iterate over named attributes, newer ones over names."""
    for entry in operation.attributes:
        yield (entry, operation.attributes[entry]) if isinstance(entry, str) else (entry.name, entry.attr)


def _read_name_stack(location):
    """Return the name stack in a location: the names that JAX gave, without Python's stack frames."""
    name = getattr(location, "name_str", None)
    if name is None:
        match = re.match(r'loc\("([^"]*)"[()]', str(location))
        name = match.group(1) if match else ""
    return name.rstrip(":")


def _find_user_frame(location):
    """Return (file, line, function) of the innermost stack frame that is not in msnb, or None."""
    for function, file, line in _SOURCE_LINE.findall(str(location)):
        if not is_library(file):
            return file, int(line), function
    return None


_WRAPPED = re.compile(r"^(?:array<\w+(?:: )?(.*)>|#stablehlo(?:\.\w+)?[< ]*(.*?)>?|dense<(.*)> : .*|(.*) : \w+)$")


def _shorten_attribute_text(attribute):
    text = re.sub(r"\s+", " ", str(attribute))
    match = _WRAPPED.match(text)
    text = (next((part for part in match.groups() if part is not None), "") if match else text).strip('"')
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def _parse_literal(text):
    """Return the value of a constant that is one number, None for any other."""
    match = re.match(r"dense<([^<>\[\]\"]+)>", text)
    if match is None:
        return None
    try:
        return float(match.group(1)) if re.search(r"[.e]", match.group(1)) else int(match.group(1))
    except ValueError:
        return {"true": True, "false": False}.get(match.group(1))


def _count_flops(kind, operation, types, operands):
    """Return the number of arithmetic operations, counted from the shapes."""
    size = sum(result_type.size for result_type in types)
    if kind in _FREE or not operands:
        return 0
    shapes = [node.types[slot].shape for node, slot in operands]
    if kind == "dot_general":
        match = re.search(
            r"lhs_contracting_dimensions = \[([\d, ]*)\]", str(operation.attributes["dot_dimension_numbers"])
        )
        axes = [int(axis) for axis in match.group(1).split(",")] if match and match.group(1).strip() else []
        return 2 * size * math.prod(shapes[0][axis] for axis in axes)
    if kind == "convolution":
        match = re.search(r"x\[([^\]]*)\]->", str(operation.attributes["dimension_numbers"]))
        letters = [letter.strip() for letter in match.group(1).split(",")] if match else []
        out = shapes[1][letters.index("o")] if "o" in letters else 1
        return 2 * size * math.prod(shapes[1]) // max(1, out)
    if kind in ("reduce", "reduce_window", "select_and_scatter"):
        return math.prod(shapes[0])
    return size
