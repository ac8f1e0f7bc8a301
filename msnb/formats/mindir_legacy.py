"""Convert MINDIR models of MindSpore 1.0 to 1.6 (``ir_version`` 0.1.0) to the messages of later versions.

A string describes the kind of each attribute: ``scalar:value0`` is a number or string, ``scalar:Tuple[value1,value2,]``
a tuple of them, ``tensor:value0`` an array, ``type:value0`` an element type, ``shape:shape1,`` the type of a node's
result, ``Monad:UMonad`` a token that orders side effects, and ``none`` is None.
"""

import re
from typing import Any

from msnb.formats import mindir
from msnb.formats.text_files import BadFileError

VERSION = "0.1.0"
_TOKEN = re.compile(r"(Tuple|List)?\[|\]|[^\[\],]+")
_MAX_DEPTH = 50
# Code of an element type in a tensor -> its code in the attributes of operators.
_NUMBERS = {1: 43, 2: 37, 3: 32, 4: 38, 5: 33, 6: 34, 7: 35, 9: 30, 10: 42, 11: 44, 12: 39, 13: 40, 16: 45}


def upgrade(model: dict[str, Any], path: str) -> dict[str, Any]:
    """Convert the attributes of an old model in place, and return the model.

    Args:
        model (dict): The Model message.
        path (str): The file, for error messages.

    Raises:
        BadFileError: If an attribute has an unknown form.
    """
    try:
        for graph in (model["graph"], *model.get("functions", ())):
            for node in graph.get("node", ()):
                node["attribute"] = [_upgrade_attribute(a) for a in node.get("attribute", ())]
    except (ValueError, LookupError, TypeError) as error:
        raise BadFileError(f"{path!r} is damaged: {error}.") from None
    return model


def _upgrade_attribute(old):
    form, _, description = old.get("ref_attr_name", "").partition(":")
    name = old.get("name", "")
    if form == "none":
        return {"name": name, "type": mindir.NONE}
    if form in ("Monad", "shape") and description.strip(",") in ("UMonad", "UMonadType"):
        return {"name": name or "shape", "type": mindir.UMONAD}
    if form in ("Monad", "shape") and description.strip(",") in ("IOMonad", "IOMonadType"):
        return {"name": name or "shape", "type": mindir.IOMONAD}
    if form == "shape":
        tensors = {tensor.get("name", ""): tensor for tensor in old.get("tensors", ())}
        return {
            **_parse_nested_attribute(description, lambda part: _make_shape_attribute(tensors, part)),
            "name": "shape",
        }
    if form == "tensor":
        return {"name": name, "type": mindir.TENSORS, "tensors": old.get("tensors", []) or [old["t"]]}
    if form == "type":
        code = (old.get("tensors") or [old.get("t", {})])[0].get("data_type", old.get("type", 0))
        return {"name": name, "type": mindir.INT64, "i": _NUMBERS[code]}
    if form != "scalar":
        raise ValueError(f"an attribute is a {form!r}")
    if description.startswith("value0"):
        return {key: value for key, value in old.items() if key != "ref_attr_name"}
    lists = [(key, values) for key in ("ints", "floats", "doubles", "strings", "tensors") if (values := old.get(key))]
    if len(lists) > 1:
        raise ValueError(f"the values of the attribute {name!r} are of several kinds")
    key, values = lists[0] if lists else ("ints", [])
    kind = {"floats": mindir.FLOAT, "doubles": mindir.DOUBLE, "strings": mindir.STRING, "tensors": mindir.TENSORS}
    kind = kind.get(key, mindir.BOOL if old.get("type") == mindir.BOOL else mindir.INT64)
    attribute = _parse_nested_attribute(
        description, lambda part: {"type": kind, key: [values[int(part.removeprefix("value")) - 1]]}
    )
    return {**attribute, "name": name}


def _make_shape_attribute(tensors, part):
    if part in ("UMonadType", "IOMonadType"):
        return {"type": mindir.UMONAD if part[0] == "U" else mindir.IOMONAD}
    return {"type": mindir.TENSORS, "tensors": [tensors[part]]}


def _parse_nested_attribute(text, leaf):
    """Parse a text of nested brackets, such as "Tuple[a,b]", to an attribute.

    ``leaf(name)`` returns the attribute of a name.
    """
    stack: list[tuple[int, list[Any]]] = [(mindir.TUPLE, [])]
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.endswith("["):
            stack.append((mindir.LIST if token.startswith("List") else mindir.TUPLE, []))
            if len(stack) > _MAX_DEPTH:
                raise ValueError("an attribute is nested too deeply")
        elif token == "]":
            kind, items = stack.pop()
            stack[-1][1].append({"type": kind, "values": items})
        else:
            stack[-1][1].append(leaf(token))
    ((_, items),) = stack
    if len(items) == 1:
        return items[0]
    return {"type": mindir.TUPLE, "values": items}
