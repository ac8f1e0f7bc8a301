"""`Operator`: one declaration, from which the class, the functions and the Tensor methods are built.

Parameters of the declared function: one without annotation is a Tensor input, one with a `Kind` is a static input of
the call, a keyword-only one with a `Kind` is an attribute of the class. An `Operator` is composed of checks of input
values (`value_checks`), a sparse gradient (`row_gradients`) and attributes that are inputs of the program
(`traced_attributes`); most operators have none of the three. docs/architecture.md shows how to add an operator.
"""

import inspect
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import jax
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import unknown
from msnb.common.kinds import Tensors, hashable, kind_of, readable_parameter
from msnb.core.compat.jax_private import copy_array, is_deleted, is_tracer
from msnb.core.eager import float_status, integer_gradients, remat_policy, tape
from msnb.core.eager.kernel import Kernel
from msnb.core.errors.messages import describe, explain_kernel_error
from msnb.core.jaxpr import partial_trace
from msnb.core.jaxpr.op_names import attributes_of as attributes_of  # re-exported
from msnb.core.jaxpr.op_names import graph_name
from msnb.core.operator import row_gradients, value_checks
from msnb.core.operator.autocast import cast_tensor, is_constant
from msnb.core.state import random_stream, trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.parameter import Parameter, check_not_narrowed
from msnb.core.tensor.parameter_view import ParameterView
from msnb.core.tensor.tensor import Tensor, box

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.jaxpr.op_names import GraphName
    from msnb.core.operator.value_checks import Check

REGISTRY: dict[str, Any] = {}  # class name -> Operator, aliases included
# {name: operator or class that a user declared}, the newest one of each name, while it is alive.
USER_OPERATORS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
FUNCTIONAL: dict[str, Any] = {}  # functional name -> function

_thread = trace_state.thread
_new = object.__new__
_SCALARS = frozenset((int, float, bool, complex))
_ABSENT = object()
_REMEDIES = {  # attribute of an object that was passed for a Tensor -> advice
    "create_tuple_iterator": "iterate over it: for x, y in data.create_tuple_iterator()",
    "dense_shape": "operators take its .values, and of a table that Gather reads the gradient is dense",
}


class Input:
    """One positional parameter of an operator: a Tensor, a tuple of Tensors, or a static value."""

    __slots__ = ("name", "kind", "default", "many")

    def __init__(self, name: str, kind: Any, default: Any) -> None:
        self.name: str = name
        self.many: bool = kind is Tensors
        self.kind: Any = None if self.many else kind
        self.default: Any = default


class AttributeInputs(Protocol):
    """Protocol of the attributes of an operator that are inputs of the program, see `traced_attributes`."""

    constants: dict[str, tuple[float, ...]]

    def open(
        self, op: "Operator", attributes: dict[str, Any], is_graph: bool
    ) -> tuple[tuple[str, ...], "Operator"]: ...

    def device_scalars(self, attributes: dict[str, Any], names: Sequence[str]) -> tuple[Any, ...]: ...

    def renew(self) -> "AttributeInputs": ...


class Operator:
    """A declared operator. `declare.operator` creates it and describes the arguments.

    Attributes:
        checks (tuple[Check]): Checks of input values. Each kernel stores the positions of the checked inputs.
        rows (Union[Callable, None]): Sparse gradient of the first input, see `row_gradients`.
        traced (Union[AttributeInputs, None]): Attributes that are inputs of the program.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        name: str,
        writes: tuple[str, ...],
        returns: str,
        random_key: bool,
        checks: "Sequence[Check]" = (),
        rows: Callable[..., Any] | None = None,
    ) -> None:
        self.fn = fn
        self.name = name
        self.writes = writes
        self.random = random_key
        parameters = list(inspect.signature(fn).parameters.values())
        if random_key:
            parameters = parameters[1:]
        self.inputs: list[Input] = [
            Input(
                p.name,
                kind_of(p.annotation),
                _ABSENT if p.default is p.empty else p.default,
            )
            for p in parameters
            if p.kind is not p.KEYWORD_ONLY
        ]
        self.attributes: dict[str, tuple[Any, Any]] = {
            p.name: (kind_of(p.annotation), _ABSENT if p.default is p.empty else p.default)
            for p in parameters
            if p.kind is p.KEYWORD_ONLY
        }
        self.positions: dict[str, int] = {inp.name: i for i, inp in enumerate(self.inputs)}
        self.written: tuple[int, ...] = tuple(self.positions[w] for w in writes)
        self.returns_written: bool = returns == "written"
        self.usual: dict[str, Any] = {p.name: p.default for p in parameters if p.annotation is not p.empty}
        self.called: dict[str, str] = {}  # name in MindSpore 2's function -> name of the parameter
        self.marks: Any = None  # annotations of a Primitive beyond its attributes, see msnb.core.operator.annotations
        self.kernels: LruCache = LruCache()
        self.variant: Any = None  # (another Operator, condition on the attributes), see declare.variant
        self.checks: tuple[Check, ...] = tuple(checks)
        self.rows: Callable[..., Any] | None = rows
        self.traced: AttributeInputs | None = None
        self.real: Any = None  # function to differentiate if results are integers, see core.eager.integer_gradients
        self.loops: bool = False  # True if its kernels loop over a sequence
        self.casts_inputs: bool = True  # False if `Cell.to_float` of MindSpore 2 leaves the inputs to the operator
        self.collective: bool = False  # True if its kernels communicate with other devices
        self.refuses: Any = None  # takes the attributes; raises if one excludes another
        self.defaults: tuple[Any, ...] = self._collect_trailing_defaults()
        self.signature = inspect.Signature([readable_parameter(p) for p in parameters])
        self.plain: bool = (
            not self.written
            and not random_key
            and all(i.kind is None and not i.many and i.default is _ABSENT for i in self.inputs)
        )

    def _collect_trailing_defaults(self):
        """Return the defaults of the last inputs that have one."""
        defaults = []
        for inp in reversed(self.inputs):
            if inp.default is _ABSENT:
                break
            defaults.insert(0, inp.default)
        return tuple(defaults)

    # ------------------------------------------------------------------ attributes
    def bind_attributes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the normal form of constructor arguments: a dict in the order of declaration."""
        names = list(self.attributes)
        if len(args) > len(names):
            raise TypeError(
                f"For '{self.name}', at most {len(names)} attributes are taken "
                f"({', '.join(names) or 'none'}), but got {len(args)}."
            )
        by_name = dict(zip(names, args))
        for key, value in kwargs.items():
            if key not in self.attributes:
                raise TypeError(unknown(self.name, [k for k in kwargs if k not in self.attributes], names, kwargs))
            if key in by_name:
                raise TypeError(f"For '{self.name}', the attribute '{key}' is given twice.")
            by_name[key] = value
        bound = {}
        for key, (kind, default) in self.attributes.items():
            if key in by_name:
                bound[key] = kind(by_name[key], key, self.name)
            elif default is _ABSENT:
                raise TypeError(f"For '{self.name}', the attribute '{key}' is missing.")
            else:
                bound[key] = default
        return bound

    def graph_name(self, settings: dict[str, Any], layout: tuple[Any, ...] | None = None) -> "GraphName":
        """Return the name of a call in a graph, with the settings that differ from the defaults."""
        return graph_name(self.name, settings, self.usual, self.marks, layout)

    # ------------------------------------------------------------------ kernels
    def kernel(
        self, attributes: dict[str, Any], layout: tuple[Any, ...] | None = None, statics: tuple[Any, ...] = ()
    ) -> Kernel:
        """Return the kernel for attributes in their normal form, for a layout of the inputs, and for static inputs.

        `layout` has one entry per input: 1 a Tensor, 0 an absent one, -1 a static value, (n,) a tuple of n Tensors.
        """
        key = (tuple(hashable(v) for v in attributes.values()), layout, tuple(hashable(s) for s in statics))
        kernel = self.kernels.get(key)
        if kernel is None:
            kernel = self.kernels.recall(key) or self.kernels.keep(key, self._make_kernel(attributes, layout, statics))
            if self.collective:
                kernel.join()
            elif self.loops:
                kernel.make_stoppable()
            if self.real is not None and (real := self.real(*statics)) is not None:
                kernel.real = Kernel(kernel.name, real)
        return kernel

    def plain_kernel(self, attributes: dict[str, Any]) -> Kernel | None:
        """Return the kernel of an operator whose inputs are all required Tensors. After them it takes the traced
        attributes as scalars.

        Returns None if such an attribute is a Tensor.
        """
        if self.traced is None:
            return self.kernel(attributes)
        names, opened = self.traced.open(self, attributes, is_graph=False)
        if any(isinstance(attributes[name], Tensor) for name in names):
            return None
        return opened.kernel({name: attributes[name] for name in opened.attributes})

    def select_variant(self, attributes: dict[str, Any]) -> "Operator":
        """Return the operator that runs for these attributes: this one, or its variant."""
        if self.variant is not None and self.variant[1](attributes):
            return self.variant[0]
        return self

    def prepare_call(self, attributes: dict[str, Any], args: tuple[Any, ...]) -> Any:
        """Return (kernel, traced attributes to pass after the arrays) for a call; None if it cannot be cached."""
        op, scalars = self, ()
        if self.traced is not None:
            names, op = self.traced.open(self, attributes, is_graph=False)
            if any(isinstance(attributes[name], Tensor) for name in names):
                return None
            scalars = self.traced.device_scalars(attributes, names)
            attributes = {name: attributes[name] for name in op.attributes}
            args = (*args, *[box(n) if isinstance(n, jax.Array) else n for n in scalars])
        layout, statics = [], []
        for inp, arg in zip(op.inputs, args):
            if inp.kind is not None:
                layout.append(-1)
                statics.append(inp.kind(arg, inp.name, self.name))
            elif inp.many:
                layout.append((len(arg),))
            elif arg is None and inp.default is None:
                layout.append(0)
            else:
                operand(arg, self.name, inp.name)
                layout.append(1)
        return op.kernel(attributes, tuple(layout), tuple(statics)), scalars

    def _make_kernel(self, attributes, layout, statics):
        """Create a kernel with its checks and sparse gradient. It respects the setting of `Primitive.recompute`."""
        kernel = self._make_unchecked_kernel(attributes, layout, statics)
        if self.checks:
            kernel.checked = value_checks.locate_inputs(self, attributes, layout, statics)
        if self.rows is not None and (rows := self.rows(*statics)) is not None:
            kernel.rows = Kernel(kernel.name.gradient, rows)
        is_recomputed = self.marks and self.marks.get("recompute")
        if type(is_recomputed) is not bool:
            return kernel
        wrapped = Kernel(
            kernel.name,
            remat_policy.recompute_in_gradient(kernel.fn)
            if is_recomputed
            else remat_policy.save_in_gradient(kernel.fn),
        )
        wrapped.rows, wrapped.checked = kernel.rows, kernel.checked
        return wrapped

    def _make_unchecked_kernel(self, attributes, layout, statics):
        fn = self.fn
        settings = dict(attributes)
        settings.update({i.name: s for i, s in zip([i for i in self.inputs if i.kind is not None], statics)})
        name = self.graph_name(settings, layout)
        if self.plain and not self.written:
            return Kernel(name, lambda *arrays: fn(*arrays, **attributes) if attributes else fn(*arrays))

        def call_with_layout(*arrays):
            arrays, static = iter(arrays), iter(statics)
            args = [next(arrays)] if self.random else []
            for entry in layout:
                if entry == 1:
                    args.append(next(arrays))
                elif entry == -1:
                    args.append(next(static))
                elif entry == 0:
                    args.append(None)
                else:
                    args.append(tuple(next(arrays) for _ in range(entry[0])))
            out = fn(*args, **attributes)
            return self._cast_written_values(out, args) if self.written else out

        return Kernel(name, call_with_layout)

    def _cast_written_values(self, out, args):
        """Cast new values to the dtype of the Parameter that they replace; MindSpore never widens in-place results."""
        outs = list(out) if isinstance(out, tuple) else [out]
        shift = 1 if self.random else 0
        for i, position in enumerate(self.written):
            target = args[position + shift]
            if outs[i].dtype != target.dtype:
                check_not_narrowed(target.dtype, outs[i].dtype, self.inputs[position].name)
                outs[i] = outs[i].astype(target.dtype)
        return tuple(outs)

    # ------------------------------------------------------------------ calls
    def __call__(self, attributes: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
        """Run the operator on positional `args` with normal-form `attributes`. Takes and returns Tensors."""
        inputs = self.inputs
        if kwargs or len(args) != len(inputs):
            args = self._bind_arguments(args, kwargs or {})
        traced = self.traced
        if traced is not None and traced.constants:
            names, opened = traced.open(self, attributes, is_graph=_thread.frame is not None)
            if names:
                args = (*args, *traced.device_scalars(attributes, names))
                return opened({name: attributes[name] for name in opened.attributes}, args)
        if _thread.compute_dtype is not None and (self.casts_inputs or not _thread.casts_all):
            if self.rows is not None and is_constant(args[0]):
                return self._look_up_rows_then_cast(attributes, args)
            args = in_precision(args, self.written)
        arrays, boxes, layout, statics = [], [], [], []
        for inp, arg in zip(inputs, args):
            if inp.kind is not None:
                layout.append(-1)
                statics.append(inp.kind(arg, inp.name, self.name))
            elif inp.many:
                items = self._to_tensor_list(inp, arg)
                if _thread.compute_dtype is not None:
                    items = in_precision(items)
                layout.append((len(items),))
                boxes.extend(items)
                arrays.extend([operand(i, self.name, inp.name) for i in items])
            elif arg is None and inp.default is None:
                layout.append(0)
            else:
                layout.append(1)
                boxes.append(arg)
                arrays.append(arg._array if type(arg) is Tensor else operand(arg, self.name, inp.name))
        targets = self._find_written_tensors(args) if self.written else ()
        if self.random:
            arrays.insert(0, random_stream.next_key())
            boxes.insert(0, None)
        return self.run(self.kernel(attributes, tuple(layout), tuple(statics)), boxes, arrays, targets)

    def _look_up_rows_then_cast(self, attributes, args):
        """Look up rows of a table, and cast the rows instead of the table to the precision of `Cell.to_float`."""
        dtype, _thread.compute_dtype = _thread.compute_dtype, None
        try:
            out = self(attributes, args)
        finally:
            _thread.compute_dtype = dtype
        return cast_tensor(out, dtype)

    def call_again(self, settings: dict[str, Any], layout: tuple[Any, ...] | None, tensors: Iterable[Any]) -> Any:
        """Repeat a call of this operator with the settings and the layout that a graph has, see `GraphName`.

        Args:
            settings (dict): Attributes and static inputs in normal form; missing ones have their default.
            layout (tuple): Form of each input; None if each is one Tensor.
            tensors (Iterable): The Tensors, with tuples flattened.

        Raises:
            TypeError: If an attribute without a default is missing, or the layout needs more Tensors than there are.
        """
        attributes = self.bind_attributes((), {key: settings[key] for key in self.attributes if key in settings})
        remaining, args = iter(tensors), []
        try:
            for inp, entry in zip(self.inputs, layout or (1,) * len(self.inputs)):
                if entry == -1:
                    args.append(settings.get(inp.name, inp.default))
                elif isinstance(entry, tuple):
                    args.append([next(remaining) for _ in range(entry[0])])
                else:
                    args.append(next(remaining) if entry else None)
        except StopIteration:
            raise TypeError(f"For '{self.name}', inputs are missing; it takes {', '.join(self.positions)}.") from None
        return self.select_variant(attributes)(attributes, args)

    def kernel_of_call(
        self, settings: dict[str, Any], layout: tuple[Any, ...] | None, traced: dict[str, Any] | None = None
    ) -> Kernel:
        """Return the kernel of a call with the settings and the layout that a graph has.

        Args:
            settings (dict): Attributes and static inputs; missing ones have their default.
            layout (tuple): Form of each input; None if each is one Tensor.
            traced (dict): Attributes whose values are traced numbers. Default: None.

        Raises:
            TypeError: If an attribute has another type.
            ValueError: If an attribute has a value that the operator does not take.
        """
        attributes = self.bind_attributes((), {key: settings[key] for key in self.attributes if key in settings})
        if self.refuses is not None:
            self.refuses(attributes)
        if layout is None and not self.plain:
            layout = (1,) * len(self.inputs)
        statics = tuple(
            inp.kind(settings.get(inp.name, inp.default), inp.name, self.name)
            for inp, entry in zip(self.inputs, layout or ())
            if entry == -1
        )
        if traced:
            return self._make_kernel({**attributes, **traced}, layout, statics)
        return self.kernel(attributes, layout, statics)

    def run(self, kernel: Kernel, boxes: Sequence[Any], arrays: Sequence[Any], targets: Sequence[Any] = ()) -> Any:
        """Check the inputs, run `kernel` on `arrays`, record the results as Tensors, and rebind the `targets`."""
        if self.checks:
            value_checks.check_inputs(self, kernel, arrays)
        if kernel.rows is not None and _thread.frame is not None:
            kernel = row_gradients.collecting_kernel(kernel, boxes[0], arrays[0])
        try:
            out = kernel.run(*arrays) if _thread.spread is None else _thread.spread.run(kernel, arrays)
        except BaseException as error:
            return self.handle_error(error, kernel, boxes, arrays, targets)
        if self.checks and self.checks[-1].of_result:
            value_checks.check_result(self, kernel, arrays, out)
        return self.finish(out, kernel, boxes, arrays, targets)

    def finish(
        self, out: Any, kernel: Kernel, boxes: Sequence[Any], arrays: Sequence[Any], targets: Sequence[Any] = ()
    ) -> Any:
        """Wrap the results of `kernel` for `arrays` in Tensors, record them, and rebind the `targets`."""
        if type(out) is not tuple:
            if _thread.frame is None:
                out = copy_if_aliased(out, arrays)
            result = box(out)
            results = (result,)
        else:
            if _thread.frame is None:
                out = tuple([copy_if_aliased(o, arrays) for o in out])
            result = results = tuple([box(o) for o in out])
        if _thread.results_observed:
            if _thread.recording:
                tape.record(kernel, [b._node if isinstance(b, Tensor) else None for b in boxes], arrays, results)
            float_status.note([r._array for r in results])
        if _thread.carriers is not None and (_thread.results_observed or kernel.real is not None):
            integer_gradients.attach_carriers(kernel, arrays, results)
        if not targets:
            return result
        for target, new in zip(targets, results):
            target._rebind_array(new._array)
            target._node = new._node
        rest = results[len(targets) :]
        if self.returns_written or not rest:
            if _thread.frame is None:
                targets = [ParameterView(t) if isinstance(t, Parameter) else t for t in targets]
            return targets[0] if len(targets) == 1 or not self.returns_written else tuple(targets)
        return rest[0] if len(rest) == 1 else rest

    def _find_written_tensors(self, args):
        """Return the Tensors among `args` that the operator writes in place."""
        targets = []
        for position in self.written:
            target = args[position]
            if not isinstance(target, Tensor):
                raise TypeError(
                    f"For '{self.name}', '{self.inputs[position].name}' is written in place and should be "
                    f"a Parameter, but got {describe(target)}."
                )
            targets.append(target)
        return targets

    def _to_tensor_list(self, inp, arg):
        if not isinstance(arg, (tuple, list)):
            raise TypeError(
                f"For '{self.name}', '{inp.name}' should be a tuple or list of Tensors, but got {describe(arg)}."
            )
        return list(arg)

    def handle_error(
        self,
        error: BaseException,
        kernel: Kernel,
        boxes: Sequence[Any],
        arrays: Sequence[Any],
        targets: Sequence[Any] = (),
    ) -> Any:
        """Raise the MindSpore error for an `error` that a kernel raised.

        If a training step of another thread donated the array of a Parameter meanwhile, run the kernel again.
        """
        kernel.recover(error)
        if self.traced is not None:  # the message shows scalars as numbers
            boxes = [b.item() if isinstance(b, jax.Array) and not b.ndim and not is_tracer(b) else b for b in boxes]
        if any(isinstance(b, Parameter) and is_deleted(a) for b, a in zip(boxes, arrays)):
            trace_state.donation_lock.contend()
            with trace_state.donation_lock.lock:
                arrays = [b._array if isinstance(b, Parameter) else a for b, a in zip(boxes, arrays)]
                if not any(map(is_deleted, arrays)):
                    return self.run(kernel, boxes, arrays, targets)
        if any(isinstance(b, Tensor) and b.dtype == mstype.string for b in boxes):
            raise TypeError(f"For '{self.name}', a Tensor of strings is not supported: use asnumpy().") from None
        explained = explain_kernel_error(error, self.name, boxes)
        if _thread.frame is not None:
            partial_trace.record_error(explained, kernel.name, arrays)
        raise explained from None

    def by_own_names(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return keyword arguments with names of MindSpore 2 replaced by the declared names.

        Raises:
            TypeError: If one of them is given by both of its names.
        """
        renamed = {}
        for name, value in kwargs.items():
            declared_name = self.called.get(name, name)
            if declared_name in renamed:
                raise TypeError(f"For '{self.name}', '{name}' is given twice: it is '{declared_name}', too.")
            renamed[declared_name] = value
        return renamed

    def _bind_arguments(self, args, kwargs):
        if len(args) > len(self.inputs):
            raise TypeError(
                f"For '{self.name}', {len(self.inputs)} inputs are taken "
                f"({', '.join(i.name for i in self.inputs)}), but got {len(args)}."
            )
        bound = list(args)
        kwargs = self.by_own_names(kwargs)
        for inp in self.inputs[len(args) :]:
            if inp.name in kwargs:
                bound.append(kwargs.pop(inp.name))
            elif inp.default is not _ABSENT:
                bound.append(inp.default)
            else:
                raise TypeError(
                    f"For '{self.name}', the input '{inp.name}' is missing; "
                    f"it takes {', '.join(i.name for i in self.inputs)}."
                )
        if kwargs:
            raise TypeError(
                f"For '{self.name}', there is no input '{next(iter(kwargs))}'; "
                f"it takes {', '.join(i.name for i in self.inputs)}."
            )
        return bound


def operand(value: Any, op: str, name: str) -> Any:
    """Return the array of one Tensor input. Python numbers are returned unchanged; other objects raise an error."""
    kind = type(value)
    if kind is Tensor:
        return value._array
    if kind in _SCALARS:
        return value
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, jax.Array):
        return value
    if isinstance(value, np.ndarray):
        raise TypeError(
            f"For '{op}', '{name}' should be a Tensor, but got a numpy array of shape {value.shape}; "
            f"wrap it: Tensor({name})."
        )
    if isinstance(value, np.generic) and type(number := value.item()) in _SCALARS:
        return number
    remedy = next((f"; {what}" for sign, what in _REMEDIES.items() if hasattr(value, sign)), "")
    raise TypeError(f"For '{op}', '{name}' should be a Tensor or a number, but got {describe(value)}{remedy}.")


def in_precision(boxes: Sequence[Any], skip: Sequence[int] = ()) -> list[Any]:
    """Cast constant inputs to the precision of `Cell.to_float`, except the positions in `skip`."""
    dtype = _thread.compute_dtype
    return [cast_tensor(b, dtype) if i not in skip and is_constant(b) else b for i, b in enumerate(boxes)]


def copy_if_aliased(array: jax.Array, arrays: Sequence[Any]) -> jax.Array:
    """Return `array`, copied if JAX returned one of the inputs: a Parameter's array must have no other owner."""
    for source in arrays:
        if array is source:
            return copy_array(array)
    return array
