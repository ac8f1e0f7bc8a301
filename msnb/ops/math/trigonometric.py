"""Trigonometric and hyperbolic functions, and their inverses."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.core.operator.cases import F, Flags, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.ufunc import angle, angles, real
from msnb.core.support.type_promotion import promote
from msnb.ops._check import ANY
from msnb.ops._numpy import NUMPYS
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.math._elementwise import floating, of_real, of_two


@of_real(x="[0., 1.5707964]", output="[0. 1.]", functional="sin", methods=("sin",), generation=2, numpy=angle("sin"))
def Sin(x):
    """Sine of each element, an angle in radians."""
    return jnp.sin(x)


@of_real(x="[0.]", output="[1.]", functional="cos", methods=("cos",), generation=2, numpy=angle("cos"))
def Cos(x):
    """Cosine of each element, an angle in radians."""
    return jnp.cos(x)


@of_real(x="[0.]", output="[0.]", functional="tan", methods=("tan",), generation=2, numpy=angle("tan"))
def Tan(x):
    """Tangent of each element, an angle in radians."""
    return jnp.tan(x)


@of_real(
    x="[0., 1.]",
    output="[0.        1.5707964]",
    functional="asin",
    methods=("asin", "arcsin"),
    generation=2,
    numpy=angle("arcsin"),
)
def Asin(x):
    """Arc sine of each element."""
    return jnp.arcsin(x)


spelling(Asin, function="arcsin")(Asin.functional)


@operator
@shapes("x dout: *s")
@in_float32
def AsinGrad(x, dout):
    """Gradient of Asin from its input and the cotangent."""
    return dout * lax.rsqrt(1 - x * x)


@of_real(
    x="[1.]",
    output="[0.]",
    functional="acos",
    methods=("acos", "arccos"),
    generation=2,
    numpy=angle("arccos").taking("input"),
)
def ACos(x):
    """Arc cosine of each element."""
    return jnp.arccos(x)


spelling(ACos, function="arccos")(ACos.functional)


@operator
@shapes("x dout: *s")
@in_float32
def ACosGrad(x, dout):
    """Gradient of ACos from its input and the cotangent."""
    return -dout * lax.rsqrt(1 - x * x)


@of_real(x="[0.]", output="[0.]", functional="atan", methods=("atan", "arctan"), generation=2, numpy=angle("arctan"))
def Atan(x):
    """Arc tangent of each element."""
    return jnp.arctan(x)


spelling(Atan, function="arctan")(Atan.functional)


@operator
@shapes("x dout: *s")
@in_float32
def AtanGrad(x, dout):
    """Gradient of Atan from its input and the cotangent."""
    return dout / (1 + x * x)


@of_two(
    x="[0., 1.]",
    y="[1., 1.]",
    output="[0.        0.7853982]",
    functional="atan2",
    methods=("atan2", "arctan2"),
    generation=2,
    numpy=angles("arctan2"),
)
@in_float32
def Atan2(x, y):
    """Angle of the point (y, x) with the first axis, in radians: arctan(x / y) in the quadrant of the point."""
    return jnp.arctan2(floating(x), floating(y))


spelling(Atan2, function="arctan2")(Atan2.functional)


@of_real(x="[0.]", output="[0.]", functional="sinh", methods=("sinh",), generation=2, numpy=angle("sinh"))
def Sinh(x):
    """Hyperbolic sine of each element."""
    return jnp.sinh(x)


@of_real(x="[0.]", output="[1.]", functional="cosh", methods=("cosh",), generation=2, numpy=angle("cosh"))
def Cosh(x):
    """Hyperbolic cosine of each element."""
    return jnp.cosh(x)


@of_real(
    x="[0.]", output="[0.]", functional="asinh", methods=("asinh", "arcsinh"), generation=2, numpy=angle("arcsinh")
)
def Asinh(x):
    """Inverse hyperbolic sine of each element."""
    return jnp.arcsinh(x)


@operator
@shapes("y dout: *s")
@in_float32
def AsinhGrad(y, dout):
    """Gradient of Asinh from its output and the cotangent."""
    return dout / jnp.cosh(y)


@jax.custom_jvp
def _arccosh(x):
    """Return the inverse hyperbolic cosine. Below 1 it is NaN, and so is its gradient; JAX has a gradient below -1."""
    return jnp.arccosh(x)


@_arccosh.defjvp
def _derive_arccosh(primals, tangents):
    y = _arccosh(primals[0])
    return y, tangents[0] / jnp.sinh(y)


@of_real(
    x="[1.]", output="[0.]", functional="acosh", methods=("acosh", "arccosh"), generation=2, numpy=angle("arccosh")
)
def Acosh(x):
    """Inverse hyperbolic cosine of each element."""
    return _arccosh(x)


@operator
@shapes("y dout: *s")
@in_float32
def AcoshGrad(y, dout):
    """Gradient of Acosh from its output and the cotangent."""
    return dout / jnp.sinh(y)


@of_real(
    x="[0.]", output="[0.]", functional="atanh", methods=("atanh", "arctanh"), generation=2, numpy=angle("arctanh")
)
def Atanh(x):
    """Inverse hyperbolic tangent of each element."""
    return jnp.arctanh(x)


@of_real(x="[0.]", output="[1.]", functional="sinc", methods=("sinc",), generation=2, allowed=ANY)
def Sinc(x):
    """Return sin(pi x) / (pi x) of each element, 1 at 0."""
    return jnp.sinc(x)


@operator(functional="hypot", methods=("hypot",), generation=2, numpy=real("hypot"))
def Hypot(input, other):
    """Length of the hypotenuse, sqrt(input**2 + other**2).

    Inputs:
        - **input** (Tensor) - Numbers.
        - **other** (Tensor) - Numbers.

    Outputs:
        Tensor of the broadcast shape, floating point.
    """
    x, y = promote(input, other, op="hypot")
    return in_float32(jnp.hypot)(floating(x), floating(y))


@of_real(
    x="[180.]",
    output="[3.1415927]",
    functional="deg2rad",
    called=(),
    methods=("deg2rad",),
    generation=2,
    numpy=real("deg2rad", "radians"),
)
def _Deg2Rad(x):
    """Convert angles from degrees to radians."""
    return jnp.deg2rad(x)


@of_real(
    x="[1.]",
    output="[57.29578]",
    functional="rad2deg",
    methods=("rad2deg",),
    generation=2,
    numpy=real("rad2deg"),
)
def _Rad2Deg(x):
    """Convert angles from radians to degrees."""
    return jnp.rad2deg(x)


spelling(Asinh, function="arcsinh")(Asinh.functional)
spelling(Acosh, function="arccosh")(Acosh.functional)
spelling(Atanh, function="arctanh")(Atanh.functional)


CASES = [
    *(case(op, F(2, 3, low=-0.9, high=0.9)) for op in (Asin, ACos, Atanh)),
    case(AsinGrad, F(3, low=-0.9, high=0.9), F(3)),
    case(ACosGrad, F(3, low=-0.9, high=0.9), F(3)),
    case(Atan2, F(2, 1, 3), F(4, 1)),
    case(Acosh, F(2, 3, low=1.1, high=4)),
    case(AcoshGrad, F(3, low=0.5), F(3)),
    case(_Deg2Rad, F(2, 3)).without("mindspore", NUMPYS),
    case(_Rad2Deg, F(2, 3)),
    refused(TypeError, Cos, Flags(2)),
]
