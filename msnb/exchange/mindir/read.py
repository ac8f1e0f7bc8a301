"""From a MINDIR file to a graph: functions are followed as they call each other, and what they do is written down.

Reading is a run without numbers. A value is a `Ref` (a result of a node), a constant, a tuple of values, a function
that waits for arguments (`Closure`), or a choice among two of these. What only orders side effects (Load, UpdateState,
Depend) disappears on the way. A call puts the nodes of a function where the call stands; of a choice that is called
comes a Switch, and of a function that calls itself a While.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.operator import REGISTRY
from msnb.exchange.mindir import forms as _forms  # noqa: F401 - fills the table
from msnb.exchange.mindir.closing import close, prune
from msnb.exchange.mindir.operators import Unsayable, call_of
from msnb.formats import mindir
from msnb.formats.reading import BadFileError
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ParameterNode, TensorType, ValueNode

_MOST = 1_000_000  # nodes that are followed; functions that call each other can be more than any memory holds
_DEEPEST = 100


class Ref(NamedTuple):
    """A result of a node."""

    node: AnfNode
    slot: int


class Closure(NamedTuple):
    """A function with its first arguments."""

    function: str
    values: tuple[Any, ...]


class Choice(NamedTuple):
    """One of two functions."""

    predicate: Any
    yes: Closure
    no: Closure


class Again(NamedTuple):
    """The next round of a loop, or what follows both branches: a call that whoever looks for it makes."""

    function: str
    values: tuple[Any, ...]


class _Order:
    """What only says in which order something happens."""

    def __repr__(self):
        return "U"


ORDER = _Order()


class Weights(Mapping[str, Any]):
    """The values of Parameters by name, read when they are asked for.

    Args:
        messages (list[dict]): Tensors of the file.
        folder (str): Where the file lies.
    """

    def __init__(self, messages: list[dict[str, Any]], folder: str) -> None:
        self._messages = {_own(message.get("name", "")): message for message in messages}
        self._folder = folder

    def __getitem__(self, name: str) -> np.ndarray:
        return mindir.array(self._messages[name], self._folder)

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)


def read(path: str) -> FuncGraph:
    """The graph in a MINDIR file.

    Args:
        path (str): The file.

    Returns:
        FuncGraph, with the values of its Parameters.

    Raises:
        BadFileError: If the file is damaged.
        NotImplementedError: If it is built in a way that msnb does not read.
        OSError: If it cannot be read.
    """
    return _read(path, True)


def look(path: str) -> FuncGraph:
    """The graph in a file, with operators that msnb does not have as they stand there; see `read`."""
    return _read(path, False)


def _read(path, strict):
    model = mindir.opened(path)
    try:
        graph = Reader(model, path, strict).graph()
        graph.weights = Weights(model["graph"].get("parameter", []), os.path.dirname(os.path.abspath(path)))
        return graph
    except (BadFileError, NotImplementedError):
        raise
    except RecursionError:
        raise BadFileError(f"{path!r} is damaged: its functions are nested without end.") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadFileError(f"{path!r} is damaged: {type(error).__name__}: {error}") from error


class Reader:
    """One file being read.

    Args:
        model (dict): What `msnb.formats.mindir.opened` gives.
        path (str): The file, for messages.
        strict (bool): Whether an operator that cannot run is refused, rather than shown as it is. Default: True.
    """

    def __init__(self, model: dict[str, Any], path: str, strict: bool = True) -> None:
        self.path = path
        self.strict = strict
        self.main = model["graph"]
        self.functions = {g.get("name", ""): g for g in [self.main, *model.get("functions", [])]}
        self.primitives = {p.get("name", ""): p for p in model.get("primitives", [])}
        self.followed = 0
        self.depth = 0
        self.made = 0
        self.nodes: list[CNode] = []  # of the graph in the making
        self.active: tuple[str, ...] = ()  # functions whose call is an `Again`
        self.unknown: dict[str, str] = {}  # operators that msnb does not have -> why
        self.globals: dict[str, Any] = {}
        self._reach: dict[Any, frozenset[str]] = {}
        for function in self.functions.values():
            for node in function.get("node", []):
                if node.get("op_type") == "Constant":
                    for name in node.get("output", []):
                        self.globals[name] = self._constant(node)

    def graph(self) -> FuncGraph:
        """The whole graph."""
        main = self.main
        weights = [self._parameter(message, True) for message in main.get("parameter", [])]
        if main.get("map_parameter"):
            raise NotImplementedError(f"{self.path!r} holds hash tables (MapParameter), which msnb does not have.")
        inputs = [self._parameter(value, False) for value in main.get("input", [])]
        env = {message["name"]: Ref(node, 0) for message, node in zip(main.get("parameter", []), weights)}
        self.globals.update(env)
        result = self._call(main.get("name", ""), [Ref(node, 0) for node in inputs], inputs_are=True)
        outputs = [(self._node_of(leaf), leaf.slot if isinstance(leaf, Ref) else 0) for leaf in _leaves(result)]
        if self.unknown:
            told = "; ".join(f"{name} ({why})" for name, why in sorted(self.unknown.items()))
            raise NotImplementedError(f"{self.path!r} has operators that msnb cannot read: {told}.")
        made = FuncGraph(main.get("name", "main"), [*weights, *inputs], self.nodes, outputs)
        prune(made)
        close(made)
        _number(made)
        _frozen(made)
        made.name = _shown(main.get("name", "main"))
        return made

    def _parameter(self, message, weight):
        tensor = message if weight else (message.get("tensor") or [None])[0]
        if tensor is None:
            raise NotImplementedError(f"{self.path!r} takes an input that is no Tensor: {message.get('name')!r}.")
        kind = _type(tensor)
        trained = weight and kind.dtype.startswith(("Float", "BFloat"))
        return ParameterNode(_own(message.get("name", "")), (kind,), weight, trained)

    def _constant(self, node):
        attributes = node.get("attribute", [])
        kind = attributes[0].get("type", 0) if attributes else mindir.NONE
        if kind in (mindir.UMONAD, mindir.IOMONAD):
            return ORDER
        try:
            return mindir.value_of(attributes[0]) if attributes else None
        except BadFileError as error:
            return error  # raised by whoever needs it

    # ------------------------------------------------------------------ following functions
    def _call(self, name, values, inputs_are=False):
        """What a function gives for values."""
        if name in self.active:
            return Again(name, tuple(values))
        if name not in self.functions:
            raise BadFileError(f"{self.path!r} is damaged: it calls {name!r}, which is not in it.")
        if not inputs_are and name in self._reached(name):
            return self._loop(name, values)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotImplementedError(f"{self.path!r} has functions that call each other {_DEEPEST} deep.")
        env = self._bound(name, values)
        for node in self.functions[name].get("node", []):
            self._follow(node, env)
        self.depth -= 1
        return self._output(name, env)

    def _bound(self, name, values):
        inputs = [value["name"] for value in self.functions[name].get("input", [])]
        values = list(values)
        if len(values) < len(inputs):  # what orders side effects may be left out
            values += [ORDER] * (len(inputs) - len(values))
        return dict(zip(inputs, values[: len(inputs)], strict=True))

    def _output(self, name, env):
        outputs = self.functions[name].get("output", [])
        if not outputs:
            raise BadFileError(f"{self.path!r} is damaged: the function {name!r} gives nothing.")
        found = [self._value(output["name"], env) for output in outputs]
        return found[0] if len(found) == 1 else tuple(found)

    def _value(self, name, env):
        if name in env:
            value = env[name]
        elif name in self.globals:
            value = self.globals[name]
        elif name.removeprefix("REF::") in self.functions:
            value = Closure(name.removeprefix("REF::"), ())
        else:
            raise BadFileError(f"{self.path!r} is damaged: the value {name!r} is used and never made.")
        if isinstance(value, BadFileError):
            raise value
        return value

    def _follow(self, node, env):
        """Do what one node says."""
        self.followed += 1
        if self.followed > _MOST:
            raise NotImplementedError(f"{self.path!r} has functions that call each other more than {_MOST} times.")
        op_type = node.get("op_type", "")
        if op_type == "Constant":
            return
        if not node.get("output"):
            raise BadFileError(f"{self.path!r} is damaged: a node {op_type!r} gives nothing.")
        values = [self._value(name, env) for name in node.get("input", [])]
        target = op_type.removeprefix("REF::")
        if target in self.primitives or op_type == target and target not in self.functions and target not in env:
            primitive = self.primitives.get(target, {"op_type": target, "attribute": node.get("attribute", [])})
            value = self._operator(primitive, values, node)
        elif target in self.functions:
            value = self._call(target, values)
        else:
            value = self._enter(self._value(target, env), values)
        env[node["output"][0]] = value

    def _enter(self, called, values):
        """Call a value."""
        if isinstance(called, Closure):
            return self._call(called.function, [*called.values, *values])
        if isinstance(called, Choice):
            yes, no = (Closure(c.function, (*c.values, *values)) for c in (called.yes, called.no))
            return self._branch(called.predicate, yes, no)
        raise BadFileError(f"{self.path!r} is damaged: it calls something that is no function.")

    # ------------------------------------------------------------------ branches
    def _branch(self, predicate, yes, no):
        """A choice that is called."""
        if not isinstance(predicate, Ref):
            chosen = yes if bool(np.asarray(predicate)) else no
            return self._call(chosen.function, chosen.values)
        after = self._next(yes.function) & self._next(no.function)
        active, outer = self.active, self.nodes
        if after:
            self.active = (*active, min(after))
        results, parts = [], []
        for closure in (no, yes):
            self.nodes = []
            results.append(self._call(closure.function, closure.values))
            parts.append(self.nodes)
        self.active, self.nodes = active, outer
        pairs: list[tuple[Any, Any]] = []
        merged = self._merged(*results, pairs)
        if pairs:
            graphs = [
                FuncGraph(name, [], nodes, [(self._node_of(p[i]), _slot(p[i])) for p in pairs])
                for i, (name, nodes) in enumerate(zip((no.function, yes.function), parts, strict=True))
            ]
            for graph in graphs:
                graph.name = _shown(graph.name)
            types = tuple(_type_of_either(p) for p in pairs)
            node = self._add("Switch", [predicate], types, graphs=tuple(graphs))
            merged = _filled(merged, [Ref(node, i) for i in range(len(pairs))])
        if isinstance(merged, Again) and merged.function not in self.active:
            return self._call(merged.function, merged.values)
        return merged

    def _merged(self, a, b, pairs):
        """What two branches give as one value; `_Hole` stands where they differ, for the pair in `pairs`."""
        if isinstance(a, Again) or isinstance(b, Again):
            if not (isinstance(a, Again) and isinstance(b, Again) and a.function == b.function):
                raise NotImplementedError(
                    f"{self.path!r} has a branch that leaves a loop or a function early (break, return), which msnb "
                    "does not read; write it as a condition."
                )
            return Again(a.function, tuple(self._merged(x, y, pairs) for x, y in zip(a.values, b.values, strict=True)))
        if a is ORDER or b is ORDER:
            return ORDER
        if isinstance(a, (tuple, list)) and not isinstance(a, NamedTuples):
            if not isinstance(b, (tuple, list)) or len(a) != len(b):
                raise NotImplementedError(f"{self.path!r} has branches whose results are not alike.")
            return tuple(self._merged(x, y, pairs) for x, y in zip(a, b))
        if isinstance(a, (Closure, Choice)) or isinstance(b, (Closure, Choice)):
            if isinstance(a, Closure) and isinstance(b, Closure) and a.function == b.function:
                return Closure(a.function, self._merged(tuple(a.values), tuple(b.values), pairs))
            raise NotImplementedError(f"{self.path!r} has branches that give functions, which msnb does not read.")
        if _same(a, b):
            return a
        if not (_is_leaf(a) and _is_leaf(b)):
            raise NotImplementedError(f"{self.path!r} has branches whose results are no Tensors.")
        pairs.append((a, b))
        return _Hole(len(pairs) - 1)

    def _next(self, function, seen=frozenset()):
        """The functions that a function ends with calling, whatever way it takes."""
        if function in seen or function not in self.functions:
            return frozenset()
        node = self._last(function)
        if node is None:
            return frozenset()
        target = node.get("op_type", "").removeprefix("REF::")
        if target in self.functions:
            return frozenset((target,))
        choice = self._producer(function, target)
        if choice is None:
            return frozenset()
        ways = [self._producer(function, name) for name in choice.get("input", [])[1:3]]
        ends = [self._next(way["input"][0].removeprefix("REF::"), seen | {function}) for way in ways if way]
        return ends[0] & ends[1] if len(ends) == 2 else frozenset()

    def _producer(self, function, name):
        return next((n for n in self.functions[function].get("node", []) if name in n.get("output", [])), None)

    def _last(self, function):
        """The node whose result a function gives, what orders side effects left out."""
        outputs = self.functions[function].get("output", [])
        node = self._producer(function, outputs[0].get("name", "")) if len(outputs) == 1 else None
        for _ in range(_DEEPEST):
            primitive = self.primitives.get((node or {}).get("op_type", "").removeprefix("REF::"), {})
            if node is None or primitive.get("op_type") != "Depend" or not node.get("input"):
                return node
            node = self._producer(function, node["input"][0])
        return None

    # ------------------------------------------------------------------ loops
    def _reached(self, name):
        """Functions that a function leads to; a call of an active one is a round's end, and leads nowhere."""
        key = (name, self.active)
        if key not in self._reach:
            found, todo = set(), [name]
            while todo:
                for node in self.functions[todo.pop()].get("node", []):
                    for used in (node.get("op_type", ""), *node.get("input", [])):
                        used = used.removeprefix("REF::")
                        if used in self.functions and used not in found:
                            found.add(used)
                            if used not in self.active:
                                todo.append(used)
            self._reach[key] = frozenset(found)
        return self._reach[key]

    def _loop(self, name, values):
        """A function that calls itself: a condition, rounds, and what comes after them."""
        values = list(self._bound(name, values).values())
        kinds = [(v.get("tensor") or [None])[0] for v in self.functions[name].get("input", [])]
        names = [_own(v.get("name", "")) for v in self.functions[name].get("input", [])]
        changing = [i for i, (v, k) in enumerate(zip(values, kinds, strict=True)) if _is_leaf(v) and k is not None]
        while True:
            own, made = self._round(name, values, kinds, names, changing)
            body_nodes, results = made[1]
            kept = [i for i in changing if results[i] == Ref(own[1][i], 0)]
            if not kept:
                break
            changing = [i for i in changing if i not in kept]  # they are what they were, round for round
        if not changing:
            raise NotImplementedError(f"{self.path!r} has a loop in which nothing changes.")
        (test_nodes, predicate), (body_nodes, results) = made
        graphs = []
        for title, nodes, outputs, parameters in (
            ("condition", test_nodes, [predicate], own[0]),
            ("body", body_nodes, [results[i] for i in changing], own[1]),
        ):
            ends = [(self._node_of(v), _slot(v)) for v in outputs]
            graph = FuncGraph(title, [parameters[i] for i in changing], nodes, ends, tuple(range(len(changing))))
            graphs.append(graph)
        types = tuple(_type(kinds[i]) for i in changing)
        node = self._add("While", [values[i] for i in changing], types, graphs=tuple(graphs))
        last = list(values)
        for slot, i in enumerate(changing):
            last[i] = Ref(node, slot)
        choice = self._header(name, last)
        after = choice.no if self._goes_round(choice.yes.function, name) else choice.yes
        return self._call(after.function, after.values)

    def _goes_round(self, function, name):
        return name in self._reached(function) or function == name

    def _round(self, name, values, kinds, names, changing):
        """One round, traced: its parameters, then (nodes, predicate) of the test and (nodes, results) of the body."""
        outer, active = self.nodes, self.active
        every, made = [], []
        for part in range(2):
            own = {i: ParameterNode(names[i], (_type(kinds[i]),)) for i in changing}
            given = [Ref(own[i], 0) if i in own else v for i, v in enumerate(values)]
            self.nodes = []
            choice = self._header(name, given)
            ways = [self._goes_round(way.function, name) for way in (choice.yes, choice.no)]
            if ways[0] == ways[1]:
                raise NotImplementedError(
                    f"{self.path!r} has a loop that is left from within (break, return), which msnb does not read; "
                    "write it as a condition."
                )
            predicate = choice.predicate
            if part == 0:
                if ways[1]:
                    kind = predicate.node.types[predicate.slot]
                    predicate = Ref(self._add("LogicalNot", [predicate], (kind,)), 0)
                made.append((self.nodes, predicate))
            else:
                self.active = (*active, name)
                way = choice.yes if ways[0] else choice.no
                result = self._call(way.function, way.values)
                if not isinstance(result, Again) or result.function != name:
                    raise NotImplementedError(f"{self.path!r} has a function that calls itself and is no loop.")
                results = list(self._bound(name, result.values).values())
                made.append((self.nodes, results))
            every.append(own)
        self.nodes, self.active = outer, active
        return every, made

    def _header(self, name, values):
        """The choice with which a loop's function ends."""
        env, last = self._bound(name, values), self._last(name)
        if last is None:
            raise NotImplementedError(f"{self.path!r} has a function that calls itself and is no loop.")
        for node in self.functions[name].get("node", []):
            if node is last:
                break
            self._follow(node, env)
        called = self._value(last.get("op_type", "").removeprefix("REF::"), env)
        if not isinstance(called, Choice) or not isinstance(called.predicate, Ref):
            raise NotImplementedError(f"{self.path!r} has a function that calls itself and is no loop.")
        extra = tuple(self._value(given, env) for given in last.get("input", []))
        yes, no = (Closure(c.function, (*c.values, *extra)) for c in (called.yes, called.no))
        return Choice(called.predicate, yes, no)

    # ------------------------------------------------------------------ operators
    def _operator(self, primitive, values, node):
        op = primitive.get("op_type", "")
        structural = _STRUCTURE.get(op)
        if structural is not None:
            return structural(values)
        attributes = {
            a.get("name", ""): mindir.value_of(a) for a in primitive.get("attribute", []) if not _is_spelling(a)
        }
        abstract = next((a for a in node.get("attribute", []) if a.get("name") == "shape"), None)
        if abstract is None:
            raise BadFileError(f"{self.path!r} is damaged: a node {op!r} does not say what it gives.")
        values = [v for v in values if v is not ORDER]
        types = tuple(_types(abstract))
        try:
            name, given = call_of(op, primitive.get("prim_type", 1) == 2, values, attributes)
        except Unsayable as why:
            if self.strict:
                self.unknown.setdefault(op, str(why))
            name, given = "", {}
        scope = node.get("domain", "").rpartition("/")[0]
        if name:
            made = self._made(name, given, types, scope)
        else:
            shown = [leaf for leaf in _leaves(values) if _is_leaf(leaf)]
            made = self._add(op, shown, types, scope, attributes)
        if abstract.get("type") == mindir.TUPLE:
            return tuple(Ref(made, i) for i in range(len(types)))
        return Ref(made, 0)

    def _made(self, name, given, types, scope):
        """The node of a call."""
        op = REGISTRY[name]
        inputs, layout, attrs = [], [], {k: given[k] for k in op.attributes if k in given}
        for inp in op.inputs:
            value = given.get(inp.name, inp.default)
            if inp.kind is not None:
                layout.append(-1)
                attrs[inp.name] = _static(value, inp.name, name)
            elif inp.many:
                items = _leaves(value)
                layout.append((len(items),))
                inputs += items
            elif value is None:
                layout.append(0)
            else:
                layout.append(1)
                inputs.append(value)
        for key, value in attrs.items():
            attrs[key] = _static(value, key, name)
        plain = all(entry == 1 for entry in layout)
        return self._add(name.lstrip("_"), inputs, types, scope, attrs, None if plain else tuple(layout))

    def _add(self, op, values, types, scope="Default", attrs=None, layout=None, graphs=()):
        inputs = tuple(self._node_of(value) for value in values)
        slots = tuple(_slot(value) for value in values)
        self.made += 1
        node = CNode(op, inputs, slots, types, attrs=attrs, scope=scope, layout=layout, graphs=graphs, id=self.made)
        self.nodes.append(node)
        return node

    def _node_of(self, value):
        """The node of a value: a constant becomes one."""
        if isinstance(value, Ref):
            return value.node
        if not _is_leaf(value):
            raise BadFileError(f"{self.path!r} is damaged: {value!r:.80} stands where a Tensor should.")
        array = np.asarray(value)
        return ValueNode(value, (TensorType(_spelled(array.dtype), array.shape, array.dtype.itemsize),))


class _Hole(NamedTuple):
    """Where the results of two branches differ."""

    place: int


NamedTuples = (Ref, Closure, Choice, Again, _Hole)


def _filled(value, refs):
    """A merged value with the results of the Switch in its holes."""
    if isinstance(value, _Hole):
        return refs[value.place]
    if isinstance(value, (Again, Closure)):
        return type(value)(value.function, _filled(tuple(value.values), refs))
    if isinstance(value, (tuple, list)) and not isinstance(value, NamedTuples):
        return tuple(_filled(item, refs) for item in value)
    return value


def _same(a, b):
    if isinstance(a, Ref) or isinstance(b, Ref):
        return isinstance(a, Ref) and isinstance(b, Ref) and a.node is b.node and a.slot == b.slot
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b
    return type(a) is type(b) and a == b


def _is_leaf(value):
    return isinstance(value, (Ref, bool, int, float, np.ndarray))


def _leaves(value):
    """The Tensors and constants of nested tuples in order."""
    if isinstance(value, (tuple, list)) and not isinstance(value, NamedTuples):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _slot(value):
    return value.slot if isinstance(value, Ref) else 0


def _static(value, what, op):
    """An attribute, which must not be computed."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if any(isinstance(leaf, Ref) for leaf in _leaves(value)):
        raise NotImplementedError(f"'{op}' in the file has a '{what}' that is computed, which msnb does not read.")
    return value


def _item(values):
    sequence, place = values[:2]
    if not isinstance(sequence, (tuple, list)) or not isinstance(place, int):
        raise BadFileError("The file is damaged: an item is taken of what is no tuple.")
    return sequence[place]


def _partial(values):
    function = values[0]
    if not isinstance(function, Closure):
        raise BadFileError("The file is damaged: arguments are given to what is no function.")
    return Closure(function.function, (*function.values, *values[1:]))


def _choice(values):
    predicate, yes, no = values
    if not isinstance(yes, Closure) or not isinstance(no, Closure):
        raise NotImplementedError("The file has a choice among values that are no functions, which msnb does not read.")
    return Choice(predicate, yes, no)


_STRUCTURE = {
    "Load": lambda values: values[0],
    "Depend": lambda values: values[0],
    "UpdateState": lambda values: ORDER,
    "MakeTuple": lambda values: tuple(v for v in values if v is not ORDER),
    "MakeList": lambda values: tuple(v for v in values if v is not ORDER),
    "make_tuple": lambda values: tuple(v for v in values if v is not ORDER),
    "TupleGetItem": _item,
    "tuple_getitem": _item,
    "ListGetItem": _item,
    "Partial": _partial,
    "partial": _partial,
    "Switch": _choice,
    "switch": _choice,
    "load": lambda values: values[0],
    "depend": lambda values: values[0],
    "Return": lambda values: values[0],
    "return": lambda values: values[0],
}


# ---------------------------------------------------------------------- names and types
def _own(name):
    """A name without the function that it stands in."""
    return name.partition(":")[2] or name


def _shown(name):
    """The name of the class: ``70_1_net_LeNet_construct_14`` is LeNet."""
    parts = name.split("_")
    if "construct" in parts:
        return parts[parts.index("construct") - 1] or name
    return name


def _is_spelling(attribute):
    return attribute.get("name") in ("input_names", "output_names")


def _spelled(dtype):
    return str(mstype.pytype_to_dtype(np.dtype(dtype)))


def _type(tensor):
    dtype, shape = mindir.type_of(tensor)
    if any(size < 0 for size in shape):
        raise NotImplementedError("The file has Tensors of unknown shape, which msnb does not read yet.")
    return TensorType(_spelled(dtype), shape, dtype.itemsize)


def _types(abstract):
    """What a node gives, Tensor by Tensor."""
    kind = abstract.get("type")
    if kind in (mindir.TUPLE, mindir.LIST):
        return [t for item in abstract.get("values", []) for t in _types(item)]
    if kind in (mindir.TENSORS, mindir.TENSOR):
        return [_type(t) for t in abstract.get("tensors", [])]
    return [TensorType("Int64", (), 8)]


def _type_of_either(pair):
    for value in pair:
        if isinstance(value, Ref):
            return value.node.types[value.slot]
    array = np.asarray(pair[0])
    return TensorType(_spelled(array.dtype), array.shape, array.dtype.itemsize)


def _number(graph):
    """Give the nodes their places in the order of execution."""
    for place, node in enumerate(graph.all_nodes()):
        node.id = place


def _frozen(graph):
    """Parameters that an operator only measures with, such as the mean of BatchNorm, have no gradient."""
    for node in graph.all_nodes():
        if node.op == "BatchNorm":
            for source in node.inputs[3:5]:
                if isinstance(source, ParameterNode):
                    source.requires_grad = False
