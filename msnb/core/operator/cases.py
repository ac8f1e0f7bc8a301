"""Cases: the rows at the end of an operator's file, which say what it is tried on.

    CASES = [
        case(ReduceSum, F(2, 3, 2), (0, -1), keep_dims=True),
        case(sum_, I(2, 3), 1),
        refused(ValueError, ReduceSum, F(2, 3), 5),
    ]

A row names the class or a spelling by reference and says what it is given: specs of Tensors (`F`, `U`, `I`, `Flags`,
`Values`, `Written`), tuples of specs, and Python values as they are. Every row is run in both modes, in float16 of a
large scale, and beside MindSpore's answers in value and gradient; `refused` is one call that raises. An operator
without rows is tried on the grid: F(2, 3) for each Tensor, and the example of its Kind for everything that has no
default. Nothing is drawn here: the tests do that (tests/ops/operator_rows.py), each row from its own text as the seed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

CHECKS = ("mindspore", "gradient", "differences", "half", "graph")


class Drawn(NamedTuple):
    """A Tensor of numbers that are drawn.

    Attributes:
        maker (str): The function below that makes it: how its numbers are drawn, and how it is written.
        shape (tuple[int]): Its shape.
        low (float): The lower end; a whole number may be it.
        high (float): The upper end, which no number reaches.
        dtype (str): Its element type.
    """

    maker: str
    shape: tuple
    low: float
    high: float
    dtype: str

    def __repr__(self):
        usual = globals()[self.maker]()
        said = [f"{n}={getattr(self, n)!r}" for n in ("low", "high", "dtype") if getattr(self, n) != getattr(usual, n)]
        return f"{self.maker}({', '.join([*map(str, self.shape), *said])})"


def F(*shape, low=-2.0, high=2.0, dtype="float32"):
    """Floating point numbers, of which no two are equal."""
    return Drawn("F", shape, low, high, dtype)


def F16(*shape, low=-2.0, high=2.0):
    """`F` in float16."""
    return Drawn("F16", shape, low, high, "float16")


def U(*shape, low=0.0, high=1.0):
    """Shares: floating point numbers in (0, 1), or another range of positive ones."""
    return Drawn("U", shape, low, high, "float32")


def I(*shape, low=-5, high=6, dtype="int32"):  # noqa: E743 - it stands beside F
    """Whole numbers in [low, high); with a floating point `dtype` they are for ties."""
    return Drawn("I", shape, low, high, dtype)


def Flags(*shape):
    """Some True, some False."""
    return Drawn("Flags", shape, 0, 2, "bool")


class Values(NamedTuple):
    """A Tensor with these values: of Python's ints in int32, of floats in float32.

    Attributes:
        values (Union[list, int, float, bool]): The numbers, nested as the Tensor is.
        dtype (str): The element type; that of the values for None. Default: None.
    """

    values: Any
    dtype: str | None = None

    def __repr__(self):
        return f"Values({self.values!r})" if self.dtype is None else f"Values({self.values!r}, {self.dtype!r})"


class Written(NamedTuple):
    """A Parameter, which the operator writes in place.

    Attributes:
        value (Union[Drawn, Values]): What it holds before.
    """

    value: Any

    def __repr__(self):
        return f"Written({self.value!r})"


class Case(NamedTuple):
    """A call; `case` makes it.

    Attributes:
        target (Callable): A declared class, or a spelling: a function over Tensors.
        inputs (tuple): Specs, tuples of specs, and Python values.
        attributes (dict): What the class is made with; keyword arguments of a function, specs of Tensors among them.
        tolerance (float): How far, relatively, MindSpore's numbers may be; None for that of the element type.
        variables (tuple): Places of the inputs whose gradient is compared with MindSpore's; None for all floats.
        of (int): The result that the gradient is taken of; None for all that are compared.
        compared (tuple): Places of the results that are compared with MindSpore's; None for all.
        left_out (dict): Checks that are not done, and why.
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
        """The row with a tolerance of its own, relative to the largest number: what MindSpore approximates."""
        return self._replace(tolerance=tolerance)

    def wrt(self, *variables, of=None):
        """The row with gradients for these inputs alone, or of this result alone: of others MindSpore has none."""
        return self._replace(variables=variables or None, of=of)

    def results(self, *places):
        """The row with these results alone: the others are nothing that MindSpore promises."""
        return self._replace(compared=places)

    def without(self, check, why):
        """The row without one of `CHECKS`: "mindspore" (nothing is compared with its answers), "gradient" (its
        gradient is not), "differences" (nor is the gradient with finite differences), "half" (float16), "graph"."""
        if check not in CHECKS:
            raise ValueError(f"A case can do without {', '.join(CHECKS)}, but got {check!r}.")
        return self._replace(left_out={**self.left_out, check: why})


class Refusal(NamedTuple):
    """A call that raises; `refused` makes it.

    Attributes:
        error (type): The class of the error.
        target (Callable): A declared class or a function. Without inputs, making the class raises.
        inputs (tuple): See `Case`.
        attributes (dict): See `Case`.
        says (str): Words of the sentence; the name of the operator for None.
    """

    error: type
    target: Callable
    inputs: tuple
    attributes: dict
    says: str | None = None


def case(target, /, *inputs, **attributes):
    """One call of a class, which is made with `attributes`, or of a function."""
    return Case(target, inputs, attributes)


def refused(error, target, /, *inputs, says=None, **attributes):
    """One call that raises `error`, with a sentence that has `says` in it, or else the operator's name."""
    return Refusal(error, target, inputs, attributes, says)
