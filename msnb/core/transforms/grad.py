"""The public gradients: `GradOperation` as in r1.1, `grad` and `value_and_grad` as in 2.x."""

import copy
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from msnb import context
from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.core.eager.kernel import Kernel
from msnb.core.errors.data_dependent_shape import runs_eagerly
from msnb.core.errors.messages import describe
from msnb.core.operator.api_generations import current_generation, differs_in_api2
from msnb.core.program import program_cache
from msnb.core.state import trace_state
from msnb.core.support.weak_identity import ObjectKey
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms.differentiate import Gradient, is_number

_thread = trace_state.thread
_state = context._state
_NON_TENSORS = (int, float, complex, str, bytes, type(None), mstype.Type)  # types that neither are nor hold Tensors


@differs_in_api2(
    "of several inputs, those that are no Tensors and hold none get no gradient; "
    "one Parameter, not in a tuple, has a gradient that is not in a tuple",
    given="get_all",
)
class GradOperation:
    """Factory of the gradient function of a Cell or function.

    Args:
        get_all (bool): True for gradients with respect to all inputs, False for the first only. In MindSpore 2, if
            there are several inputs, those without Tensors have no gradient in the result. Default: False.
        get_by_list (bool): True for gradients with respect to the Parameters given as `weights`. Together with
            `get_all` the result is a pair (gradients of inputs, gradients of weights). Default: False.
        sens_param (bool): True if the last argument of the gradient function is the cotangent of the output. If False,
            the cotangent is ones. Default: False.

    Raises:
        TypeError: If an argument is not a bool.

    Examples:
        >>> grad = ops.GradOperation()
        >>> print(grad(lambda x: x * x * x)(Tensor(2, mindspore.float32)))
        12.0
    """

    @answered
    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'GradOperation', '{name}' should be bool, but got {describe(value)}.")
        self.get_all: bool = get_all
        self.get_by_list: bool = get_by_list
        self.sens_param: bool = sens_param
        self._generation = current_generation()

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> Callable[..., Any]:
        if not callable(fn):
            raise TypeError(f"For 'GradOperation', 'fn' should be a Cell or a function, but got {describe(fn)}.")
        one_weight = self._generation == 2 and isinstance(weights, Parameter)
        if weights is not None or self.get_by_list:
            weights = _to_parameter_tuple(weights, fn)
        return _GradFunction(self, fn, weights, one_weight)

    def __repr__(self) -> str:
        return f"GradOperation(get_all={self.get_all}, get_by_list={self.get_by_list}, sens_param={self.sens_param})"


class _GradFunction:
    """The gradient function of one function or Cell, with the flags of a `GradOperation`."""

    def __init__(self, operation, fn, weights, one_weight):
        self.flags = (operation.get_all, operation.get_by_list, operation.sens_param)
        self.fn = fn
        self.weights = weights if operation.get_by_list else None
        self.one_weight = one_weight
        self.of_tensors = operation._generation == 2 and operation.get_all
        self.positions = None if operation.get_all else ((0,) if not operation.get_by_list else ())

    def __call__(self, *args, **kwargs):
        if kwargs and self.flags[0]:
            args, kwargs = self._move_keywords_to_positions(args, kwargs)
        this = self._select_tensor_inputs(args) if self.of_tensors else self
        if _thread.frame is not None or _state.mode != context.GRAPH_MODE:
            return this._compute_gradients(*args, **kwargs)
        return program_cache.call(*this._graph_call(args, kwargs, with_root=True))

    def _move_keywords_to_positions(self, args, kwargs):
        """Return (args, kwargs) with keyword arguments moved to their positions, because they have gradients, too."""
        sens = args[-1:] if self.flags[2] and "sens" not in kwargs else ()
        inputs = args[: len(args) - len(sens)]
        names = [name for name in self.argument_names[len(inputs) :] if name != "sens"]
        following = list(itertools.takewhile(kwargs.__contains__, names))
        rest = {name: value for name, value in kwargs.items() if name not in following}
        return (*inputs, *[kwargs[name] for name in following], *sens), rest

    def _select_tensor_inputs(self, args):
        """Return a copy that differentiates only inputs that contain Tensors, or this gradient if all inputs do."""
        inputs = args[:-1] if self.flags[2] else args
        positions = tuple([i for i, arg in enumerate(inputs) if _contains_tensors(arg)])
        if not positions or len(positions) == len(inputs):
            return self
        restricted = copy.copy(self)
        restricted.positions = positions
        return restricted

    def _graph_call(self, args, kwargs, with_root=False) -> Any:
        """Return (fn, args, kwargs, name, extra) for `program_cache`; the program is stored with the differentiated
        function.
        """
        if hasattr(self.fn, "_bind_keywords_to_positions") and kwargs:
            args, kwargs = self.fn._bind_keywords_to_positions(args, kwargs)
        root, more = program_owner(self.fn)
        call = (self._run_in_root_scope, args, kwargs, "Grad", self.key() + more)
        return (root, *call) if with_root else call

    def key(self):
        """Return the part of a program's key that distinguishes this gradient from others of the same function."""
        return "grad", self.flags, self.positions, parameter_keys(self.weights), self.one_weight

    @runs_eagerly
    def _run_in_root_scope(self, *args, **kwargs):
        with jax.named_scope("Default"):
            return self._compute_gradients(*args, **kwargs)

    @property
    def argument_names(self):
        """Names of the inputs, the cotangent last."""
        names = list(getattr(self.fn, "argument_names", None) or program_cache.parameter_names(self.fn))
        return names + ["sens"] if self.flags[2] else names

    @property
    def _programs(self):
        return program_cache.programs_of(program_owner(self.fn)[0])

    def _compute_gradients(self, *args, **kwargs):
        get_all, get_by_list, sens_param = self.flags
        sens = None
        if sens_param:
            if "sens" in kwargs:
                sens = kwargs.pop("sens")
            elif not args:
                raise TypeError(
                    "With sens_param=True the last argument should be the cotangent of the output, "
                    "but the gradient function was called without arguments."
                )
            else:
                *args, sens = args
        positions = self.positions if args else None if get_all else ()
        if not args and not get_by_list:
            return ()
        _, grads, weight_grads = Gradient(self.fn, positions, self.weights)(tuple(args), kwargs, sens)
        if get_by_list:
            weight_grads = weight_grads[0] if self.one_weight else weight_grads
            return (_drop_missing_gradients(grads), weight_grads) if get_all else weight_grads
        return _drop_missing_gradients(grads) if get_all else grads[0]


def _drop_missing_gradients(grads):
    """Drop the entries that are None. MindSpore returns no gradient for an input that is neither Tensor nor number."""
    return tuple(g for g in grads if g is not None)


def _to_parameter_tuple(weights, fn):
    """Return `weights` as a tuple of Parameters; if it is None, the trainable Parameters of the Cell `fn`."""
    if weights is None:
        if not hasattr(fn, "trainable_params"):
            raise TypeError("With get_by_list=True, 'weights' should be a ParameterTuple, but none is given.")
        return tuple(fn.trainable_params())
    if isinstance(weights, Parameter):
        return (weights,)
    weights = tuple(weights)
    for weight in weights:
        if not isinstance(weight, Parameter):
            raise TypeError(f"'weights' should hold Parameters, but got {describe(weight)}.")
    return weights


def parameter_keys(params: Sequence[Parameter] | None) -> tuple[int, ...] | None:
    """Return the keys of Parameters, part of a program's key; None for None."""
    return None if params is None else tuple([p.key for p in params])


def program_owner(fn: Callable[..., Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return (owner of the programs of `fn`, part of the key that identifies `fn` among its functions).

    Programs of a method belong to its object and are freed with it.
    """
    if isinstance(fn, (_GradFunction, _DerivedFunction)):
        root, more = program_owner(fn.fn)
        return root, ("of", *fn.key()) + more
    if hasattr(fn, "_programs"):
        return fn, ()
    instance = getattr(fn, "__self__", None)
    if instance is not None and hasattr(fn, "__func__"):
        return instance, (ObjectKey(fn.__func__),)
    return fn, ()


class _DerivedFunction:
    """The function that `grad` and `value_and_grad` return."""

    def __init__(self, fn, position, weights, has_aux, with_value, sens_param=False):
        self.fn, self.has_aux, self.with_value, self.sens_param = fn, has_aux, with_value, sens_param
        self.weights = None if weights is None else _to_parameter_tuple(weights, fn)
        self.one_weight = isinstance(weights, Parameter)
        if isinstance(position, tuple) and len(position) == 1:  # a single gradient is returned without a tuple
            (position,) = position
        self.position = position
        self.positions = () if position is None else (position,) if isinstance(position, int) else tuple(position)

    def __call__(self, *args, **kwargs):
        if kwargs and any(p >= len(args) - self.sens_param for p in self.positions):
            args, kwargs = self._move_keywords_to_positions(args, kwargs)
        this = self._select_tensor_inputs(args)
        if _thread.frame is not None or _state.mode != context.GRAPH_MODE:
            return this._compute_gradients(*args, **kwargs)
        return program_cache.call(program_owner(this.fn)[0], *this._graph_call(args, kwargs))

    def _move_keywords_to_positions(self, args, kwargs):
        """Return (args, kwargs), with keyword arguments that follow the positional ones moved to their positions."""
        inputs, sens = (args[:-1], args[-1:]) if self.sens_param else (args, ())
        names = self.argument_names[len(inputs) :]
        following = list(itertools.takewhile(kwargs.__contains__, names))
        rest = {name: value for name, value in kwargs.items() if name not in following}
        return (*inputs, *[kwargs[name] for name in following], *sens), rest

    def _select_tensor_inputs(self, args):
        """If there are several inputs, return a copy that differentiates only those that contain Tensors.

        MindSpore does the same. If all of them contain Tensors, return this gradient.
        """
        if not isinstance(self.position, tuple):
            return self
        positions = tuple([p for p in self.position if p not in range(len(args)) or _contains_tensors(args[p])])
        if not positions or len(positions) == len(self.position):
            return self
        restricted = copy.copy(self)
        restricted.positions = positions
        restricted.position = positions[0] if len(positions) == 1 else positions
        return restricted

    def _graph_call(self, args, kwargs):
        """Return (fn, args, kwargs, name, extra) for `program_cache`; the program is stored with the differentiated
        function.
        """
        return self._run_in_root_scope, args, kwargs, "Grad", self.key() + program_owner(self.fn)[1]

    @property
    def argument_names(self):
        """Names of the inputs."""
        return list(getattr(self.fn, "argument_names", None) or program_cache.parameter_names(self.fn))

    @property
    def _programs(self):
        return program_cache.programs_of(program_owner(self.fn)[0])

    def key(self):
        """Return the part of a program's key that distinguishes this gradient from others of the same function."""
        flags = self.one_weight, self.has_aux, self.with_value, self.sens_param
        return "derived", self.position, parameter_keys(self.weights), *flags

    @runs_eagerly
    def _run_in_root_scope(self, *args, **kwargs):
        with jax.named_scope("Default"):
            return self._compute_gradients(*args, **kwargs)

    def _compute_gradients(self, *args, **kwargs):
        sens = None
        if self.sens_param:
            if not args:
                raise TypeError("With sens_param=True the last argument should be the cotangent of the output.")
            *args, sens = args
        gradient = Gradient(self.fn, self.positions, self.weights, self.has_aux)
        value, grads, weight_grads = gradient(tuple(args), kwargs, sens)
        gradients = []
        if self.position is not None:
            gradients.append(grads[0] if isinstance(self.position, int) else grads)
        if self.weights is not None:
            gradients.append(weight_grads[0] if self.one_weight else weight_grads)
        result = gradients[0] if len(gradients) == 1 else tuple(gradients)
        if self.with_value:
            return value, result
        return (result, value[1:]) if self.has_aux else result


def _contains_tensors(arg):
    return any(not (isinstance(leaf, _NON_TENSORS) or _is_traced_python_number(leaf)) for leaf in flatten(arg)[0])


def _is_traced_python_number(leaf):
    """Return True for a Tensor that represents a Python number; in a graph numbers are inputs."""
    return _thread.frame is not None and isinstance(leaf, Tensor) and is_number(leaf)


def grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Return the gradient function of `fn`.

    Args:
        fn (Union[Cell, function]): The function to differentiate.
        grad_position (Union[None, int, tuple]): Positions of the differentiated inputs; None to differentiate only
            `weights`. Of several inputs, those without Tensors have no gradient in the result. An int, or a tuple with
            one position, gives a gradient that is not in a tuple. Default: 0.
        weights (Union[ParameterTuple, Parameter, list]): Parameters to differentiate by as well. Default: None.
        has_aux (bool): Differentiate the first output only. Default: False.
        return_ids (bool): True to return each gradient as a pair of its identifier, which is the position of the input
            or the name of the Parameter, and the gradient. `ops.get_grad` finds a gradient in them. Default: False.
        sens_param (bool): True if the last argument of the gradient function is the cotangent of the output. If False,
            the cotangent is ones. Default: False.

    Returns:
        Callable with the arguments of `fn`, and the cotangent after them if `sens_param` is True.

    Examples:
        >>> print(grad(lambda x: x * x)(Tensor(3.0)))
        6.0
    """
    return _make_gradient_function(fn, grad_position, weights, has_aux, False, return_ids, sens_param)


def value_and_grad(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable[..., Any]:
    """Return a function that returns the outputs of `fn` and its gradients; see `grad`."""
    return _make_gradient_function(fn, grad_position, weights, has_aux, True, return_ids, sens_param)


def _make_gradient_function(fn, position, weights, has_aux, with_value, return_ids, sens_param):
    if not callable(fn):
        raise TypeError(f"'fn' should be a Cell or a function, but got {describe(fn)}.")
    if position is None and weights is None:
        raise ValueError("'grad_position' and 'weights' cannot both be None.")
    if position == ():
        raise RuntimeError("'grad_position' should have at least one position; use None for gradients of weights only.")
    for p in (position,) if isinstance(position, int) else position or ():
        if not isinstance(p, int) or isinstance(p, bool):
            raise TypeError(f"'grad_position' should be an int or a tuple of int, but got {position!r}.")
    derived = _DerivedFunction(fn, position, weights, has_aux, with_value, sens_param)
    return _add_gradient_ids(derived) if return_ids else derived


def _add_gradient_ids(derived):
    """Return `derived` with an identifier next to each gradient."""

    def named(ids, grads):
        return tuple(zip(ids, grads, strict=True)) if isinstance(ids, tuple) else (ids, grads)

    def function(*args, **kwargs):
        result = derived(*args, **kwargs)
        grads = result[1] if derived.with_value else result[0] if derived.has_aux else result
        ids = []
        if derived.position is not None:
            ids.append(derived._select_tensor_inputs(args).position)
        if derived.weights is not None:
            names = tuple([p.name for p in derived.weights])
            ids.append(names[0] if derived.one_weight else names)
        grads = named(ids[0], grads) if len(ids) == 1 else tuple(map(named, ids, grads))
        if derived.with_value:
            return result[0], grads
        return (grads, *result[1:]) if derived.has_aux else grads

    return function


def get_grad(gradients: Any, identifier: int | Parameter) -> Tensor:
    """Return one gradient of those that `grad` returns with ``return_ids=True``.

    Args:
        gradients (tuple): The result of the gradient function.
        identifier (Union[int, Parameter]): The position of an input, or a Parameter.

    Returns:
        Tensor, the gradient.

    Raises:
        TypeError: If `identifier` is neither an int nor a Parameter, or `gradients` is not a tuple.
        RuntimeError: If there is no gradient for it.

    Examples:
        >>> gradients = ops.grad(lambda x, y: x * y, (0, 1), return_ids=True)(Tensor(2.0), Tensor(3.0))
        >>> print(ops.get_grad(gradients, 1))
        2.0
    """
    if isinstance(identifier, bool) or not isinstance(identifier, (int, Parameter)):
        raise TypeError(
            f"For 'get_grad', 'identifier' should be an int or a Parameter, but got {describe(identifier)}."
        )
    if not isinstance(gradients, tuple):
        raise TypeError(f"For 'get_grad', 'gradients' should be a tuple, but got {describe(gradients)}.")
    ident = identifier.name if isinstance(identifier, Parameter) else identifier
    gradient = _find_gradient_by_id(gradients, ident)
    if gradient is None:
        raise RuntimeError(f"For 'get_grad', there is no gradient for {ident!r}; was it made with return_ids=True?")
    return gradient


def _find_gradient_by_id(gradients, ident):
    """Return the gradient for an identifier in nested pairs (identifier, gradient), or None."""
    if len(gradients) == 2 and isinstance(gradients[0], (int, str)):
        return gradients[1] if type(gradients[0]) is type(ident) and gradients[0] == ident else None
    matches = (_find_gradient_by_id(item, ident) for item in gradients if isinstance(item, tuple))
    return next((item for item in matches if item is not None), None)


def stop_gradient(value: Any) -> Any:
    """Return Tensors with the same values, through which no gradient flows.

    Args:
        value (Union[Tensor, tuple, list, dict]): A Tensor, or a collection with Tensors; anything else is returned
            unchanged.
    """
    if isinstance(value, Tensor):
        return box(_stop.call(value._array))
    leaves, rebuild = flatten(value)
    if len(leaves) == 1 and leaves[0] is value:
        return value
    return rebuild([box(_stop.call(v._array)) if isinstance(v, Tensor) else v for v in leaves])


_stop = Kernel("StopGradient", jax.lax.stop_gradient)
