"""Differences between r1.1 and MindSpore 2 for names that both have.

r1.1's meaning is the default. Names that only MindSpore 2 has need no declaration. A contradiction is declared as data:

    @differs_in_api2("it sorts by default", sorted=True)
    class TopK: ...

`as_api2(TopK)` is then the class with MindSpore 2's signature. A completely different class is declared as a
replacement:

    @replaces_in_api2(lstm.LSTMCell, "it is one step of its own weights")
    class LSTMCell: ...

Functions of `mindspore.ops` and Tensor methods that differ are declared twice, see `Spelling.generation`. The namespace
`msnb.mindspore2` is built from these declarations.
"""

import contextlib
import copyreg
import functools
import inspect
import threading
from abc import ABCMeta
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from msnb.core.eager.kernel import clear_kernels
from msnb.core.operator.declare import SPELLINGS
from msnb.core.operator.primitive import Primitive
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, attach

_Declared = TypeVar("_Declared")
VERSIONS = {1: "1.1.1", 2: "2.10.0"}  # generation -> version of MindSpore with this interface
SHARED = {  # besides Tensor methods, behaviour that all programs of the process share -> its form in MindSpore 2
    "Dataset.map": "it wants no `column_order` where there are more or fewer results than columns, and a PIL image "
    "that is left at the end becomes an array",
    "vision.Resize to one size": "it rounds the longer edge down, and r1.1 to the nearest whole number",
    "Dataset.output_types": "it gives numpy.dtype objects, that of texts is dtype('<U')",
    "text transforms, called by hand": "they give str, as columns of text and what functions of `map` are given are",
    "Tensor": "`shape` and `dtype` are enough, and give zeros",
    "load_checkpoint": "a prefix of names ends anywhere in a name",
    "Parameter.set_data": "a Tensor of another shape is taken, and converted to the Parameter's element type whatever "
    "its own is; a float is refused for a Parameter of whole numbers",
    "SequentialCell": "where a Cell is taken out, those behind it move up, and their Parameters are called after their "
    "new positions",
    "LossMonitor": "it prints all digits of the loss",
    "ReLU, Abs, Sqrt, Sub, ReduceSum, ReduceProd, ScatterNd": "they take bool",
    "Expm1, Xdivy": "they take complex numbers",
    "ApplyMomentum, ApplyGradientDescent, MulNoNan, tensor_dot": "they take integers of every width",
    "Slice": "a block may be empty",
    "repr of a Cell": "`Dense(...)` instead of `Dense<...>`",
    "Cell, called in GRAPH mode": "it takes what `construct` takes by keyword alone",
    "a graph": "a list leaves it as a list; Python code that needs values, such as `x.asnumpy()`, and a result that is "
    "an object with Tensors, and paths whose values differ in shape or structure, make the function run operator by "
    "operator; small numpy arrays are constant inputs",
    "Dataset.batch": "`per_batch_map` without `input_columns` takes all columns; an array or a dict that it returns is "
    "the value of the batch",
    "Print": "a Tensor is printed with its shape and its element type",
    "TrainOneStepCell": "an optimizer with the Parameters of another network gets a warning and gradients of 0",
    "GeneratorDataset, and functions of map": "they give dicts, whose values become arrays or Tensors",
    "Cell.register_backward_hook": "the hook is called with the Cell, the gradients of its inputs, and those of its "
    "outputs; a second hook follows the first",
}
shared: int = 1  # generation of behaviour that all programs of the process share, such as Tensor methods
_has_api2_kernels = False  # True if kernels may be compiled for inputs that r1.1 refuses


class Difference(NamedTuple):
    """MindSpore 2's meaning of a name that r1.1 has, too.

    Attributes:
        says (str): A sentence about MindSpore 2's meaning that continues "in MindSpore 2".
        order (tuple): Names of its positional arguments; empty if they are those of r1.1.
        defaults (dict): Arguments with another default.
        below (bool): True if it also applies to msnb's subclasses.
        given (str): An argument; a call without it means the same in both generations.
    """

    says: str
    order: tuple[str, ...] = ()
    defaults: dict[str, Any] = {}
    below: bool = False
    given: str = ""


DIFFERENCES: dict[Any, Difference] = {}  # class, or function of generation 2 -> Difference
REPLACED: dict[Any, Any] = {}  # class or function of r1.1 -> that of generation 2
AT: dict[tuple[str, str], Any] = {}  # (module, name) -> meaning of the name there in generation 2


def replaces_in_api2(first: Any, says: str, *modules: str, given: str = "") -> Callable[[_Declared], _Declared]:
    """Decorator: declare that MindSpore 2 has this object under the name of r1.1's `first`.

    Args:
        first (Any): Meaning of the name in r1.1: a class or a function; with `modules`, any object.
        says (str): See `Difference`.
        modules (str): Modules where the name has that meaning, such as "msnb.nn". Default: every module with `first`.
        given (str): See `Difference`. Default: "".

    Returns:
        Decorator that returns its argument unchanged.
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
    """Declare that in MindSpore 2 the class `first` computes the same as a function of MindSpore 2.

    r1.1's class often rejects arguments that the function accepts. If only the function had a second meaning, a
    program for MindSpore 2 that uses the class would still get r1.1's; `tests/test_generations.py` looks for such
    classes.

    Args:
        first (type): The class of an operator with r1.1's meaning.
        function (Callable): Takes the inputs of the operator by position, and its attributes by keyword.
        says (str): See `Difference`.
        attributes (type): The class of an operator that checks the attributes. Default: None, `first`.

    Returns:
        type, the class of MindSpore 2.
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
    """Decorator: declare that a class, or a function of MindSpore 2, differs from its namesake in r1.1.

    Args:
        says (str): See `Difference`.
        order (str): Names of the positional arguments of MindSpore 2's class, if their order differs.
        below (bool): See `Difference`. Default: False.
        given (str): See `Difference`. Default: "".
        defaults: Arguments of the class with another default; the class accepts these values. If its behaviour
            differs, its constructor reads `current_generation()`.

    Returns:
        Decorator that returns its argument unchanged.
    """

    def declare(target: _Declared) -> _Declared:
        DIFFERENCES[target] = Difference(says, order, defaults, below, given)
        return target

    return declare


class _GenerationState(threading.local):
    generation = 1


_thread_state = _GenerationState()


def current_generation() -> int:
    """Return the generation of the object under construction: 2 in a constructor of MindSpore 2's namespace, else 1."""
    return _thread_state.generation


@contextlib.contextmanager
def generation_scope(generation: int) -> Iterator[None]:
    """Context manager in which constructed objects belong to this generation: 1 for r1.1, 2 for MindSpore 2."""
    before = _thread_state.generation
    _thread_state.generation = generation
    try:
        yield
    finally:
        _thread_state.generation = before


_ABC_ATTRIBUTES = frozenset({"_abc_impl", "__abstractmethods__"})  # set on every abstract class


class _Api2Class(ABCMeta):
    """The metaclass of `as_api2(cls)`: a class with MindSpore 2's signature that constructs plain `cls` objects.

    Objects that are constructed under both names thus have one class: isinstance, pickles and checkpoints treat them
    equally. A method that a program replaces is replaced on `cls`. A program may derive a subclass; it is an ordinary
    class, and its base class has MindSpore 2's constructor. This metaclass is derived from ABCMeta, because `cls` may
    be abstract.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        first = cls.__dict__.get("_first")
        if first is None:  # a subclass that a program has derived
            return super().__call__(*args, **kwargs)
        args, kwargs = _convert_api2_arguments(first, args, kwargs)
        with generation_scope(2):
            return first(*args, **kwargs)

    def __setattr__(cls, name: str, value: Any) -> None:
        first = cls.__dict__.get("_first")
        if first is None or name in _ABC_ATTRIBUTES:
            super().__setattr__(name, value)
            return
        setattr(first, name, value)
        if name == "__init__":  # `super().__init__` of a subclass finds it here
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


def _reduce_class_for_pickle(cls):
    first = cls.__dict__.get("_first")
    return cls.__qualname__ if first is None else (as_api2, (first,))


copyreg.pickle(_Api2Class, _reduce_class_for_pickle)


class _Signature:
    """Descriptor that returns the signature of a class in MindSpore 2, or that of a subclass's own constructor."""

    def __get__(self, instance: Any, owner: type) -> inspect.Signature | None:
        first = owner.__dict__.get("_first")
        if first is not None:
            return _make_api2_signature(first)
        return inspect.signature(owner.__init__.__get__(object()))


def _make_api2_signature(first):
    """Return the signature that a class has in MindSpore 2."""
    _, order, defaults, *_ = _get_declared_difference(first)
    parameters = inspect.signature(first).parameters
    updated = [p.replace(default=defaults.get(p.name, p.default)) for p in parameters.values()]
    by_name = {p.name: p for p in updated}
    positional = [by_name[name].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in order]
    others = [p.replace(kind=p.KEYWORD_ONLY) if positional else p for p in updated if p.name not in order]
    return inspect.Signature(positional + others)


@functools.cache
def _get_positional_names(first):
    """Return the names of the positional arguments that the class has in MindSpore 2."""
    return _get_declared_difference(first).order or tuple(inspect.signature(first).parameters)


def _convert_api2_arguments(first, args, kwargs):
    """Convert arguments of MindSpore 2's class to those of r1.1's class."""
    names, defaults = _get_positional_names(first), _get_declared_difference(first).defaults
    by_name = dict(zip(names, args))
    if len(args) > len(names) or by_name.keys() & kwargs.keys():
        return args, kwargs  # the constructor will raise the error
    return (), {**defaults, **by_name, **kwargs}


def noted_difference(cls: type) -> Difference | None:
    """Return the difference declared for `cls`, or with ``below=True`` for a base class; None if there is none."""
    if cls in DIFFERENCES or not cls.__module__.startswith("msnb."):
        return DIFFERENCES.get(cls)
    inherited = (DIFFERENCES[base] for base in cls.__mro__ if base in DIFFERENCES)
    return next((found for found in inherited if found.below), None)


def current(cls: Any) -> Any:
    """Return the class or function that `cls` means in the current generation."""
    return api2_meaning(cls.__name__, cls) if current_generation() == 2 else cls


def _get_declared_difference(cls):
    declared = noted_difference(cls)
    assert declared is not None
    return declared


@functools.cache
def as_api2(cls: type) -> type:
    """Return a class with MindSpore 2's meaning, or `cls` itself if no difference is declared."""
    if cls in REPLACED:
        return REPLACED[cls]
    if isinstance(cls, _Api2Class) or noted_difference(cls) is None:
        return cls

    # Read before a program can replace `cls.__init__`. Its replacement may call this one with r1.1's arguments.
    written_init = cls.__init__
    _get_positional_names(cls)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        args, kwargs = _convert_api2_arguments(cls, args, kwargs)
        with generation_scope(2):
            written_init(self, *args, **kwargs)

    # Used by `inspect.signature` of `super().__init__`.
    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = _make_api2_signature(cls)
    __init__.__signature__ = signature.replace(parameters=[self_parameter, *signature.parameters.values()])  # type: ignore[attr-defined]

    members = {
        "_first": cls,
        "__init__": __init__,
        "__signature__": _Signature(),
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__wrapped__": cls,  # inspect looks for the source here
    }
    return _Api2Class(cls.__name__, (cls,), members)


def api2_meaning(name: str, value: Any, module: str = "") -> Any:
    """Return the object that `name` in `module` means in MindSpore 2. `value` is its meaning in r1.1."""
    if (module, name) in AT:
        return AT[module, name]
    if isinstance(value, type):
        return as_api2(value)
    if inspect.isfunction(value) and value in REPLACED:
        return REPLACED[value]
    first, later = (SPELLINGS.get(("function", name, generation)) for generation in VERSIONS)
    return later.target if first is not None and later is not None and first.target is value else value


def difference(first: Any, second: Any) -> Difference:
    """Return the difference declared for a name that means `first` in r1.1 and `second` in MindSpore 2."""
    if second in DIFFERENCES:
        return DIFFERENCES[second]
    return _get_declared_difference(first) if isinstance(first, type) else DIFFERENCES[first]


def takes_api2() -> bool:
    """Return True if operators accept inputs that only MindSpore 2 accepts.

    The caller then compiles a kernel for such an input. `share` discards it, because r1.1 refuses the same input.
    """
    global _has_api2_kernels
    if shared == 1:
        return False
    _has_api2_kernels = True
    return True


def share(generation: int) -> None:
    """Set the generation (1 or 2) of behaviour that all programs share: Tensor methods and the repr of Cells."""
    global shared, _has_api2_kernels
    if generation == shared:
        return
    for kind, name, of in list(SPELLINGS):
        if kind == "method" and of == 2 and (kind, name, 1) in SPELLINGS:
            attach(name, SPELLINGS[kind, name, generation].target)
    shared = generation
    Parameter.takes_any_shape_and_type = generation == 2
    Tensor._is_filled_without_init = generation == 2
    trace_state.epoch.bump()  # programs of the other generation are invalid
    if _has_api2_kernels:
        clear_kernels()
        _has_api2_kernels = False
