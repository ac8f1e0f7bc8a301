"""Facets: what one floor of the house wants to know of operators, as a table of that floor.

A sharding rule, a MINDIR name, an ONNX lowering, a count of FLOPs: the floor that asks owns the table, and fills it
beside the code that reads it, with the operators themselves as keys. What has no entry is one clear error, and a line
in `coverage`.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msnb.core.operator.operator_types import REGISTRY, USER_OPERATORS
from msnb.core.support.weak_identity import WeakIdentityDict

_ABSENT = object()


class MissingRule(NotImplementedError):
    """An operator has no entry in a facet."""


class Coverage(NamedTuple):
    """Which operators have an entry.

    Attributes:
        known (list[str]): Names of those that have one, sorted.
        missing (list[str]): Names of those that have none, sorted.
    """

    known: list[Any]
    missing: list[Any]

    def __str__(self) -> str:
        total = len(self.known) + len(self.missing)
        return f"{len(self.known)} of {total} operators; missing: {', '.join(self.missing) or 'none'}"


class RuleTable:
    """A table of what is known about operators under one aspect.

    An operator is given as what the user has in hand: the class (``ops.Softmax``), an instance of it, or what the
    registry holds. An entry goes with its operator.

    Args:
        what (str): What an entry is, with its article: ``"a sharding rule"``.
        remedy (str): What to do about an operator without one; ``{name}`` stands for the operator.
        key (Callable): From what is given to the name of an operator, for a table of things that are no operators of
            msnb and are told apart by name, such as JAX's primitives. Default: None, the operator itself is the key.

    Examples:
        >>> rules = RuleTable("a sharding rule", "Write @rules.register(ops.{name}).")
        >>> @rules.register(ops.ReLU, ops.Tanh)
        ... def elementwise(strategy):
        ...     return strategy
        >>> rules[ops.ReLU()] is elementwise
        True
        >>> rules[ops.MatMul]
        Traceback (most recent call last):
        ...MissingEntry: For 'MatMul', there is no sharding rule. Write @rules.register(ops.MatMul).
    """

    __slots__ = ("what", "remedy", "_key", "_entries")

    def __init__(self, what: str, remedy: str, key: Callable[[Any], Any] | None = None) -> None:
        self.what: str = what
        self.remedy: str = remedy
        self._key = key or operator_of
        self._entries = WeakIdentityDict() if key is None else {}

    def register(self, *operators: Any) -> Callable[[Any], Any]:
        """Decorator: make a function, or any other value, the entry of `operators`.

        Raises:
            TypeError: If one of them is no operator.
            ValueError: If one of them has an entry already.
        """
        keys = [self._key(op) for op in operators]

        def enter(value):
            for key in keys:
                if self._entries.get(key, _ABSENT) is not _ABSENT:
                    raise ValueError(f"'{_name(key)}' has {self.what} already.")
                self._entries[key] = value
            return value

        return enter

    def get(self, operator: Any, default: Any = None) -> Any:
        """The entry of `operator`, `default` where there is none."""
        return self._entries.get(self._key(operator), default)

    def named(self, name: str, default: Any = None) -> Any:
        """The same for the name of an operator, which is what a node of a graph has."""
        op = REGISTRY.get(name) or USER_OPERATORS.get(name)
        return default if op is None else self.get(op, default)

    def __getitem__(self, operator: Any) -> Any:
        key = self._key(operator)
        entry = self._entries.get(key, _ABSENT)
        if entry is _ABSENT:
            name = _name(key)
            article, _, thing = self.what.partition(" ")
            thing = thing if article in ("a", "an", "the") else self.what
            raise MissingRule(f"For '{name}', there is no {thing}. {self.remedy.format(name=name)}")
        return entry

    def __contains__(self, operator: object) -> bool:
        return self.get(operator, _ABSENT) is not _ABSENT

    def __len__(self) -> int:
        return len(self._entries)

    def coverage(self, operators: Iterable[Any] | None = None) -> Coverage:
        """Which of `operators` have an entry.

        Args:
            operators (Iterable): The operators. Default: None, all that msnb has, each under its own name.

        Returns:
            Coverage.
        """
        keys = map(self._key, REGISTRY.values() if operators is None else operators)
        found = {_name(key): self._entries.get(key, _ABSENT) is not _ABSENT for key in keys}
        return Coverage(sorted(n for n in found if found[n]), sorted(n for n in found if not found[n]))

    def __repr__(self) -> str:
        return f"RuleTable({self.what!r}: {len(self)} entries)"


def operator_of(thing: Any) -> Any:
    """The operator behind a Primitive class, an instance of it, or an operator with strategy or stage; the class of an
    operator that a user wrote.

    Raises:
        TypeError: If `thing` is none of these; a name is none.
    """
    op = getattr(thing, "operator", thing)  # of a class or an instance
    primitive = getattr(op, "primitive", None)  # of an operator: its class, which knows the one without marks
    if primitive is not None:
        return getattr(primitive, "operator", op)
    if hasattr(op, "add_prim_attr"):
        return op if isinstance(op, type) else type(op)
    raise TypeError(f"An operator should be given as itself (ops.Softmax), but got {thing!r}.")


def _name(key):
    return key if isinstance(key, str) else getattr(key, "name", None) or key.__name__
