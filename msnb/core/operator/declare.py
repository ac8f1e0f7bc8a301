"""Declarations: `@operator` makes a class of a pure function of arrays, `@spelling` gives it another way to be written.

    @operator(functional="reduce_sum")
    def ReduceSum(x, axis: Axis = (), *, keep_dims: Bool = False):
        return jnp.sum(x, axis=axis or None, keepdims=keep_dims)

    @spelling(ReduceSum)
    def sum(input: Tensor, dim=None, keepdim: bool = False, *, dtype=None) -> Tensor:
        return ReduceSum(keepdim)(wide(input, dtype), dim)

`ReduceSum` is the class from here on: `ReduceSum(True)(x, 1)` runs it on Tensors, `ReduceSum.kernel(x, 1)` is the
function of arrays, `ReduceSum.functional(x, 1)` takes inputs and attributes at once. Who reads a spelling finds the
operator by its Python name, and nothing is looked up by text.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msnb.common.kinds import hashable, readable, readable_parameter
from msnb.core.operator.dispatch import call_of
from msnb.core.operator.operator_types import FUNCTIONAL, REGISTRY
from msnb.core.operator.primitive import DeclaredPrimitive
from msnb.core.operator.traced_attributes import TracedOperator, declared
from msnb.core.operator.ufunc import Ufunc, as_given, form_of
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.operands import other_operand
from msnb.core.tensor.tensor import Tensor, attach

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.operator.value_checks import Check

_Declared = TypeVar("_Declared")


class Spelling(NamedTuple):
    """One public way to write something: its kind, its name, and what it leads to.

    Attributes:
        kind (str): "class", "function", "method" (of Tensor) or "numpy".
        name (str): The public name.
        generation (int): 1 for r1.1's signature and defaults, 2 for those of MindSpore 2.
        target (object): What the name stands for.
        operators (tuple): The declared classes that it is made of.
    """

    kind: str
    name: str
    generation: int
    target: Any
    operators: tuple[Any, ...]


SPELLINGS: dict[tuple[str, str, int], Spelling] = {}  # (kind, name, generation) -> Spelling
NUMPY: dict[str, Callable[..., Any]] = {}  # name in mindspore.numpy -> function


def spell(kind: str, name: str, generation: int, target: Any, operators: tuple[type, ...]) -> None:
    """Enter a spelling; r1.1's is what the name means where both generations have one."""
    key = kind, name, generation
    if key in SPELLINGS:
        raise ValueError(f"The {kind} '{name}' of generation {generation} is declared twice.")
    SPELLINGS[key] = Spelling(kind, name, generation, target, tuple(operators))
    if generation == 2 and (kind, name, 1) in SPELLINGS:
        return
    if kind == "function":
        FUNCTIONAL[name] = target
    elif kind == "numpy":
        NUMPY[name] = target
    elif kind == "method":
        attach(name, target)


def _names(given):
    return (given,) if isinstance(given, str) else tuple(given)


def spelling(
    *operators: type,
    function: str | tuple[str, ...] = (),
    method: str | tuple[str, ...] = (),
    numpy: str | tuple[str, ...] = (),
    generation: int = 2,
) -> Callable[[Any], Any]:
    """Decorator: a plain Python function over Tensors is a public way to write `operators`.

    Args:
        operators (type): The declared classes that it leads to.
        function (Union[str, tuple[str]]): Its names in `mindspore.ops`. Default: that of the decorated function,
            where neither `method` nor `numpy` is given.
        method (Union[str, tuple[str]]): Its names among the methods of Tensor; a property is attached as it is.
        numpy (Union[str, tuple[str]]): Its names in `mindspore.numpy`.
        generation (int): 1 where signature and defaults are r1.1's, 2 where they are those of MindSpore 2. Default: 2.

    Returns:
        Decorator; the function stays what it is, under the public name.
    """

    def declare(target: _Declared) -> _Declared:
        kinds = {"function": _names(function), "method": _names(method), "numpy": _names(numpy)}
        if not any(kinds.values()):
            kinds["function"] = (target.__name__,)
        for kind, names in kinds.items():
            for name in names:
                spell(kind, name, generation, target, operators)
        first = next(names[0] for names in kinds.values() if names)
        if inspect.isfunction(target) and (target.__name__[0] == "_" or target.__name__[-1] == "_"):
            target.__name__ = target.__qualname__ = first
        return readable(target)

    return declare


def keyword_aliases(
    older: Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]] | None = None, /, **names: str
) -> Callable[[_Declared], _Declared]:
    """Decorator: a written function takes arguments by further keywords, which its signature does not show.

    Args:
        older (Callable): Of positional and keyword arguments, where one of `names` is among these and more differs
            than its name: the keyword arguments of the signature. Default: None.
        names (str): The parameter that a keyword stands for, where versions of MindSpore call it differently.
    """

    def declare(fn: Any) -> Any:
        @functools.wraps(fn)
        def taking(*args: Any, **kwargs: Any) -> Any:
            further = names.keys() & kwargs.keys() if kwargs else ()
            if further and older is not None:
                kwargs = older(args, kwargs)
            for other in names.keys() & kwargs.keys() if further else ():
                if names[other] in kwargs:
                    raise TypeError(f"For '{fn.__name__}', '{other}' is given twice: it is '{names[other]}', too.")
                kwargs[names[other]] = kwargs.pop(other)
            return fn(*args, **kwargs)

        code = fn.__code__  # where `inspect` and an editor look for the source
        taking.__code__ = taking.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
        taking.called = names
        return taking

    return declare


class _Signature:
    """Of a class the attributes that it takes, of an instance the inputs."""

    def __init__(self, op):
        parameters = op.signature.parameters.values()
        attributes = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        required = [i for i, p in enumerate(attributes) if p.default is p.empty]
        optional = [i for i, p in enumerate(attributes) if p.default is not p.empty]
        # A constructor takes them in this order, too; with a required one behind others Python cannot say so.
        if not (required and optional and required[-1] > optional[0]):
            attributes = [p.replace(kind=p.POSITIONAL_OR_KEYWORD) for p in attributes]
        self.of_class = inspect.Signature(attributes)
        self.of_instance = inspect.Signature([p for p in parameters if p.kind is not p.KEYWORD_ONLY])

    def __get__(self, instance, owner):
        return self.of_class if instance is None else self.of_instance


def operator(
    kernel: Callable[..., Any] | None = None,
    *,
    functional: str | None = None,
    methods: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    writes: tuple[str, ...] = (),
    returns: str = "results",
    random: bool = False,
    checks: "Sequence[Check]" = (),
    rows: Callable[..., Any] | None = None,
    real: Callable[..., Any] | None = None,
    refuses: Callable[[dict[str, Any]], None] | None = None,
    generation: int = 1,
    numpy: str | Ufunc | None = None,
    called: Sequence[str | tuple[str, ...]] = (),
    collective: bool = False,
) -> Any:
    """Decorator: a pure function over jax arrays becomes a class, named after it, and further spellings.

    A name that begins with an underscore is of an operator that no public name stands for: it is in no face, and
    messages and graphs show it without the underscore.

    Args:
        kernel (Callable): The function, where the decorator is written without arguments. Default: None.
        functional (str): Name of the functional form, inputs first and attributes behind. Default: None, there is none.
        methods (tuple): Names of Tensor methods that are this form; ``__radd__`` and the like swap their operands.
        aliases (tuple): Further class names.
        writes (tuple): Names of Tensor inputs that are updated in place; the function returns their new values first.
        returns (str): "results" returns what the function gives beyond the new values (the first written box when
            there is nothing), "written" returns the written boxes.
        random (bool): Whether the function takes a JAX key before everything else.
        checks (Sequence[checks.Check]): What indices and labels among the inputs have to keep to.
        rows (Callable): Of the static inputs, where the first input is a table whose gradient falls into rows: how,
            see `core.rows.LooksUp`.
        real (Callable): Of the static inputs: the function whose gradient is taken where this one's results are whole
            numbers, None where that is this one; see `core.whole`.
        refuses (Callable): Of the dict of attributes: raises where one forbids another.
        generation (int): Of the functional form and the methods, see `Spelling`. Default: 1.
        numpy (Union[str, Ufunc]): Name of the form in `mindspore.numpy`, for an operator that works element by element;
            `core.ufunc` has words for several names, and for the element types it is computed in. Default: None.
        called (Sequence[Union[str, tuple[str]]]): What MindSpore 2 calls the first arguments of the functional form,
            inputs and then attributes; "" where nothing differs, several names where its versions do. r1.1 took them
            by position alone, so that the first of these names is the one that the signature shows; the declaration's
            own name is taken, too. Default: ().
        collective (bool): Whether it speaks of other devices, see `core.spreading.members`. Default: False.

    Returns:
        Decorator; the function itself is the class's `kernel`.
    """
    if kernel is not None:
        return operator()(kernel)

    def declare(fn):
        cls = class_of(fn, writes, returns, random, checks, rows, refuses, real)
        op = cls.operator
        op.collective = collective
        for key in (cls.__name__, *aliases):
            if key in REGISTRY:
                raise ValueError(f"The operator {key} is declared twice.")
            REGISTRY[key] = op
            spell("class", key, 1, cls, (cls,))
        shown = _called(op, called)
        form = _functional_form(op, functional or (methods[0] if methods else op.name.lower()), shown)
        op.functional, cls.functional = form, staticmethod(form)
        if functional:
            spell("function", functional, generation, form, (cls,))
        for method in methods:
            spell("method", method, generation, _method(op, form, method), (cls,))
        if numpy is not None:
            ufunc = as_given(numpy) if isinstance(numpy, str) else numpy
            for name in ufunc.names:
                of_numpy = form_of(op, name, ufunc)
                _place(of_numpy, op.fn)
                spell("numpy", name, 2, of_numpy, (cls,))
        return cls

    return declare


def class_of(
    fn: Callable[..., Any],
    writes: tuple[str, ...] = (),
    returns: str = "results",
    random: bool = False,
    checks: "Sequence[Check]" = (),
    rows: Callable[..., Any] | None = None,
    refuses: Callable[[dict[str, Any]], None] | None = None,
    real: Callable[..., Any] | None = None,
) -> Any:
    """The class of the operator that `fn` declares, which nothing lists; the arguments are those of `operator`."""
    name = fn.__name__
    op = declared(fn, name.lstrip("_"), writes, returns, random, checks=checks, rows=rows)
    op.refuses, op.real = refuses, real
    readable(fn)
    members = {
        "operator": op,
        "kernel": staticmethod(fn),
        "__wrapped__": staticmethod(fn),  # where inspect looks for the source
        "__firstlineno__": inspect.unwrap(fn).__code__.co_firstlineno,  # where it does from Python 3.13 on
        "__signature__": _Signature(op),
        "__doc__": fn.__doc__,
        "__module__": fn.__module__,
    }
    call = call_of(op)
    if call is not None:
        members["__call__"] = call
    op.primitive = type(name, (DeclaredPrimitive,), members)
    return op.primitive


def with_source_of(fn: Callable[..., Any], kernel: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """`kernel`, which a decorator makes of the written function `fn`, under its name and with its source; inputs and
    attributes stay those of `kernel`."""
    signature = inspect.signature(kernel)
    kernel = functools.wraps(fn)(kernel)
    kernel.__signature__ = signature.replace(parameters=[readable_parameter(p) for p in signature.parameters.values()])
    kernel.__doc__ = doc
    return kernel


def variant(
    cls: type, when: Callable[[dict[str, Any]], bool], writes: tuple[str, ...] = (), random: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the declared class `cls` runs this function instead where `when(attributes)` is true.

    So an operator that writes in place or draws random numbers only with some attributes does not with the others:
    its inputs are then no outputs of a graph, and no key is drawn.

    Args:
        cls (type): A declared class; both have its attributes and its name in the graph.
        when (Callable): Of the dict of attributes.
        writes (tuple): Names of inputs that the function updates.
        random (bool): Whether the function takes a key first.
    """

    def declare(fn):
        op = cls.operator
        op.variant = declared(fn, op.name, writes, "results", random), when
        usual = vars(cls).get("__call__")
        if usual is not None:  # a short way to the kernel, which the variant's calls must not take

            def call(self, *args, **kwargs):
                if self._operator is op:
                    return usual(self, *args, **kwargs)
                return self._operator(self._attributes, args, kwargs)

            cls.__call__ = call
        return fn

    return declare


def _called(op, called):
    """{own name: the one that is shown} of the arguments that MindSpore 2 calls otherwise; `op` learns all of them."""
    shown = {}
    for own, others in zip([i.name for i in op.inputs] + list(op.attributes), called):
        others = _names(others or own)
        op.called.update({other: own for other in others if other != own})
        if others[0] != own:
            shown[own] = others[0]
    return shown


def _functional_form(op, name, shown) -> Callable:
    """The operator as a function: inputs first, attributes as further arguments; `shown` has names of its signature."""
    order = [i.name for i in op.inputs]
    if not op.attributes:
        prim = op.primitive()
        call = type(prim).__call__

        def function(*args, **kwargs):
            return call(prim, *args, **kwargs)
    else:
        cache, key_of = LruCache(), _exact_key if isinstance(op, TracedOperator) else _key
        names = list(op.attributes)

        def function(*args, **kwargs):
            extra = args[len(order) :]
            if kwargs and op.called:
                kwargs = op.by_own_names(kwargs)
            given = {k: kwargs.pop(k) for k in names if k in kwargs} if kwargs else {}
            if extra:
                if len(extra) > len(names):
                    raise TypeError(
                        f"For '{op.name}', at most {len(order) + len(names)} arguments are taken "
                        f"({', '.join(order + names)}), but got {len(args)}."
                    )
                given.update(zip(names, extra))
            key = key_of(given) if given else ()
            try:
                prim = cache.get(key)
            except TypeError:
                key = _exact_key(given)
                prim = cache.get(key)
            if prim is None:
                prim = cache.recall(key)
            if prim is None:
                prim = op.primitive(**given)
                if not any(isinstance(v, Tensor) for v in given.values()):  # its value may change
                    cache.keep(key, prim)
            return prim(*args[: len(order)], **kwargs)

    function.__name__ = function.__qualname__ = name
    function.called = op.called
    doc = op.fn.__doc__ or ""
    for own, other in shown.items():
        doc = doc.replace(f"`{own}`", f"`{other}`").replace(f"**{own}**", f"**{other}**")
    function.__doc__ = doc or None
    _place(function, op.fn)
    function.__signature__ = inspect.Signature(
        [
            p.replace(kind=p.POSITIONAL_OR_KEYWORD, name=shown.get(p.name, p.name))
            for p in _defaults_last(op.signature.parameters.values())
        ]
    )
    return function


def _key(given):
    return tuple([(k, type(v), v) for k, v in given.items()])  # True is not 1 here


def _exact_key(given):
    # A float that is not 0 is its own normal form, as an int is; the call is spared where it can be.
    return tuple([(k, type(v), v if type(v) in _PLAIN and v else hashable(v)) for k, v in given.items()])


_PLAIN = frozenset((int, float, bool, str))


def _defaults_last(parameters):
    """Parameters in a legal order for a signature in which all are positional."""
    parameters = list(parameters)
    return [p for p in parameters if p.default is p.empty] + [p for p in parameters if p.default is not p.empty]


def _method(op, form, name):
    """A Tensor method; binary dunders take what `core.beside` takes, and leave the rest to Python."""
    if not (name.startswith("__") and len(op.inputs) == 2):

        @functools.wraps(form)
        def method(self, *args, **kwargs):
            return form(self, *args, **kwargs)

        method.__name__ = method.__qualname__ = name
        _place(method, op.fn)
        return method
    swap = name.startswith("__r") and name not in ("__rshift__",)
    prim = op.primitive()
    call = type(prim).__call__
    numbers = (Tensor, int, float, complex)

    def method(self, other):
        if not isinstance(other, numbers):
            other = other_operand(other)
            if other is NotImplemented:
                return other
        return call(prim, other, self) if swap else call(prim, self, other)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = op.fn.__doc__
    _place(method, op.fn)
    return method


def _place(function, kernel):
    """Let `inspect`, an editor and ``??`` find the kernel where they look for the source of a generated function."""
    code = inspect.unwrap(kernel).__code__
    function.__wrapped__ = kernel
    function.__module__ = kernel.__module__
    function.__code__ = function.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
