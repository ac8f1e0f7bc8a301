"""Operators for the control flow of MindSpore's compiler, and small operators on Python values.

Operators that order others return their inputs, because msnb runs operators in program order. Operators of MindSpore's
own graph engine raise an error.
"""

import functools
from typing import Any

from msnb import log
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.abstract_operator import call_abstractly
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.operator.cases import F, refused
from msnb.core.operator.declare import spelling
from msnb.core.state.trace_state import thread
from msnb.core.tensor.tensor import box
from msnb.ops._host import HostPrimitive, host_operator


@host_operator("depend")
class Depend(HostPrimitive):
    """Returns `value` after `expr` has been evaluated.

    Python evaluates `expr` before the call, in both modes, so this operator only returns `value`.

    Inputs:
        - **value** (Tensor) - Value to return.
        - **expr** (Any) - Result of the earlier operator.

    Outputs:
        Tensor, `value` itself.
    """

    def __call__(self, value, expr):
        return value


_ORDER = "has no effect here: operators run in the order in which the program calls them."


@host_operator()
class ControlDepend(HostPrimitive):
    """Declares that one operation runs before another. No effect: operations run in the order of the program.

    Args:
        depend_mode (int): No effect. In MindSpore, 0 orders only the two operations, 1 also the operations that use
            their results. Default: 0.

    Inputs:
        - **src** (Any) - Result of the first operator.
        - **dst** (Any) - Result of the second operator.

    Outputs:
        `src` itself.

    Raises:
        ValueError: If `depend_mode` is not 0 or 1.
    """

    def __init__(self, depend_mode=0):
        super().__init__()
        if isinstance(depend_mode, bool) or depend_mode not in (0, 1):
            raise ValueError(f"For 'ControlDepend', 'depend_mode' should be 0 or 1, but got {describe(depend_mode)}.")
        log.once(f"ControlDepend {_ORDER}")
        self.add_prim_attr("depend_mode", depend_mode)

    def __call__(self, src, dst):
        return src


@spelling(generation=1)
def control_depend(src, dst):
    """Declare that `src` runs before `dst`. No effect: operations run in the order of the program.

    Args:
        src (Any): Result of the first operator.
        dst (Any): Result of the second operator.

    Returns:
        `src` itself.
    """
    log.once(f"control_depend {_ORDER}")
    return src


class _UnsupportedOperator(HostPrimitive):
    """Base class of operators of MindSpore's own graph engine. A call raises an error that names an alternative."""

    instead = ""

    def __call__(self, *args):
        raise NotImplementedError(f"The operator '{self.name}' belongs to MindSpore's graph engine; {self.instead}")


@host_operator("geswitch")
class GeSwitch(_UnsupportedOperator):
    """The data switch of MindSpore's graph engine. Calling it raises NotImplementedError.

    Supported Platforms:
        None
    """

    instead = "write an if statement or ops.select(condition, x, y)."


@host_operator("merge")
class Merge(_UnsupportedOperator):
    """The end of a data switch of MindSpore's graph engine. Calling it raises NotImplementedError.

    Supported Platforms:
        None
    """

    instead = "write an if statement or ops.select(condition, x, y)."


@host_operator()
class Push(_UnsupportedOperator):
    """Sends gradients to a parameter server, which does not exist here. Calling it raises NotImplementedError.

    Args:
        optim_type (str): Optimizer that the server runs. Default: "ApplyMomentum".
        only_shape_indices (list): Inputs of which only shapes are sent. Default: None.

    Supported Platforms:
        None
    """

    instead = "train without set_param_ps: optimizers update Parameters directly."

    def __init__(self, optim_type="ApplyMomentum", only_shape_indices=None):
        super().__init__()
        self.add_prim_attr("optim_type", optim_type)
        self.add_prim_attr("only_shape_indices", only_shape_indices)


@host_operator()
class Pull(_UnsupportedOperator):
    """Fetches weights from a parameter server, which does not exist here. Calling it raises NotImplementedError.

    Supported Platforms:
        None
    """

    instead = "train without set_param_ps: optimizers update Parameters directly."


@host_operator()
class GetNext(_UnsupportedOperator):
    """Fetches data from a queue on the device, which does not exist here. A graph with this operator can be compiled
    and inspected; running it raises NotImplementedError, and so does calling it outside of a graph.

    Args:
        types (list): Element types of the outputs.
        shapes (list): Shapes of the outputs.
        output_num (int): Number of outputs.
        shared_name (str): Name of the queue.

    Supported Platforms:
        None
    """

    instead = "iterate over the dataset, or pass it to Model.train."

    def __init__(self, types, shapes, output_num, shared_name):
        super().__init__()
        for name, value in (
            ("types", types),
            ("shapes", shapes),
            ("output_num", output_num),
            ("shared_name", shared_name),
        ):
            self.add_prim_attr(name, value)

    def __call__(self):
        """Return abstract Tensors in place of the next element. This only works while a graph is traced."""
        if thread.frame is None:
            return super().__call__()
        shapes, types = list(self.attrs["shapes"]), list(self.attrs["types"])
        outputs = call_abstractly(self.name, [], shapes, types, f"{self.instead[0].upper()}{self.instead[1:]}")
        return tuple(map(box, outputs))


@host_operator()
class MakeRefKey(HostPrimitive):
    """Returns the name `tag` of a Parameter, which MindSpore's compiler uses as a key.

    Args:
        tag (str): Name of the Parameter.

    Outputs:
        str, the name.

    Raises:
        TypeError: If `tag` is not a string.
    """

    def __init__(self, tag):
        super().__init__()
        if not isinstance(tag, str):
            raise TypeError(f"For 'MakeRefKey', 'tag' should be a string, but got {describe(tag)}.")
        self.add_prim_attr("tag", tag)

    def __call__(self):
        return self.tag


@host_operator()
class Partial(HostPrimitive):
    """Fixes the first arguments of a function, as `functools.partial`.

    Inputs:
        - **args** (tuple) - The function, then its first arguments.

    Outputs:
        Callable, which takes the remaining arguments.

    Raises:
        TypeError: If the first input is not callable.
    """

    def __call__(self, *args):
        if not args or not callable(args[0]):
            raise TypeError(
                f"For 'Partial', the first input should be callable, but got "
                f"{describe(args[0]) if args else 'nothing'}."
            )
        return functools.partial(*args)


@host_operator("identity")
class identity(HostPrimitive):  # noqa: N801 - MindSpore's own name
    """Return the input unchanged.

    Inputs:
        - **x** (Any) - Any value.

    Outputs:
        `x` itself.
    """

    def __call__(self, x):
        return x


@replaces_in_api2(identity, "it is a function, `ops.identity(x)`", "msnb.ops")
def _identity(x: Any) -> Any:
    """Return the input unchanged.

    Args:
        x (Any): Any value.

    Returns:
        Any, `x` itself.
    """
    return x


@host_operator("check_bprop")
class CheckBprop(HostPrimitive):
    """Checks that gradients have the shapes and element types of the corresponding inputs, and returns the gradients.

    Args:
        prim_to_check (str): Name of the operator for error messages. Default: "".

    Inputs:
        - **input_x** (tuple[Tensor]) - The gradients.
        - **input_y** (tuple[Tensor]) - The inputs.

    Outputs:
        tuple[Tensor], `input_x` itself.

    Raises:
        TypeError: If an input is not a tuple, or element types differ.
        ValueError: If there are fewer gradients than inputs, or shapes differ.
    """

    def __init__(self, prim_to_check=""):
        super().__init__()
        self.add_prim_attr("prim_to_check", prim_to_check)

    def __call__(self, input_x, input_y):
        title = f"Bprop of {self.prim_to_check}"
        for name, value in (("gradients", input_x), ("inputs", input_y)):
            if not isinstance(value, tuple):
                raise TypeError(f"{title}, the {name} should be a tuple, but got {describe(value)}.")
        if len(input_x) < len(input_y):
            raise ValueError(f"{title}, there should be {len(input_y)} gradients, but got {len(input_x)}.")
        for i, (x, y) in enumerate(zip(input_x, input_y, strict=False)):
            if x.shape and y.shape and x.shape != y.shape:
                raise ValueError(f"{title}, gradient {i} should have shape {y.shape}, but got {x.shape}.")
            if x.dtype != y.dtype:
                raise TypeError(f"{title}, gradient {i} should be {y.dtype}, but got {x.dtype}.")
        return input_x


@host_operator()
class Assert(HostPrimitive):
    """Raises an error that shows the values of Tensors if a condition does not hold.

    Args:
        summarize (int): Number of elements of each Tensor to show. Default: 3.

    Inputs:
        - **condition** (Union[Tensor, bool]) - Condition that must be True.
        - **input_data** (Union[tuple[Tensor], list[Tensor]]) - Tensors to print in the error.

    Raises:
        TypeError: If `summarize` is not an int.
        RuntimeError: If the condition does not hold.
    """

    def __init__(self, summarize=3):
        super().__init__()
        if isinstance(summarize, bool) or not isinstance(summarize, int):
            raise TypeError(f"For 'Assert', 'summarize' should be an int, but got {describe(summarize)}.")
        self.add_prim_attr("summarize", summarize)

    def __call__(self, condition, input_data):
        if is_tracer(getattr(condition, "_array", condition)):
            log.once(
                "Assert: the condition is known only when the graph runs, where an operator cannot stop it; write "
                "`assert` or `raise` in construct, or run in PYNATIVE mode."
            )
            return
        if not condition:
            excerpt = "; ".join(str(x.asnumpy().reshape(-1)[: self.summarize]) for x in input_data)
            raise RuntimeError(f"For 'Assert', the condition does not hold; data: {excerpt}")


CASES = [
    refused(NotImplementedError, Merge, F(2, 3), says="select"),
]
