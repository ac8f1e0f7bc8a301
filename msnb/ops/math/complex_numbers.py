"""Operators on complex numbers and on their real and imaginary parts."""

import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Ints
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.operator.cases import F, Flags, I, Values, case, refused
from msnb.core.operator.declare import operator, spelling, with_source_of
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, COMPLEX, FLOAT, axis_in, dtype_in, same_dtype, tensor_argument
from msnb.ops._shapes import shapes
from msnb.ops._subgradients import magnitude
from msnb.ops.array.join import Stack

_PART = """{summary}

    Inputs:
        - **input** (Tensor) - {given}, of any shape.

    Outputs:
        Tensor of the shape of `input`{result}.

    Raises:
        TypeError: If `input` is not a Tensor or its element type is not supported.
    """
_OF_COMPLEX = "; complex64 gives float32, complex128 gives float64"


def _declare_component_operator(
    allowed=ANY, input_description="Complex or other numbers", result=_OF_COMPLEX, **spelled
):
    """Return a decorator that declares an operator of complex numbers. The decorated function returns one component of
    each element.
    """

    def declare(take):
        name = take.__name__

        def kernel(input):
            dtype_in(name, "input", input, allowed)
            return take(input)

        doc = _PART.format(summary=take.__doc__, given=input_description, result=result)
        return operator(generation=2, **spelled)(with_source_of(take, kernel, doc))

    return declare


@_declare_component_operator(functional="real")
def Real(x):
    """The real part of each element; a real number is returned unchanged."""
    return jnp.real(x)


@_declare_component_operator(functional="imag")
def Imag(x):
    """The imaginary part of each element, 0 for a real number."""
    return jnp.imag(x)


@_declare_component_operator(functional="conj", methods=("conj",), result=" and its element type")
def Conj(x):
    """The complex conjugate of each element; a real number is returned unchanged."""
    return jnp.conj(x)


@_declare_component_operator(COMPLEX, "Complex numbers", functional="angle", methods=("angle",))
def Angle(x):
    """The angle of each complex number with the positive real axis, in radians."""
    return jnp.angle(x)


@_declare_component_operator(COMPLEX, "Complex numbers")
def ComplexAbs(x):
    """The magnitude of each complex number."""
    return magnitude(x)


spelling(Real, method="real", generation=1)(
    property(lambda self: Real.functional(self), doc="The real part of each element.")
)
spelling(Imag, method="imag", generation=1)(
    property(lambda self: Imag.functional(self), doc="The imaginary part of each element.")
)


@differs_in_api2("it is a method and no property")
@spelling(Real, method="real", generation=2)
def _tensor_real(self: Tensor) -> Tensor:
    """The real part of each element."""
    return Real.functional(self)


@differs_in_api2("it is a method and no property")
@spelling(Imag, method="imag", generation=2)
def _tensor_imag(self: Tensor) -> Tensor:
    """The imaginary part of each element."""
    return Imag.functional(self)


@operator
def Complex(real, imag):
    """Make complex numbers from their real and imaginary parts.

    Inputs:
        - **real** (Tensor) - Real parts, float32 or float64.
        - **imag** (Tensor) - Imaginary parts, of the element type and shape of `real`.

    Outputs:
        Tensor of complex64 or complex128, of the shape of the parts.

    Raises:
        TypeError: If the parts are not float32 or float64, or differ in their type.
        ValueError: If the shapes do not broadcast.

    Examples:
        >>> print(ops.Complex()(Tensor([1.], mindspore.float32), Tensor([2.], mindspore.float32)))
        [1.+2.j]
    """
    return _make_complex("Complex", real=real, imag=imag)


def _make_complex(op, **components):
    for name, part in components.items():
        dtype_in(op, name, part, _COMPONENT_TYPES)
    same_dtype(op, **components)
    real, imag = components.values()
    try:
        jnp.broadcast_shapes(real.shape, imag.shape)
    except ValueError:
        raise ValueError(f"For '{op}', the shapes should broadcast, but got {real.shape} and {imag.shape}.") from None
    return lax.complex(*jnp.broadcast_arrays(real, imag))  # real + 1j * imag would give NaN for infinite parts


_COMPONENT_TYPES = frozenset(t for t in FLOAT if t.itemsize in (4, 8))


@operator(functional="polar", generation=2)
@shapes("abs angle: ~s")
def Polar(abs, angle):
    """Make complex numbers from their magnitudes and angles.

    Inputs:
        - **abs** (Tensor) - Magnitudes, float32 or float64.
        - **angle** (Tensor) - Angles in radians, of the element type and shape of `abs`.

    Outputs:
        Tensor of complex64 or complex128.

    Raises:
        TypeError: If the inputs are not float32 or float64, or differ in their type.
        ValueError: If the shapes do not broadcast.
    """
    for name, part in (("abs", abs), ("angle", angle)):
        dtype_in("Polar", name, part, _COMPONENT_TYPES)
    same_dtype("Polar", abs=abs, angle=angle)
    return _make_complex("Polar", abs=abs * jnp.cos(angle), angle=abs * jnp.sin(angle))


@operator
def ConjugateTranspose(x, perm: Ints):
    """Permute the dimensions of a Tensor, and conjugate its elements.

    Inputs:
        - **x** (Tensor) - Numbers, of any shape.
        - **perm** (tuple[int]) - For each dimension of the result, the index of the same dimension of `x`.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If `perm` is not a tuple of int.
        ValueError: If `perm` is not a permutation of the dimensions of `x`.
    """
    dtype_in("ConjugateTranspose", "x", x, ANY)
    axes = tuple(axis_in("ConjugateTranspose", a, x.ndim, "perm") for a in perm)
    if sorted(axes) != list(range(x.ndim)):
        raise ValueError(
            f"For 'ConjugateTranspose', 'perm' should be a permutation of the {x.ndim} dimensions of 'x', but got "
            f"{perm}."
        )
    return jnp.conj(jnp.transpose(x, axes))


@spelling(Real, Imag)
def view_as_real(input: Tensor) -> Tensor:
    """Convert complex numbers to real ones with a new last dimension of length 2: real part and imaginary part.

    Args:
        input (Tensor): Complex numbers.

    Returns:
        Tensor of shape (*input.shape, 2), float32 or float64.

    Raises:
        TypeError: If `input` is no Tensor of complex numbers.
    """
    if not tensor_argument("view_as_real", "input", input).is_complex():
        raise TypeError(f"For 'view_as_real', 'input' should be made of complex numbers, but got {input.dtype}.")
    return Stack(axis=-1)([Real.functional(input), Imag.functional(input)])


_SOME = Values([1 + 2j, 3 - 1j, -2 + 0.5j], "complex64")
_SINGLE = "no complex number has parts in float16"
CASES = [
    *(case(part, values) for part in (Real, Imag, Conj) for values in (_SOME, I(3))),
    *(case(part, F(2, 3)).without("gradient", "MindSpore's is complex") for part in (Real, Imag, Conj)),
    *(case(part, _SOME) for part in (Angle, ComplexAbs)),
    case(Complex, F(2, 3), F(2, 3)).without("half", _SINGLE),
    case(Polar, F(4, low=0.0), F(4)).without("half", _SINGLE),
    case(ConjugateTranspose, Values([[1 + 2j, 3 - 1j]], "complex64"), (1, 0)),
    case(ConjugateTranspose, F(2, 3), (1, 0)),
    case(view_as_real, _SOME),
    refused(TypeError, Angle, F(2)),
    refused(TypeError, view_as_real, F(2)),
    refused(TypeError, Complex, I(2), I(2)),
    refused(ValueError, ConjugateTranspose, F(2, 3), (1, 1)),
    refused(TypeError, ComplexAbs, Flags(2)),
]
