"""Base classes of operators on Python values. In both modes such an operator computes at the call and adds no node to
the graph.

`host_operator` registers such a class as an operator.
"""

import inspect

from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spell
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor


class HostOperator:
    """Registry entry of an operator without a kernel."""

    kernels = None
    random = False
    written = ()
    writes = ()

    def __init__(self, primitive):
        self.primitive = primitive
        self.name = primitive.__name__
        self.fn = primitive.__call__
        self.functional = None
        self.inputs = []
        parameters = list(inspect.signature(primitive.__init__).parameters.values())[1:]
        self.attributes = {p.name: (p.annotation, p.default) for p in parameters}
        self.signature = inspect.Signature(list(inspect.signature(primitive.__call__).parameters.values())[1:])


class HostPrimitive(Primitive):
    """Base class of operators on Python values. An operator has the name of its class without leading underscores."""

    def __init__(self):
        super().__init__(type(self).__name__.lstrip("_"))

    def values_of(self, *tensors):
        """Return Tensors as numpy arrays, for operators whose result shape depends on their values.

        Raises:
            TypeError: If an argument is no Tensor.
            DataDependentShape: If an argument is a tracer, which has no values.
        """
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"For '{self.name}', the inputs should be Tensors, but got {describe(tensor)}.")
        if any(is_tracer(t._array) for t in tensors):
            raise DataDependentShape(self.name, "the shape of the result", "leave it out of what is compiled")
        return [t.asnumpy() for t in tensors]


def host_operator(functional=None, aliases=()):
    """Class decorator: register a Primitive under its name and, as an instance, under `functional`."""

    def declare(cls):
        op = HostOperator(cls)
        for name in (cls.__name__, *aliases):
            if name in REGISTRY:
                raise ValueError(f"The operator {name} is declared twice.")
            REGISTRY[name] = op
            spell("class", name, 1, cls, (cls,))
        if functional:
            op.functional = cls()
            spell("function", functional, 1, op.functional, (cls,))
        return cls

    return declare
