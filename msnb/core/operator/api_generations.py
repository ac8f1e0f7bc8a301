"""Where MindSpore 2 means something else by a name of r1.1: what differs, as data beside the name, and the other form.

r1.1's meaning is the default. What is of MindSpore 2 alone is simply there; here stands what contradicts:

    @differs("it sorts unless told not to", sorted=True)
    class TopK: ...

`second(TopK)` is then the class as MindSpore 2 writes it. What is another thing altogether stands beside r1.1's:

    @instead_of(lstm.LSTMCell, "it is one step of its own weights")
    class LSTMCell: ...

Functions of `mindspore.ops` and methods of Tensor that contradict are declared twice, see `Spelling.generation`. The
namespace of MindSpore 2, `msnb.mindspore2`, is made of these.
"""

import contextlib
import copyreg
import functools
import inspect
import threading
from abc import ABCMeta
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from msnb.core.operator.declare import SPELLINGS
from msnb.core.operator.primitive import Primitive
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import attach

_Declared = TypeVar("_Declared")
VERSIONS = {1: "1.1.1", 2: "2.7.1"}  # generation -> the version of MindSpore whose interface it is
SHARED = {  # what follows the last choice of the process, besides methods of Tensors -> what MindSpore 2 does
    "Dataset.map": "it wants no `column_order` where there are more or fewer results than columns, and a PIL image "
    "that is left at the end becomes an array",
    "vision.Resize to one size": "it rounds the longer edge down, and r1.1 to the nearest whole number",
    "Dataset.output_types": "it gives numpy.dtype objects, that of texts is dtype('<U')",
    "text transforms, called by hand": "they give str, as columns of text and what functions of `map` are given are",
    "Parameter.set_data": "a Tensor of another shape is taken, and converted to the Parameter's element type whatever "
    "its own is; a float is refused for a Parameter of whole numbers",
    "SequentialCell": "where a Cell is taken out, those behind it move up, and their Parameters are called after their "
    "new positions",
    "LossMonitor": "it prints all digits of the loss",
    "repr of a Cell": "`Dense(...)` instead of `Dense<...>`",
    "Cell, called in GRAPH mode": "it takes what `construct` takes by keyword alone",
    "Cell.register_backward_hook": "the hook is called with the Cell, the gradients of its inputs, and those of its "
    "outputs; a second hook follows the first",
}
shared: int = 1  # whose meaning what all programs share has, the methods of Tensors: a setting of the process


class Difference(NamedTuple):
    """What MindSpore 2 means by a name that r1.1 has, too.

    Attributes:
        says (str): A sentence about MindSpore 2's meaning, as it follows "in MindSpore 2".
        order (tuple): The names of its positional arguments; empty where they are those of r1.1.
        defaults (dict): Arguments whose default is another.
        below (bool): Whether it holds for msnb's classes that are derived from this one, too.
        given (str): An argument without which nothing differs.
    """

    says: str
    order: tuple[str, ...] = ()
    defaults: dict[str, Any] = {}
    below: bool = False
    given: str = ""


DIFFERENCES: dict[Any, Difference] = {}  # class, or function of the second generation -> Difference
REPLACED: dict[Any, Any] = {}  # class or function of r1.1 -> that of the second generation
AT: dict[tuple[str, str], Any] = {}  # (module, name) -> what the name means there in the second generation


def replaces_in_api2(first: Any, says: str, *modules: str, given: str = "") -> Callable[[_Declared], _Declared]:
    """Decorator of what MindSpore 2 has under the name of r1.1's `first`.

    Args:
        first (Any): What the name means in r1.1: a class or a function, with `modules` also something else.
        says (str): See `Difference`.
        modules (str): Where the name has that meaning, such as "msnb.nn". Default: wherever `first` stands.
        given (str): See `Difference`. Default: "".

    Returns:
        Decorator; what it is given stays as it is.
    """

    def declare(target: _Declared) -> _Declared:
        if modules:
            AT.update({(module, target.__name__.strip("_")): target for module in modules})
            DIFFERENCES[target] = Difference(says)
        else:
            REPLACED[first] = target
            DIFFERENCES[first] = Difference(says, given=given)
        return target

    return declare


def called_as(first: Any, function: Callable[..., Any], says: str, attributes: Any = None) -> type:
    """Declare that in MindSpore 2 the class `first` computes what a function of MindSpore 2 does.

    r1.1's class often refuses what the function takes. Where only the function is given its second meaning, a program
    for MindSpore 2 that writes the class still meets r1.1's; `tests/test_generations.py` looks for such classes.

    Args:
        first (type): The class of an operator, as r1.1 means it.
        function (Callable): Takes the inputs of the operator by position, and its attributes by keyword.
        says (str): See `Difference`.
        attributes (type): The class of an operator that checks the attributes. Default: None, `first`.

    Returns:
        type, the class that MindSpore 2 means.
    """

    checking = first if attributes is None else attributes

    class Second(Primitive):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(first.__name__)
            self._keywords = checking(*args, **kwargs)._attributes
            for name, value in self._keywords.items():
                self.add_prim_attr(name, value)

        def __call__(self, *inputs: Any) -> Any:
            return function(*inputs, **self._keywords)

    Second.__name__ = Second.__qualname__ = first.__name__
    Second.__doc__, Second.__module__ = first.__doc__, first.__module__
    Second.__signature__ = inspect.signature(checking)  # type: ignore[attr-defined]
    Second.__reduce__ = lambda self: (_rebuilt, (first, self._keywords))  # type: ignore[assignment]
    return replaces_in_api2(first, says)(Second)


def _rebuilt(first, attributes):
    return as_api2(first)(**attributes)


def differs_in_api2(
    says: str, *order: str, below: bool = False, given: str = "", **defaults: Any
) -> Callable[[_Declared], _Declared]:
    """Decorator of a class, or of the second generation's spelling of a function: notes what is different in it.

    Args:
        says (str): See `Difference`.
        order (str): Names of the positional arguments of MindSpore 2's class, where they stand in another order.
        below (bool): See `Difference`. Default: False.
        given (str): See `Difference`. Default: "".
        defaults: Arguments of the class whose default is another there; the class takes the values. Where what it does
            differs, its constructor asks `making()`.

    Returns:
        Decorator; what it is given stays as it is.
    """

    def declare(target: _Declared) -> _Declared:
        DIFFERENCES[target] = Difference(says, order, defaults, below, given)
        return target

    return declare


class _Making(threading.local):
    generation = 1


_making = _Making()


def current_generation() -> int:
    """The generation of what is being made: 2 within the constructor of a class of MindSpore 2's namespace."""
    return _making.generation


@contextlib.contextmanager
def generation_scope(generation: int) -> Iterator[None]:
    """What is made within is of this generation."""
    before = _making.generation
    _making.generation = generation
    try:
        yield
    finally:
        _making.generation = before


_OF_ABC = frozenset({"_abc_impl", "__abstractmethods__"})  # what each abstract class has of its own


class _Api2Class(ABCMeta):
    """The type of `second(cls)`: a name for `cls` that takes arguments as MindSpore 2 does, and makes a plain `cls`.

    So there is one class for each layer: what it makes is no other than what r1.1's name makes, in isinstance, in
    pickles and in checkpoints; a method that a program replaces is replaced there. A class that a program derives
    from it is one of its own, with this constructor below its own. (Of ABCMeta, since such a class may be abstract,
    too.)
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        first = cls.__dict__.get("_first")
        if first is None:  # derived by a program
            return super().__call__(*args, **kwargs)
        args, kwargs = _as_first(first, args, kwargs)
        with generation_scope(2):
            return first(*args, **kwargs)

    def __setattr__(cls, name: str, value: Any) -> None:
        first = cls.__dict__.get("_first")
        if first is None or name in _OF_ABC:
            super().__setattr__(name, value)
            return
        setattr(first, name, value)
        if name == "__init__":  # which stands here for derived classes
            super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> None:
        first = cls.__dict__.get("_first")
        if first is None:
            super().__delattr__(name)
        else:
            delattr(first, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        first = cls.__dict__.get("_first")
        return super().__instancecheck__(instance) if first is None else isinstance(instance, first)

    def __subclasscheck__(cls, subclass: type) -> bool:
        first = cls.__dict__.get("_first")
        return super().__subclasscheck__(subclass) if first is None else issubclass(subclass, first)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.__dict__.get("_first", cls)

    def __hash__(cls) -> int:
        first = cls.__dict__.get("_first")
        return super().__hash__() if first is None else hash(first)

    def __repr__(cls) -> str:
        return repr(cls.__dict__.get("_first")) if "_first" in cls.__dict__ else super().__repr__()


def _reduced(cls):
    first = cls.__dict__.get("_first")
    return cls.__qualname__ if first is None else (as_api2, (first,))


copyreg.pickle(_Api2Class, _reduced)


class _Signature:
    """Of the class itself; a derived one has that of its own constructor."""

    def __get__(self, instance: Any, owner: type) -> inspect.Signature | None:
        first = owner.__dict__.get("_first")
        if first is not None:
            return _signature(first)
        return inspect.signature(owner.__init__.__get__(object()))


def _signature(first):
    """As MindSpore 2 writes it."""
    _, order, defaults, *_ = _difference(first)
    known = inspect.signature(first).parameters
    rows = [p.replace(default=defaults.get(p.name, p.default)) for p in known.values()]
    by_name = {p.name: p for p in rows}
    ahead = [by_name[name].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in order]
    behind = [p.replace(kind=p.KEYWORD_ONLY) if ahead else p for p in rows if p.name not in order]
    return inspect.Signature(ahead + behind)


@functools.cache
def _places(first):
    """The names of MindSpore 2's positional arguments."""
    return _difference(first).order or tuple(inspect.signature(first).parameters)


def _as_first(first, args, kwargs):
    """The arguments that r1.1's class takes for those that MindSpore 2's is given."""
    names, defaults = _places(first), _difference(first).defaults
    given = dict(zip(names, args))
    if len(args) > len(names) or given.keys() & kwargs.keys():
        return args, kwargs  # it will say what does not fit
    return (), {**defaults, **given, **kwargs}


def noted_difference(cls: type) -> Difference | None:
    """What is noted of a class, or of one above it for all below."""
    if cls in DIFFERENCES or not cls.__module__.startswith("msnb."):
        return DIFFERENCES.get(cls)
    above = (DIFFERENCES[base] for base in cls.__mro__ if base in DIFFERENCES)
    return next((found for found in above if found.below), None)


def current(cls: Any) -> Any:
    """The class or function that `cls` means to what is being made, see `making`."""
    return api2_meaning(cls.__name__, cls) if current_generation() == 2 else cls


def _difference(cls):
    found = noted_difference(cls)
    assert found is not None
    return found


@functools.cache
def as_api2(cls: type) -> type:
    """A class as MindSpore 2 means it: `cls` itself where nothing is noted of it, see `differs`."""
    if cls in REPLACED:
        return REPLACED[cls]
    if isinstance(cls, _Api2Class) or noted_difference(cls) is None:
        return cls

    written_init = cls.__init__  # a program that replaces it may call this one, which keeps its arguments
    _places(cls)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        args, kwargs = _as_first(cls, args, kwargs)
        with generation_scope(2):
            written_init(self, *args, **kwargs)

    # for who asks inspect about `super().__init__`
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    written = _signature(cls)
    __init__.__signature__ = written.replace(parameters=[own, *written.parameters.values()])  # type: ignore[attr-defined]

    members = {
        "_first": cls,
        "__init__": __init__,
        "__signature__": _Signature(),
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__wrapped__": cls,  # where inspect looks for the source
    }
    return _Api2Class(cls.__name__, (cls,), members)


def api2_meaning(name: str, value: Any, module: str = "") -> Any:
    """What MindSpore 2 means by `name`, for which msnb has `value` under the generation of r1.1 in `module`."""
    if (module, name) in AT:
        return AT[module, name]
    if isinstance(value, type):
        return as_api2(value)
    if inspect.isfunction(value) and value in REPLACED:
        return REPLACED[value]
    first, later = (SPELLINGS.get(("function", name, generation)) for generation in VERSIONS)
    return later.target if first is not None and later is not None and first.target is value else value


def difference(first: Any, second: Any) -> Difference:
    """What is noted of a name that means `first` in r1.1 and `second` in MindSpore 2."""
    if second in DIFFERENCES:
        return DIFFERENCES[second]
    return _difference(first) if isinstance(first, type) else DIFFERENCES[first]


def share(generation: int) -> None:
    """Let what all programs share, the methods of Tensors and how Cells print, be of this generation from now on."""
    global shared
    if generation == shared:
        return
    for kind, name, of in list(SPELLINGS):
        if kind == "method" and of == 2 and (kind, name, 1) in SPELLINGS:
            attach(name, SPELLINGS[kind, name, generation].target)
    shared = generation
    Parameter.takes_any_shape_and_type = generation == 2
    trace_state.epoch.bump()  # programs compiled from the other meaning are not these
