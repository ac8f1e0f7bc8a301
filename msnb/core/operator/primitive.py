"""`Primitive`, the class of objects such as `ops.Conv2D(...)`.

`core.operator.declare` generates a class from each declaration. Users derive from `core.operator.user_primitive`.
"""

from collections.abc import Sequence
from typing import Any, Self

from msnb import context, log
from msnb.common.kinds import Bool, Int, check
from msnb.core.operator.annotations import annotations_of, count_change, with_annotations
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.support.lru_cache import LruCache

__all__ = ["Primitive", "DeclaredPrimitive"]

_new = object.__new__
by_name: dict[str, Any] = {}  # operators that are functions of Python values


class Primitive:
    """An operator with its attributes set, to be called on Tensors.

    Args:
        name (str): Name of the operator.
    """

    _changes = 0  # number of changes of attributes, and of settings such as `recompute`

    def __init__(self, name: str) -> None:
        self.name = name
        self.attrs: dict[str, Any] = {}
        self.init_attrs: dict[str, Any] = {"name": name}
        self._instance_name = None
        self.const_value: Any = None
        self.input_names: list[str] = []
        self.output_names: list[str] = []

    def add_prim_attr(self, name: str, value: Any) -> Self:
        """Set attribute `name` and return self."""
        self.__dict__[name] = value
        self.attrs[name] = value
        self._handle_attribute_change()
        return self

    def del_prim_attr(self, name: str) -> Self:
        """Remove attribute `name` and return self."""
        self.__dict__.pop(name, None)
        self.attrs.pop(name, None)
        self._handle_attribute_change()
        return self

    def _handle_attribute_change(self):
        count_change(self)

    def init_prim_io_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Name the inputs and outputs, as the graph shows them."""
        self.input_names, self.output_names = list(inputs), list(outputs)
        self.attrs["input_names"], self.attrs["output_names"] = self.input_names, self.output_names

    def set_prim_instance_name(self, instance_name: str) -> Self:
        """Name this instance and return self."""
        self._instance_name = instance_name
        return self

    set_instance_name = set_prim_instance_name

    @property
    def instance_name(self) -> str | None:
        """The name set by `set_prim_instance_name`, None before."""
        return self._instance_name

    def set_stage(self, stage: int) -> Self:
        """Set the pipeline stage of this operator, which its node in the graph shows. Returns self."""
        return self.add_prim_attr("stage", stage)

    def set_device(self, device_target: str) -> Self:
        """Set the attribute ``primitive_target``, which its node in the graph shows. All operators run on the device of
        the context; a message says so once if it is another one.

        Args:
            device_target (str): "CPU", "GPU" or "Ascend".

        Returns:
            Primitive, this one.

        Raises:
            RuntimeError: If there is no such device.
        """
        if device_target not in ("CPU", "GPU", "Ascend"):
            raise RuntimeError(f"For '{self.name}', use CPU, GPU or Ascend, not {device_target!r}.")
        current = context.get_context("device_target")
        log.unused(
            "Primitive.set_device", f"all operators run on the {current}", device_target=device_target != current
        )
        return self.add_prim_attr("primitive_target", device_target)

    def place(self, role: str, rank_id: int) -> None:
        """Set the process that runs this operator: the attributes ``ms_role`` and ``rank_id``, which its node in the
        graph shows. msnb trains in one process, of rank 0, so no other rank is accepted.

        Args:
            role (str): "MS_WORKER".
            rank_id (int): 0.

        Raises:
            TypeError: If `rank_id` is not an int.
            ValueError: If there is no such role or rank.
        """
        if role != "MS_WORKER":
            raise ValueError(f"For 'Primitive.place', 'role' should be 'MS_WORKER', but got {role!r}.")
        if check(Int, rank_id, "rank_id", "Primitive.place") != 0:
            raise ValueError(
                f"For 'Primitive.place', there is one process, so 'rank_id' should be 0, but got {rank_id}. "
                "`Primitive.shard` divides an operator among the devices of this process."
            )
        self.add_prim_attr("ms_role", role)
        self.add_prim_attr("rank_id", rank_id)

    def recompute(self, mode: bool = True) -> Self:
        """Recompute this operator in the backward pass of a gradient in GRAPH mode, so that only its inputs are saved.

        Within a recomputed Cell, ``recompute(False)`` saves the results of this operator.

        Args:
            mode (bool): Recompute it if True. Default: True.

        Returns:
            Primitive, this one.

        Raises:
            TypeError: If `mode` is not a bool.
        """
        return self.add_prim_attr("recompute", check(Bool, mode, "mode", "Primitive.recompute"))

    def shard(
        self,
        in_strategy: tuple[tuple[int, ...], ...] | None = None,
        out_strategy: tuple[tuple[int, ...], ...] | None = None,
        *,
        strategy: tuple[tuple[int, ...], ...] | None = None,
    ) -> Self:
        """Set how the tensors of this operator are divided among devices in SEMI_AUTO_PARALLEL mode; its node in the
        graph shows it.

        Args:
            in_strategy (tuple): For each input a tuple with the number of shards of each axis, or the result of a
                `mindspore.parallel.Layout`; None for no strategy.
            out_strategy (tuple): For each output such a tuple. Default: None, derived from the inputs.
            strategy (tuple): `in_strategy` by its name before 2.0.

        Returns:
            Primitive, this one.

        Raises:
            TypeError: If a strategy is not a tuple. Shapes and number of devices are checked when a graph is traced.
            ValueError: If there is an `out_strategy` without an `in_strategy`.
        """
        inputs = in_strategy if strategy is None else strategy
        for sharding in (inputs, out_strategy):
            if sharding is not None and not isinstance(sharding, tuple):
                raise TypeError(f"For '{self.name}', the strategy should be a tuple of tuples, but got {sharding!r}.")
        if out_strategy is not None and inputs is None:
            raise ValueError(f"For '{self.name}', 'out_strategy' goes with an 'in_strategy', but there is none.")
        if out_strategy is not None or "out_strategy" in self.attrs:
            self.add_prim_attr("out_strategy", out_strategy)
        return self.add_prim_attr("strategy", inputs)

    set_strategy = shard  # its name before 1.0

    @property
    def update_parameter(self) -> bool:
        """True if the operator writes one of its inputs."""
        return False

    def __call__(self, *args: Any) -> Any:
        """Call MindSpore's operator of this name, ``Primitive("ReLU")(x)``, with the attributes that were added."""
        function = by_name.get(self.name)
        if function is None:
            op = REGISTRY.get(self.name)
            if op is None:
                raise TypeError(f"There is no operator '{self.name}' to call; derive it from PrimitiveWithInfer.")
            function = op.primitive(**{k: v for k, v in self.attrs.items() if k in op.attributes})
            # Older versions of MindSpore had some inputs as attributes, with an empty list for None.
            inputs = {i.name: self.attrs.get(i.name) for i in op.inputs[len(args) :]}
            return function(*args, **{k: v for k, v in inputs.items() if v is not None and v != []})
        return function(*args)

    def check_elim(self, *args: Any) -> tuple[bool, Any]:
        """Return (False, None): no call is replaced by its input."""
        return False, None

    def __repr__(self) -> str:
        text = ", ".join(f"{k}={v!r}" for k, v in self.attrs.items() if k not in ("input_names", "output_names"))
        return f"Prim[{self.name}]<{text}>" if text else f"Prim[{self.name}]"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = _new(type(self))
        copied.__dict__.update(self.__dict__)
        copied.attrs, copied.init_attrs = dict(self.attrs), dict(self.init_attrs)
        return copied


class DeclaredPrimitive(Primitive):
    """Base of the classes that `@operator` generates."""

    operator: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        op = type(self).operator
        super().__init__(op.name)
        self._bind_arguments(op.bind_attributes(args, kwargs))

    def _bind_arguments(self, attributes):
        op = type(self).operator
        if op.refuses is not None:
            op.refuses(attributes)
        self._attributes = attributes
        self.attrs.update(attributes)
        self.init_attrs.update(attributes)
        self.__dict__.update(attributes)
        self.input_names: list[str] = [i.name for i in op.inputs]
        self._select_operator()
        self._numbers = None  # scalars after the inputs, once a call has moved them to the device

    def _select_operator(self):
        """Select the operator for calls of this Primitive, with the marks of the Primitive."""
        op, attributes = type(self).operator, self._attributes
        marks = annotations_of(self.attrs, op.attributes)
        self._operator = with_annotations(op.select_variant(attributes), marks)
        self._kernel = with_annotations(op, marks).plain_kernel(attributes) if op.plain else None
        self._prepared = LruCache(64)  # prepared calls with static inputs, see core.operator.dispatch

    def add_prim_attr(self, name: str, value: Any) -> Self:
        """Set attribute `name` and return self; an attribute of the operator itself is checked and takes effect."""
        op = type(self).operator
        if name in op.attributes:
            self._bind_arguments({**self._attributes, name: op.attributes[name][0](value, name, op.name)})
            count_change(self)
            return self
        return super().add_prim_attr(name, value)

    def _handle_attribute_change(self):
        self._select_operator()
        count_change(self)

    @property
    def update_parameter(self) -> bool:
        """True if the operator writes one of its inputs."""
        return bool(type(self).operator.written)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(self._attributes, args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        extra = {k: v for k, v in self.__dict__.items() if k not in _CALL_STATE}
        return _rebuild, (type(self).__name__, self._attributes, extra)


_CALL_STATE = frozenset(("_attributes", "_operator", "_kernel", "_numbers", "_prepared"))
_NO_SETTINGS = _CALL_STATE | {"_changes", "_instance_name"}


def settings_of(primitive: DeclaredPrimitive) -> list[tuple[str, Any]]:
    """Return [(name, value)] of all settings of a Primitive in the order in which they were set. The state of its calls
    is not included.
    """
    return [
        (k, v) for k, v in vars(primitive).items() if k not in _CALL_STATE and k not in ("_changes", "_instance_name")
    ]


def _rebuild(name, attributes, extra):
    prim = REGISTRY[name].primitive(**attributes)
    prim.__dict__.update(extra)
    prim._handle_attribute_change()
    return prim


_rebuild.__module__ = "msnb.ops.primitive"  # the public module path in pickles
