"""Operators for debugging a running program: printing, summaries, hooks on gradients."""

import types

import jax
import numpy as np

from msnb import log
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.jaxpr import sown_values
from msnb.core.operator import api_generations
from msnb.core.script import guards
from msnb.core.script.strings import many_devices
from msnb.core.state import trace_state
from msnb.core.support import print_redirect
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms.custom_bprop import with_backward_hook
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator


def at_run_time(function, values):
    """Call function(*values) with concrete Tensors when the compiled program reaches this point. Calls keep the order
    of the program.

    Args:
        function (Callable): A function of as many arguments as there are values.
        values (Sequence): Tensors, concrete or traced, and other values, which are passed unchanged.
    """
    traced = [i for i, v in enumerate(values) if isinstance(v, Tensor) and is_tracer(v._array)]
    if not traced and (trace_state.thread.frame is None or many_devices()):
        function(*values)
        return

    def call(*arrays):
        ready = list(values)
        for index, array in zip(traced, arrays, strict=True):
            ready[index] = Tensor(np.asarray(array))
        function(*ready)

    arrays = [jax.lax.stop_gradient(values[i]._array) for i in traced]
    jax.debug.callback(call, *arrays, ordered=True)


@host_operator("print_")
class Print(HostPrimitive):
    """Prints values, each on its own line, when the program reaches this point, also in a compiled graph. With
    ``context.set_context(print_file_path="print.pb")`` the values are written to that file, which `parse_print` reads.
    In MindSpore 2 a Tensor is printed with its shape and its element type.

    Inputs:
        - **input_x** (Union[Tensor, bool, int, float, str, tuple, list]) - Values to print.

    Examples:
        >>> ops.Print()("x is", Tensor([1, 2], mindspore.int32))
        x is
        [1 2]
    """

    def __call__(self, *input_x):
        flat, rebuild = _flatten_nested_values(input_x)
        at_run_time(lambda *leaves: _print_values(rebuild(leaves)), flat)


def _flatten_nested_values(values):
    """Return the leaves of nested tuples and lists, and a function that rebuilds the structure from other leaves."""
    leaves = []

    def take(value):
        if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
            kind = type(value) if type(value) in (tuple, list) else tuple
            return kind, [take(v) for v in value]
        leaves.append(value)
        return len(leaves) - 1

    shape = take(tuple(values))

    def rebuild(result):
        def put(node):
            return result[node] if isinstance(node, int) else node[0](put(n) for n in node[1])

        return put(shape)

    return leaves, rebuild


def _print_values(values):
    values = list(values)
    if print_redirect.current_target is not None:
        print_redirect.current_target(values)
        return
    show = Tensor.__repr__ if api_generations.shared == 2 else str
    for value in values:
        print(show(value) if isinstance(value, Tensor) else value, flush=True)


_listeners = []


def _has_listeners():
    return bool(_listeners)


def on_summary(listener):
    """Register a listener for the values of summary operators.

    Without listeners, compiled graphs omit summary operators. Such a graph is recompiled when the first listener is
    added, and when the last one is removed. A graph returns the values as extra outputs without waiting for them: the
    computation of the Tensor may still be running when the listener is called. For an operator in a loop, the listener
    gets the last value.

    Args:
        listener (Callable): Called as listener(kind, name, tensor, ran). `kind` is "scalar", "image", "tensor" or
            "histogram". For an operator in a branch or loop, `ran` is a bool array that is True if the operator ran;
            for other operators `ran` is None.

    Returns:
        Callable that removes the listener.
    """
    _listeners.append(listener)
    trace_state.epoch.bump()

    def remove():
        _listeners.remove(listener)
        trace_state.epoch.bump()

    return remove


def _notify_listeners(text, array, ran=None):
    kind, _, name = text.partition(":")
    for listen in list(_listeners):
        listen(kind, name, Tensor(array) if isinstance(array, np.ndarray) else box(array), ran)


sown_values.on_sown(_notify_listeners)


class _Summary(HostPrimitive):
    """Base class of summary operators, which pass a value to the registered listeners."""

    kind = ""

    def _check_shape(self, shape):
        """Raise ValueError if `shape` does not fit this kind of summary."""

    def __call__(self, name, value):
        if not isinstance(name, str):
            raise TypeError(f"For '{self.name}', 'name' should be a string, but got {describe(name)}.")
        if not name:
            raise ValueError(f"For '{self.name}', 'name' should not be empty.")
        tensor_argument(self.name, "value", value)
        self._check_shape(value.shape)
        guards.depend("whether summaries are collected", _has_listeners)
        if not _listeners:
            log.once(
                f"{self.name}: nobody collects summaries; train with a SummaryCollector, or open a SummaryRecord, to "
                f"keep them."
            )
            return
        array = value._array
        if trace_state.thread.frame is None and not is_tracer(array):
            for listen in list(_listeners):
                listen(self.kind, name, value, None)
        else:
            sown_values.sow(f"{self.kind}:{name}", array, ordered=not many_devices())


_SUMMARY_DOC = """Passes {what} to summary collectors, such as `SummaryRecord`. It costs nothing without a collector.

    In a loop of a graph it passes the last value. In a branch it passes a value only if the branch runs.

    Inputs:
        - **name** (str) - Name of the value, not empty.
        - **value** (Tensor) - {shape}.

    Raises:
        TypeError: If `name` is not a string or `value` not a Tensor.
        ValueError: If `name` is empty or the shape of `value` does not fit.
    """


@host_operator()
class ScalarSummary(_Summary):
    kind = "scalar"
    __doc__ = _SUMMARY_DOC.format(what="a number", shape="Of shape () or (1,)")

    def _check_shape(self, shape):
        if shape not in ((), (1,)):
            raise ValueError(f"For 'ScalarSummary', 'value' should have shape () or (1,), but got {shape}.")


@host_operator()
class ImageSummary(_Summary):
    kind = "image"
    __doc__ = _SUMMARY_DOC.format(what="images", shape="Of shape (N, C, H, W)")

    def _check_shape(self, shape):
        if len(shape) != 4:
            raise ValueError(f"For 'ImageSummary', 'value' should have 4 dimensions, but got shape {shape}.")


@host_operator()
class TensorSummary(_Summary):
    kind = "tensor"
    __doc__ = _SUMMARY_DOC.format(what="a Tensor", shape="Of at least 1 dimension")

    def _check_shape(self, shape):
        if not shape:
            raise ValueError("For 'TensorSummary', 'value' should have at least 1 dimension, but got a scalar.")


@host_operator()
class HistogramSummary(_Summary):
    kind = "histogram"
    __doc__ = _SUMMARY_DOC.format(what="a Tensor for a histogram", shape="Of at least 1 dimension")

    def _check_shape(self, shape):
        if not shape:
            raise ValueError("For 'HistogramSummary', 'value' should have at least 1 dimension, but got a scalar.")


@host_operator()
class InsertGradientOf(HostPrimitive):
    """Replaces the gradient of a Tensor by f(gradient) in the backward pass.

    Args:
        f (Callable): Function of the gradient that returns a gradient of the same shape and type.

    Inputs:
        - **input_x** (Tensor) - Any Tensor.

    Outputs:
        Tensor equal to `input_x`.

    Raises:
        TypeError: If `f` is not callable.
    """

    def __init__(self, f):
        super().__init__()
        if not callable(f):
            raise TypeError(f"For 'InsertGradientOf', 'f' should be callable, but got {describe(f)}.")
        self.add_prim_attr("f", f)

    def __call__(self, input_x):
        tensor_argument("InsertGradientOf", "input_x", input_x)

        def back(cotangents):
            result = self.f(cotangents[0])
            return [cotangents[0] if result is None else result]

        return with_backward_hook([input_x], back)[0]


@host_operator()
class HookBackward(HostPrimitive):
    """Calls a hook with the gradients of Tensors in the backward pass. The result of the hook replaces the gradient.

    Args:
        hook_fn (function): Called with a tuple that has the gradient, or with (cell_id, grad_input, grad_output) if
            `cell_id` is given. It returns the new gradient, or None to keep the gradient.
        cell_id (str): Name of the Cell that the hook belongs to. Default: "".

    Inputs:
        - **inputs** (Tensor) - Any Tensors.

    Outputs:
        The same Tensors.

    Raises:
        TypeError: If `hook_fn` is not a Python function.

    Examples:
        >>> def hook(grad):
        ...     print(grad)
        >>> net = lambda x, y: ops.HookBackward(hook)(x * y) * y
        >>> print(ops.GradOperation()(net)(Tensor(1.0), Tensor(3.0)))
        (Tensor(shape=[], dtype=Float32, value= 3),)
        9.0
    """

    def __init__(self, hook_fn, cell_id=""):
        super().__init__()
        if not isinstance(hook_fn, (types.FunctionType, types.MethodType)):
            raise TypeError(f"For 'HookBackward', 'hook_fn' should be a Python function, but got {describe(hook_fn)}.")
        self.add_prim_attr("cell_id", cell_id)
        self.hook_fn = hook_fn

    def __call__(self, *inputs):
        for value in inputs:
            if not isinstance(value, Tensor):
                raise TypeError(f"For 'HookBackward', the inputs should be Tensors, but got {describe(value)}.")

        def back(cotangents):
            gradients = tuple(cotangents)
            result = self.hook_fn(self.cell_id, gradients, gradients) if self.cell_id else self.hook_fn(gradients)
            if result is None:
                return list(cotangents)
            return list(result) if isinstance(result, (tuple, list)) else [result]

        outputs = with_backward_hook(list(inputs), back)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
