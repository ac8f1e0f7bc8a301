"""Classes and functions for the test cases at the end of an operator's file.

    CASES = [
        case(ReduceSum, F(2, 3, 2), (0, -1), keep_dims=True),
        case(sum_, I(2, 3), 1),
        refused(ValueError, ReduceSum, F(2, 3), 5),
    ]

A case names the class or a spelling, and its arguments: specs of Tensors (`F`, `U`, `I`, `Flags`, `Values`, `Written`),
tuples of specs, and Python values. Every case runs in both modes and in float16 at a large scale, and is compared with
MindSpore's values and gradients. `refused` is one call that raises. An operator without cases is tested on a default
grid: F(2, 3) for each Tensor, and the example of its Kind for every argument without default.

No numbers are drawn here. The tests draw them (tests/ops/operator_rows.py), with a seed from the text of the case.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

CHECKS = ("mindspore", "gradient", "differences", "half", "graph")


class RandomSpec(NamedTuple):
    """Spec of a Tensor with random numbers.

    Attributes:
        maker (str): The function below that created it, which defines the distribution and the repr.
        shape (tuple[int]): Shape of the Tensor.
        low (float): The lower end, inclusive for integers.
        high (float): The upper end, exclusive.
        dtype (str): Element type of the Tensor.
    """

    maker: str
    shape: tuple
    low: float
    high: float
    dtype: str

    def __repr__(self):
        default = globals()[self.maker]()
        options = [
            f"{n}={getattr(self, n)!r}" for n in ("low", "high", "dtype") if getattr(self, n) != getattr(default, n)
        ]
        return f"{self.maker}({', '.join([*map(str, self.shape), *options])})"


def F(*shape, low=-2.0, high=2.0, dtype="float32"):
    """Return a spec of floating point numbers in [low, high), all different."""
    return RandomSpec("F", shape, low, high, dtype)


def F16(*shape, low=-2.0, high=2.0):
    """Return a spec like that of `F`, in float16."""
    return RandomSpec("F16", shape, low, high, "float16")


def U(*shape, low=0.0, high=1.0):
    """Return a spec of floating point numbers in (0, 1), or in another range of positive numbers."""
    return RandomSpec("U", shape, low, high, "float32")


def I(*shape, low=-5, high=6, dtype="int32"):  # noqa: E743 - named like F
    """Return a spec of integers in [low, high). A floating point `dtype` gives floats with ties."""
    return RandomSpec("I", shape, low, high, dtype)


def Flags(*shape):
    """Return a spec of random bools."""
    return RandomSpec("Flags", shape, 0, 2, "bool")


class Values(NamedTuple):
    """Spec of a Tensor with these values: int32 for Python ints, float32 for floats.

    Attributes:
        values (Union[list, int, float, bool]): The numbers, nested as in the Tensor.
        dtype (str): The element type. Default: None, that of the values.
    """

    values: Any
    dtype: str | None = None

    def __repr__(self):
        return f"Values({self.values!r})" if self.dtype is None else f"Values({self.values!r}, {self.dtype!r})"


class Written(NamedTuple):
    """Spec of a Parameter that the operator writes in place.

    Attributes:
        value (Union[RandomSpec, Values]): Value of the Parameter before the call.
    """

    value: Any

    def __repr__(self):
        return f"Written({self.value!r})"


class Case(NamedTuple):
    """Test case: a call of an operator; created by `case`.

    Attributes:
        target (Callable): A declared class, or a spelling: a function over Tensors.
        inputs (tuple): Specs, tuples of specs, and Python values.
        attributes (dict): Constructor arguments of the class, or keyword arguments of a function, also specs of
            Tensors.
        tolerance (float): Relative tolerance against MindSpore's numbers; None for that of the element type.
        variables (tuple): Indices of inputs whose gradient is compared with MindSpore's; None for all floats.
        of (int): Index of the result that is differentiated; None for all that are compared.
        compared (tuple): Indices of results that are compared with MindSpore's; None for all.
        left_out (dict): Skipped checks, each with its reason.
    """

    target: Callable
    inputs: tuple
    attributes: dict
    tolerance: float | None = None
    variables: tuple | None = None
    of: int | None = None
    compared: tuple | None = None
    left_out: dict = {}  # noqa: RUF012 - never written to

    def within(self, tolerance):
        """Return the case with a relative `tolerance`, for values that MindSpore approximates."""
        return self._replace(tolerance=tolerance)

    def wrt(self, *variables, of=None):
        """Return the case with gradients compared only for the inputs `variables`, or only of the result `of`.

        MindSpore does not have the other gradients.
        """
        return self._replace(variables=variables or None, of=of)

    def results(self, *indices):
        """Return the case that compares only the results at `indices`; MindSpore does not define the others."""
        return self._replace(compared=indices)

    def without(self, check, why):
        """Return the case with one of `CHECKS` skipped, for the reason `why`.

        "mindspore" skips every comparison with MindSpore, "gradient" that of gradients, "differences" that of the
        gradient with finite differences, "half" float16, "graph" GRAPH mode.
        """
        if check not in CHECKS:
            raise ValueError(f"A case can do without {', '.join(CHECKS)}, but got {check!r}.")
        return self._replace(left_out={**self.left_out, check: why})


class Refusal(NamedTuple):
    """Test case: a call that raises an error; created by `refused`.

    Attributes:
        error (type): The class of the error.
        target (Callable): A declared class or a function. Without inputs, the constructor raises.
        inputs (tuple): See `Case`.
        attributes (dict): See `Case`.
        says (str): Text that the message contains. Default: None, the name of the operator.
    """

    error: type
    target: Callable
    inputs: tuple
    attributes: dict
    says: str | None = None


def case(target, /, *inputs, **attributes):
    """Return a test case that calls a class, constructed with `attributes`, or a function."""
    return Case(target, inputs, attributes)


def refused(error, target, /, *inputs, says=None, **attributes):
    """Return a test case whose call raises `error` with `says`, by default the operator's name, in its message."""
    return Refusal(error, target, inputs, attributes, says)
