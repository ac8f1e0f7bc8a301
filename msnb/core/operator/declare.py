"""Declarations: `@operator` turns a pure function of arrays into a class, `@spelling` adds a public function or method.

    @operator(functional="reduce_sum")
    def ReduceSum(x, axis: Axis = (), *, keep_dims: Bool = False):
        return jnp.sum(x, axis=axis or None, keepdims=keep_dims)

    @spelling(ReduceSum)
    def sum(input: Tensor, dim=None, keepdim: bool = False, *, dtype=None) -> Tensor:
        return ReduceSum(keepdim)(wide(input, dtype), dim)

`ReduceSum` is then a class. `ReduceSum(True)(x, 1)` runs it on Tensors, `ReduceSum.kernel(x, 1)` is the function of
arrays, `ReduceSum.functional(x, 1)` takes inputs and attributes together. A spelling refers to the operator by its
Python name; nothing is looked up by a string.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msnb.common.kinds import hashable, readable, readable_parameter
from msnb.core.operator.dispatch import call_of
from msnb.core.operator.operator_types import FUNCTIONAL, REGISTRY
from msnb.core.operator.primitive import DeclaredPrimitive
from msnb.core.operator.traced_attributes import make_operator
from msnb.core.operator.ufunc import Ufunc, as_given, form_of
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.operands import other_operand
from msnb.core.tensor.tensor import Tensor, attach

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.operator.value_checks import Check

_Declared = TypeVar("_Declared")


class Spelling(NamedTuple):
    """A public function, method or class through which users call operators.

    Attributes:
        kind (str): "class", "function", "method" (of Tensor) or "numpy".
        name (str): The public name.
        generation (int): 1 for r1.1's signature and defaults, 2 for those of MindSpore 2.
        target (object): The object with that name.
        operators (tuple): The declared classes that it calls.
    """

    kind: str
    name: str
    generation: int
    target: Any
    operators: tuple[Any, ...]


SPELLINGS: dict[tuple[str, str, int], Spelling] = {}  # (kind, name, generation) -> Spelling
NUMPY: dict[str, Callable[..., Any]] = {}  # name in mindspore.numpy -> function


def spell(kind: str, name: str, generation: int, target: Any, operators: tuple[type, ...]) -> None:
    """Register a public name. If both generations have one, the public name gets r1.1's."""
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


def _to_name_tuple(names):
    return (names,) if isinstance(names, str) else tuple(names)


def spelling(
    *operators: type,
    function: str | tuple[str, ...] = (),
    method: str | tuple[str, ...] = (),
    numpy: str | tuple[str, ...] = (),
    generation: int = 2,
) -> Callable[[Any], Any]:
    """Decorator: register a Python function over Tensors as a public way to call `operators`.

    Args:
        operators (type): The declared classes that it calls.
        function (Union[str, tuple[str]]): Its names in `mindspore.ops`. Default: that of the decorated function, if
            neither `method` nor `numpy` is set.
        method (Union[str, tuple[str]]): Names of the Tensor method; a property is attached unchanged.
        numpy (Union[str, tuple[str]]): Names of the function in `mindspore.numpy`.
        generation (int): 1 if signature and defaults are r1.1's, 2 if they are those of MindSpore 2. Default: 2.

    Returns:
        Decorator that returns the function, renamed to the public name.
    """

    def declare(target: _Declared) -> _Declared:
        kinds = {"function": _to_name_tuple(function), "method": _to_name_tuple(method), "numpy": _to_name_tuple(numpy)}
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
    """Decorator: let a function accept further keywords that its signature does not show.

    Args:
        older (Callable): Converts (positional arguments, keyword arguments) to keyword arguments of the signature.
            It is called if a call uses one of `names`, and is needed if more than the name differs. Default: None.
        names (str): Keyword in other versions of MindSpore -> parameter of the function.
    """

    def declare(fn: Any) -> Any:
        @functools.wraps(fn)
        def with_aliases(*args: Any, **kwargs: Any) -> Any:
            aliases = names.keys() & kwargs.keys() if kwargs else ()
            if aliases and older is not None:
                kwargs = older(args, kwargs)
            for other in names.keys() & kwargs.keys() if aliases else ():
                if names[other] in kwargs:
                    raise TypeError(f"For '{fn.__name__}', '{other}' is given twice: it is '{names[other]}', too.")
                kwargs[names[other]] = kwargs.pop(other)
            return fn(*args, **kwargs)

        code = fn.__code__  # `inspect` and editors look for the source here
        with_aliases.__code__ = with_aliases.__code__.replace(
            co_filename=code.co_filename, co_firstlineno=code.co_firstlineno
        )
        with_aliases.called = names
        return with_aliases

    return declare


class _Signature:
    """Descriptor: the signature of a generated class. The class has that of its attributes, an instance that of its
    inputs.
    """

    def __init__(self, op):
        parameters = op.signature.parameters.values()
        attributes = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        required = [i for i, p in enumerate(attributes) if p.default is p.empty]
        optional = [i for i, p in enumerate(attributes) if p.default is not p.empty]
        # The constructor accepts this order too, but Python has no signature with a required parameter after
        # optional ones.
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
    loops: bool = False,
    casts_inputs: bool = True,
) -> Any:
    """Decorator: turn a pure function of jax arrays into a class, named after it, and into further public functions and
    methods.

    A name that begins with an underscore declares an operator without a public name: no re-export module has it, and
    messages and graphs show it without the underscore.

    Args:
        kernel (Callable): The function, if the decorator is used without arguments. Default: None.
        functional (str): Name of the functional form, inputs first, then attributes. Default: None, there is none.
        methods (tuple): Names of Tensor methods with this form; ``__radd__`` and the like swap their operands.
        aliases (tuple): Further names of the class.
        writes (tuple): Names of Tensor inputs that are updated in place; the function returns their new values first.
        returns (str): "written" if a call returns the written Tensors. "results" if it returns the function's results
            after the new values, or the first written Tensor if there are none.
        random (bool): True if the function takes a JAX key as its first argument.
        checks (Sequence[Check]): Checks of indices and labels among the inputs.
        rows (Callable): Takes the static inputs and returns the function of the sparse gradient of the first input, a
            table; see `core.operator.row_gradients`.
        real (Callable): Takes the static inputs and returns the function to differentiate in place of the declared one,
            whose results are integers, or None; see `core.eager.integer_gradients`.
        refuses (Callable): Takes the dict of attributes; raises if one excludes another.
        generation (int): Generation of the functional form and the methods, see `Spelling`. Default: 1.
        numpy (Union[str, Ufunc]): Name of the form in `mindspore.numpy`, for an element-wise operator;
            `core.operator.ufunc` has forms with several names or with other element types. Default: None.
        called (Sequence[Union[str, tuple[str]]]): Names that MindSpore 2 has for the first arguments of the functional
            form, inputs and then attributes; "" for an equal name, several names if its versions differ. r1.1 accepted
            them by position only, so the signature shows the first of these names. The declared name is accepted, too.
            Default: ().
        collective (bool): True if it communicates with other devices. Default: False.
        loops (bool): True if it loops over a sequence of any length: a Ctrl-C then ends it in PYNATIVE mode, too.
            Default: False.
        casts_inputs (bool): False if `Cell.to_float` of MindSpore 2 does not cast its inputs in PYNATIVE mode. Default:
            True.

    Returns:
        Decorator; the function itself is the class's `kernel`.
    """
    if kernel is not None:
        return operator()(kernel)

    def declare(fn):
        cls = class_of(fn, writes, returns, random, checks, rows, refuses, real)
        op = cls.operator
        op.collective, op.loops, op.casts_inputs = collective, loops, casts_inputs
        for key in (cls.__name__, *aliases):
            if key in REGISTRY:
                raise ValueError(f"The operator {key} is declared twice.")
            REGISTRY[key] = op
            spell("class", key, 1, cls, (cls,))
        shown_names = _register_argument_names(op, called)
        form = _make_operator_function(op, functional or (methods[0] if methods else op.name.lower()), shown_names)
        op.functional, cls.functional = form, staticmethod(form)
        if functional:
            spell("function", functional, generation, form, (cls,))
        for method in methods:
            spell("method", method, generation, _make_tensor_method(op, form, method), (cls,))
        if numpy is not None:
            ufunc = as_given(numpy) if isinstance(numpy, str) else numpy
            for name in ufunc.names:
                of_numpy = form_of(op, name, ufunc)
                _set_inspected_source(of_numpy, op.fn)
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
    """Return the class of the operator that `fn` declares, without registering it; arguments as for `operator`."""
    name = fn.__name__
    op = make_operator(fn, name.lstrip("_"), writes, returns, random, checks=checks, rows=rows)
    op.refuses, op.real = refuses, real
    readable(fn)
    members = {
        "operator": op,
        "kernel": staticmethod(fn),
        "__wrapped__": staticmethod(fn),  # inspect looks for the source here
        "__firstlineno__": inspect.unwrap(fn).__code__.co_firstlineno,  # from Python 3.13 on inspect reads this, too
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
    """Return `kernel`, which a decorator derived from the function `fn`, with the name and source of `fn`.

    Its signature stays that of `kernel`.
    """
    signature = inspect.signature(kernel)
    kernel = functools.wraps(fn)(kernel)
    kernel.__signature__ = signature.replace(parameters=[readable_parameter(p) for p in signature.parameters.values()])
    kernel.__doc__ = doc
    return kernel


def variant(
    cls: type, when: Callable[[dict[str, Any]], bool], writes: tuple[str, ...] = (), random: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: make the declared class `cls` run the decorated function instead if `when(attributes)` is true.

    It is for an operator that writes in place or draws random numbers only with some attributes. With other attributes
    a graph then has no additional outputs for the inputs, and no random key is drawn.

    Args:
        cls (type): A declared class; both functions have its attributes and its name in the graph.
        when (Callable): Takes the dict of attributes, returns a bool.
        writes (tuple): Names of inputs that the function updates.
        random (bool): True if the function takes a key first.
    """

    def declare(fn):
        op = cls.operator
        op.variant = make_operator(fn, op.name, writes, "results", random), when
        op.variant[0].loops = op.loops
        fast_call = vars(cls).get("__call__")
        if fast_call is not None:  # the fast path to the kernel, which calls of the variant must not take

            def call(self, *args, **kwargs):
                if self._operator is op:
                    return fast_call(self, *args, **kwargs)
                return self._operator(self._attributes, args, kwargs)

            cls.__call__ = call
        return fn

    return declare


def _register_argument_names(op, called):
    """Return {declared name: shown name} of arguments that MindSpore 2 names differently, and register all their names
    in `op.called`.
    """
    shown_names = {}
    for declared_name, others in zip([i.name for i in op.inputs] + list(op.attributes), called):
        others = _to_name_tuple(others or declared_name)
        op.called.update({other: declared_name for other in others if other != declared_name})
        if others[0] != declared_name:
            shown_names[declared_name] = others[0]
    return shown_names


def _make_operator_function(op, name, shown_names) -> Callable:
    """Return the operator as a function: inputs first, then attributes. `shown_names`: name -> name in its
    signature."""
    order = [i.name for i in op.inputs]
    if not op.attributes:
        prim = op.primitive()
        call = type(prim).__call__

        def function(*args, **kwargs):
            return call(prim, *args, **kwargs)
    else:
        cache, key_of = LruCache(), _make_cache_key if op.traced is None else _make_exact_cache_key
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
                key = _make_exact_cache_key(given)
                prim = cache.get(key)
            if prim is None:
                prim = cache.recall(key)
            if prim is None:
                prim = op.primitive(**given)
                if not any(isinstance(v, Tensor) for v in given.values()):  # the value of a Tensor may change
                    cache.keep(key, prim)
            return prim(*args[: len(order)], **kwargs)

    function.__name__ = function.__qualname__ = name
    function.called = op.called
    doc = op.fn.__doc__ or ""
    for declared_name, other in shown_names.items():
        doc = doc.replace(f"`{declared_name}`", f"`{other}`").replace(f"**{declared_name}**", f"**{other}**")
    function.__doc__ = doc or None
    _set_inspected_source(function, op.fn)
    function.__signature__ = inspect.Signature(
        [
            p.replace(kind=p.POSITIONAL_OR_KEYWORD, name=shown_names.get(p.name, p.name))
            for p in _sort_defaults_last(op.signature.parameters.values())
        ]
    )
    return function


def _make_cache_key(attributes):
    return tuple([(k, type(v), v) for k, v in attributes.items()])  # the type distinguishes True from 1


def _make_exact_cache_key(attributes):
    # Ints and nonzero floats need no conversion by `hashable`; skipping the call saves time.
    return tuple([(k, type(v), v if type(v) in _PLAIN and v else hashable(v)) for k, v in attributes.items()])


_PLAIN = frozenset((int, float, bool, str))


def _sort_defaults_last(parameters):
    """Return the parameters, those with a default last. Python requires this order for positional parameters."""
    parameters = list(parameters)
    return [p for p in parameters if p.default is p.empty] + [p for p in parameters if p.default is not p.empty]


def _make_tensor_method(op, form, name):
    """Return the Tensor method `name`, which calls the function `form`.

    A binary operator such as `__add__` takes the operands that `tensor.operands` converts, and returns NotImplemented
    for others.
    """
    if not (name.startswith("__") and len(op.inputs) == 2):

        @functools.wraps(form)
        def method(self, *args, **kwargs):
            return form(self, *args, **kwargs)

        method.__name__ = method.__qualname__ = name
        _set_inspected_source(method, op.fn)
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
    _set_inspected_source(method, op.fn)
    return method


def _set_inspected_source(function, kernel):
    """Let `inspect`, an editor and ``??`` find the kernel as the source of a generated function."""
    code = inspect.unwrap(kernel).__code__
    function.__wrapped__ = kernel
    function.__module__ = kernel.__module__
    function.__code__ = function.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
