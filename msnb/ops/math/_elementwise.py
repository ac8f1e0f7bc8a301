"""Decorators that declare elementwise operators: checks, conversion, and the common part of their documentation."""

import functools

import jax.numpy as jnp

from msnb.core.operator.declare import operator, with_source_of
from msnb.core.support.type_promotion import broadcast_check, promote
from msnb.ops._check import BOOL, FLOAT, NUMBER, dtype_in
from msnb.ops._upcast import in_float32

_COMMON = """

    Examples:
        {example}
        >>> print({call})
        {shown}
    """

_ONE, _TWO = ("input",), ("input", "other")  # names of the operands in MindSpore 2's functions


def floating(x):
    """Cast `x` to float32 if it holds integers or bool. Return it unchanged otherwise."""
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.float32)


def is_integer(x):
    """Return True if array `x` holds integers or bool."""
    return not jnp.issubdtype(x.dtype, jnp.inexact)


def broadcasting(function):
    """Return `function` of two operands, changed to compute half precision in float32 if their shapes differ.

    The gradient of broadcasting is a sum, whose rounding errors in half precision would be large.
    """
    wide = in_float32(function)
    return functools.wraps(function)(lambda x, y: function(x, y) if x.shape == y.shape else wide(x, y))


def _declare_operator(fn, kernel, doc, spelled, called):
    return operator(**{"called": called, **spelled})(with_source_of(fn, kernel, doc))


def _format_example(name, inputs, type_, output, numpy=None):
    if name.startswith("_"):  # a private operator, whose public form is a function in mindspore.numpy
        call = f"mindspore.numpy.{numpy if isinstance(numpy, str) else numpy.names[0]}"
    else:
        call = f"ops.{name}()"
    values = ", ".join(f"Tensor(np.array({values}), mindspore.{type_})" for values in inputs.values())
    return _COMMON.format(
        example=f">>> {', '.join(inputs)} = {values}", call=f"{call}({', '.join(inputs)})", shown=output
    )


def of_one(
    *,
    x,
    output,
    allowed=FLOAT,
    api2=frozenset(),
    input_description="Numbers",
    result="its element type is that of `x`",
    type_="float32",
    **spelled,
):
    """Return a decorator that declares an elementwise operator of one Tensor.

    Args:
        x (str): Python expression of the Tensor's values in the example.
        output (str): Output of the example.
        allowed (frozenset): Element types. Default: floating point.
        api2 (frozenset): Additional element types in MindSpore 2.
        input_description (str): Description of `x`.
        result (str): Description of the result's element type.
        type_ (str): Element type of the example.
        spelled: See `core.declare.operator`.
    """

    def declare(fn):
        name = fn.__name__

        def kernel(x):
            dtype_in(name.lstrip("_"), "x", x, allowed, api2)
            return fn(x)

        doc = f"""{fn.__doc__}

    Inputs:
        - **x** (Tensor) - {input_description}, of any shape.

    Outputs:
        Tensor of the shape of `x`; {result}.

    Raises:
        TypeError: If `x` is not a Tensor or its element type is not supported."""
        return _declare_operator(
            fn, kernel, doc + _format_example(name, {"x": values}, type_, output, spelled.get("numpy")), spelled, _ONE
        )

    values = x
    return declare


def of_real(*, x, output, allowed=NUMBER, api2=frozenset(), **spelled):
    """Variant of `of_one` for functions of real numbers: integers are cast to float32, and float16 is computed in
    float32."""

    def declare(fn):
        wide = in_float32(fn)
        real = functools.wraps(fn)(lambda x: wide(floating(x)))
        return of_one(
            x=x,
            output=output,
            allowed=allowed,
            api2=api2,
            result="float32 for integers, else the element type of `x`",
            **spelled,
        )(real)

    return declare


def of_two(
    *,
    x,
    y,
    output,
    allowed=NUMBER,
    api2=frozenset(),
    first="The first operand",
    result="its element type is the common one",
    type_="float32",
    **spelled,
):
    """Return a decorator that declares an elementwise operator of two Tensors, with broadcasting and implicit
    conversion.

    Args:
        x (str): Python expression of the first Tensor's values in the example.
        y (str): Python expression of the second Tensor's values.
        output (str): Output of the example.
        allowed (frozenset): Common element types. Default: numbers.
        api2 (frozenset): Additional common element types in MindSpore 2.
        first (str): Description of the first operand.
        result (str): Description of the result's element type.
        type_ (str): Element type of the example.
        spelled: See `core.declare.operator`.
    """

    def declare(fn):
        name = fn.__name__

        def kernel(x, y):
            x, y = promote(x, y, op=name.lstrip("_"))
            dtype_in(name.lstrip("_"), "x", x, allowed, api2)
            return fn(x, y)

        doc = f"""{fn.__doc__}

    The inputs are brought to one element type and broadcast against each other; a Python number takes the element type
    of the other operand.

    Inputs:
        - **x** (Union[Tensor, Number]) - {first}.
        - **y** (Union[Tensor, Number]) - The second operand.

    Outputs:
        Tensor of the broadcast shape; {result}.

    Raises:
        TypeError: If the element types are not supported or do not convert implicitly.
        ValueError: If the shapes do not broadcast."""
        return _declare_operator(
            fn, kernel, doc + _format_example(name, example, type_, output, spelled.get("numpy")), spelled, _TWO
        )

    example = {"x": x, "y": y}
    return declare


def comparison(*, output, **spelled):
    """Return a decorator that declares a comparison of two Tensors with a bool result."""

    def declare(fn):
        name = fn.__name__

        def kernel(x, y):
            return fn(*promote(x, y, op=name))

        doc = _format_comparison_doc(fn, "do not convert implicitly") + _format_example(
            name, {"x": "[1, 2, 3]", "y": "[1, 1, 4]"}, "int32", output
        )
        return _declare_operator(fn, kernel, doc, spelled, _TWO)

    return declare


def logical(*, output, **spelled):
    """Return a decorator that declares a logical operator of two bool Tensors."""

    def declare(fn):
        name = fn.__name__

        def kernel(x, y):
            broadcast_check(x, y, name)
            for argument, value in (("x", x), ("y", y)):
                if value.dtype != bool:
                    dtype_in(name, argument, value, BOOL)
            return fn(x, y)

        values = {"x": "[True, False, True]", "y": "[True, True, False]"}
        doc = _format_comparison_doc(fn, "are not bool") + _format_example(name, values, "bool_", output)
        return _declare_operator(fn, kernel, doc, spelled, _TWO)

    return declare


def _format_comparison_doc(fn, types):
    return f"""{fn.__doc__}

    Inputs:
        - **x** (Union[Tensor, Number, bool]) - The first operand.
        - **y** (Union[Tensor, Number, bool]) - The second operand.

    Outputs:
        Tensor of bool, of the broadcast shape.

    Raises:
        TypeError: If the element types {types}.
        ValueError: If the shapes do not broadcast."""
