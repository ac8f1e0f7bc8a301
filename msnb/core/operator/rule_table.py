"""Rule tables: facts about operators, each table owned by the package that reads it.

Examples are sharding rules, MINDIR names, ONNX lowerings and FLOPs. The owner fills the table next to the code that
reads it; the keys are the operators themselves. A missing entry raises one clear error and is listed by `coverage`.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msnb.core.operator.operator_types import REGISTRY, USER_OPERATORS
from msnb.core.support.weak_identity import WeakIdentityDict

_ABSENT = object()


class MissingRule(NotImplementedError):
    """Raised if an operator has no entry in a rule table."""


class Coverage(NamedTuple):
    """Operators with and without an entry.

    Attributes:
        present (list[str]): Names of operators with an entry, sorted.
        missing (list[str]): Names of operators without one, sorted.
    """

    present: list[Any]
    missing: list[Any]

    def __str__(self) -> str:
        total = len(self.present) + len(self.missing)
        return f"{len(self.present)} of {total} operators; missing: {', '.join(self.missing) or 'none'}"


class RuleTable:
    """A table keyed by operators.

    A key may be a class (``ops.Softmax``), an instance of it, or an entry of the registry. An entry is removed with its
    operator.

    Args:
        what (str): Description of an entry, with its article: ``"a sharding rule"``.
        remedy (str): Advice about a missing entry; ``{name}`` is replaced by the name of the operator.
        key (Callable): Maps an object to a name, for a table of objects that are not operators of msnb, such as JAX's
            primitives. Default: None, the operator itself is the key.

    Examples:
        >>> rules = RuleTable("a sharding rule", "Write a rule.")
        >>> @rules.register(ops.ReLU, ops.Tanh)
        ... def elementwise(strategy):
        ...     return strategy
        >>> rules[ops.ReLU()] is elementwise
        True
        >>> rules[ops.MatMul]
        Traceback (most recent call last):
        ...
        msnb.core.operator.rule_table.MissingRule: For 'MatMul', there is no sharding rule. Write a rule.
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
            TypeError: If one of them is not an operator.
            ValueError: If one of them has an entry already.
        """
        keys = [self._key(op) for op in operators]

        def enter(value):
            for key in keys:
                if self._entries.get(key, _ABSENT) is not _ABSENT:
                    raise ValueError(f"'{_get_operator_name(key)}' has {self.what} already.")
                self._entries[key] = value
            return value

        return enter

    def get(self, operator: Any, default: Any = None) -> Any:
        """Return the entry of `operator`, or `default`."""
        return self._entries.get(self._key(operator), default)

    def named(self, name: str, default: Any = None) -> Any:
        """Return the entry for the name of an operator, which nodes of a graph have, or `default`."""
        op = REGISTRY.get(name) or USER_OPERATORS.get(name)
        return default if op is None else self.get(op, default)

    def __getitem__(self, operator: Any) -> Any:
        key = self._key(operator)
        entry = self._entries.get(key, _ABSENT)
        if entry is _ABSENT:
            name = _get_operator_name(key)
            article, _, thing = self.what.partition(" ")
            thing = thing if article in ("a", "an", "the") else self.what
            raise MissingRule(f"For '{name}', there is no {thing}. {self.remedy.format(name=name)}")
        return entry

    def __contains__(self, operator: object) -> bool:
        return self.get(operator, _ABSENT) is not _ABSENT

    def __len__(self) -> int:
        return len(self._entries)

    def coverage(self, operators: Iterable[Any] | None = None) -> Coverage:
        """Return which of `operators` have an entry.

        Args:
            operators (Iterable): The operators. Default: None, all of msnb under their main names.

        Returns:
            Coverage.
        """
        keys = map(self._key, REGISTRY.values() if operators is None else operators)
        has_entry = {_get_operator_name(key): self._entries.get(key, _ABSENT) is not _ABSENT for key in keys}
        return Coverage(sorted(n for n in has_entry if has_entry[n]), sorted(n for n in has_entry if not has_entry[n]))

    def __repr__(self) -> str:
        return f"RuleTable({self.what!r}: {len(self)} entries)"


def operator_of(thing: Any) -> Any:
    """Return the operator of a Primitive class, of an instance, or of an operator with marks; a user's class for
    user operators.

    Raises:
        TypeError: If `thing` is none of these. A name is not accepted.
    """
    op = getattr(thing, "operator", thing)  # a class or an instance has its operator as an attribute
    primitive = getattr(op, "primitive", None)  # the class of an operator has the operator without marks
    if primitive is not None:
        return getattr(primitive, "operator", op)
    if hasattr(op, "add_prim_attr"):
        return op if isinstance(op, type) else type(op)
    raise TypeError(f"An operator should be given as itself (ops.Softmax), but got {thing!r}.")


def _get_operator_name(key):
    return key if isinstance(key, str) else getattr(key, "name", None) or key.__name__
