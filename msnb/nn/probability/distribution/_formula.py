"""Decorators that make methods of distributions from formulas. A formula computes with Tensors of one shape and dtype.

    @at_value
    def _log_prob(self, value, mean, sd): ...

becomes ``_log_prob(value, mean=None, sd=None)``: the value is checked and cast, missing parameters are taken from the
constructor, and all arguments are broadcast.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from msnb.nn.probability._parameters import CheckTensor, CheckTuple, as_type, check_distribution_name

_check_tensor, _check_tuple = CheckTensor(), CheckTuple()


def _make_argument_binder(formula, required, shape=False):
    """Return a function that binds call arguments to the formula's parameters, and its signature. The first
    `required` arguments are mandatory; missing distribution parameters are None."""
    own = list(inspect.signature(formula).parameters.values())[1:]
    names = own[:required] if not shape else [own[0].replace(default=())]
    optional = [p.replace(default=None) for p in own[len(names) :]]
    signature = inspect.Signature([*names, *optional])

    def bound(args, kwargs):
        arguments = signature.bind(*args, **kwargs)
        arguments.apply_defaults()
        return arguments.args

    return bound, signature


def _make_method(formula, signature, body):
    method = functools.wraps(formula)(body)
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(parameters=[self, *signature.parameters.values()])
    return method


def of_parameters(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that makes a method from a formula of the parameters: ``formula(self, *parameters)``."""
    bound, signature = _make_argument_binder(formula, 0)

    def body(self, *args, **kwargs):
        return formula(self, *self._all_parameters(*bound(args, kwargs)))

    return _make_method(formula, signature, body)


def at_value(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that makes a method from a formula at a value: ``formula(self, value, *parameters)``."""
    bound, signature = _make_argument_binder(formula, 1)

    def body(self, *args, **kwargs):
        value, *bound_parameters = bound(args, kwargs)
        value = as_type(_check_tensor(value, "value"), self._value_cast_dtype)
        return formula(self, value, *self._all_parameters(*bound_parameters))

    return _make_method(formula, signature, body)


def two_distributions(family: str, others: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that makes a method from a formula of two distributions a and b: ``formula(self, *parameters of b,
    *parameters of a)``.

    The first argument of the method is the name of b's family. Only `family` is allowed.

    Args:
        family (str): Name of the family, which the argument `dist` of the method must have.
        others (int): Number of parameters of b.
    """

    def decorate(formula):
        bound, signature = _make_argument_binder(formula, others)
        name = inspect.Parameter("dist", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = list(signature.parameters)

        def body(self, dist, *args, **kwargs):
            check_distribution_name(dist, family)
            bound_args = bound(args, kwargs)
            of_b = [
                as_type(_check_tensor(x, n), self.parameter_type)
                for x, n in zip(bound_args[:others], names[:others], strict=True)
            ]
            return formula(self, *of_b, *self._all_parameters(*bound_args[others:]))

        method = _make_method(formula, signature.replace(parameters=[name, *signature.parameters.values()]), body)
        method.family, method.others = family, others
        return method

    return decorate


def sampling_method(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that makes the method `_sample` from a formula: ``formula(self, shape, *parameters)``, where `shape` is
    the shape of the result.

    The method takes the sample shape, () by default. The result has the sample shape followed by the parameter shape.
    """
    bound, signature = _make_argument_binder(formula, 1, shape=True)

    def body(self, *args, **kwargs):
        shape, *bound_parameters = bound(args, kwargs)
        parameters = self._all_parameters(*bound_parameters)
        full_shape = (*_check_tuple(shape, "shape"), *self._get_sample_shape(*parameters))
        return as_type(formula(self, full_shape, *parameters), self.dtype)

    return _make_method(formula, signature, body)


def cross_entropy_from_kl(entropy: Callable[..., Any], kl_loss: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method for the cross entropy H(a, b) = H(a) + KL(a||b), from methods of `of_parameters` and
    `two_distributions`."""
    of_a, of_both, others = entropy.__wrapped__, kl_loss.__wrapped__, kl_loss.others

    @functools.wraps(of_both)
    def formula(self, *parameters):
        return of_a(self, *parameters[others:]) + of_both(self, *parameters)

    return two_distributions(kl_loss.family, others)(formula)
