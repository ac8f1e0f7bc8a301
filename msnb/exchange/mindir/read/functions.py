"""The functions of a MINDIR file: the nodes of each, and the functions that it calls."""

from collections.abc import Iterable
from typing import Any

from msnb.exchange.mindir.read.values import START, is_leaf, local_name

_MAX_DEPTH = 100  # nested Depend nodes

Message = dict[str, Any]


class Functions:
    """The functions and primitives of a file.

    Args:
        functions (list[dict]): Messages of all functions.
        primitives (list[dict]): Messages of the operators with their attributes.

    Attributes:
        functions (dict[str, dict]), primitives (dict[str, dict]): These messages by name.
    """

    def __init__(self, functions: list[Message], primitives: list[Message]) -> None:
        self.functions = {function.get("name", ""): function for function in functions}
        self.primitives = {primitive.get("name", ""): primitive for primitive in primitives}
        self._reachable: dict[tuple[str, tuple[str, ...]], frozenset[str]] = {}

    def common_successors(self, first: str, second: str) -> frozenset[str]:
        """Return the functions that are called last on every path through either of two functions."""
        return self._find_tail_callees(first) & self._find_tail_callees(second)

    def _find_tail_callees(self, function: str, visited: frozenset[str] = frozenset()) -> frozenset[str]:
        """Return the functions that are called last on every path through `function`."""
        if function in visited or function not in self.functions:
            return frozenset()
        node = self.result_node(function)
        if node is None:
            return frozenset()
        target = node.get("op_type", "").removeprefix("REF::")
        if target in self.functions:
            return frozenset((target,))
        choice = self.find_producer(function, target)
        if choice is None:
            return frozenset()
        closures = [self.find_producer(function, name) for name in choice.get("input", [])[1:3]]
        ends = [
            self._find_tail_callees(closure["input"][0].removeprefix("REF::"), visited | {function})
            for closure in closures
            if closure
        ]
        return ends[0] & ends[1] if len(ends) == 2 else frozenset()

    def find_producer(self, function: str, name: str) -> Message | None:
        """Return the node of a function with the output `name`."""
        return next((n for n in self.functions[function].get("node", []) if name in n.get("output", [])), None)

    def result_node(self, function: str) -> Message | None:
        """Return the node that computes the result of a function, skipping Depend nodes."""
        outputs = self.functions[function].get("output", [])
        node = self.find_producer(function, outputs[0].get("name", "")) if len(outputs) == 1 else None
        for _ in range(_MAX_DEPTH):
            primitive = self.primitives.get((node or {}).get("op_type", "").removeprefix("REF::"), {})
            if node is None or primitive.get("op_type") != "Depend" or not node.get("input"):
                return node
            node = self.find_producer(function, node["input"][0])
        return None

    def reachable(self, name: str, active: tuple[str, ...]) -> frozenset[str]:
        """Return the functions that a function calls, directly or indirectly. Calls inside `active` functions are not
        followed.
        """
        key = (name, active)
        if key not in self._reachable:
            reachable, todo = set(), [name]
            while todo:
                for node in self.functions[todo.pop()].get("node", []):
                    for callee in (node.get("op_type", ""), *node.get("input", [])):
                        callee = callee.removeprefix("REF::")
                        if callee in self.functions and callee not in reachable:
                            reachable.add(callee)
                            if callee not in active:
                                todo.append(callee)
            self._reachable[key] = frozenset(reachable)
        return self._reachable[key]

    def loop_exit(self, name: str, active: tuple[str, ...]) -> str | None:
        """Return the function that a loop calls when its condition is false."""
        choice = self.find_producer(name, (self.result_node(name) or {}).get("op_type", "").removeprefix("REF::"))
        closures = [self.find_producer(name, closure) for closure in (choice or {}).get("input", [])[1:3]]
        functions = [closure["input"][0].removeprefix("REF::") for closure in closures if closure]
        return next((f for f in functions if f in self.functions and name not in self.reachable(f, active)), None)

    def bind_inputs(self, name: str, values: Iterable[Any]) -> dict[str, Any]:
        """Return the values of a function's inputs by name."""
        inputs = [value["name"] for value in self.functions[name].get("input", [])]
        values = list(values)
        if len(values) < len(inputs):  # inputs that order side effects may be missing
            values += [START] * (len(inputs) - len(values))
        return dict(zip(inputs, values[: len(inputs)], strict=True))

    def loop_variables(
        self, name: str, values: Iterable[Any]
    ) -> tuple[list[Any], list[Message | None], list[str], list[int]]:
        """Return the values, Tensor types and names of a loop's inputs, and the indices of those that may change."""
        values = list(self.bind_inputs(name, values).values())
        inputs = self.functions[name].get("input", [])
        kinds = [(value.get("tensor") or [None])[0] for value in inputs]
        names = [local_name(value.get("name", "")) for value in inputs]
        changing = [i for i, (v, k) in enumerate(zip(values, kinds, strict=True)) if is_leaf(v) and k is not None]
        return values, kinds, names, changing
