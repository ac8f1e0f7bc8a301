"""`Cell`: the base class of networks and layers, with Parameters, sub-Cells and the method `construct`.

Its bases are in `_cell/`: `CellTree` has the Parameters and sub-Cells, `StateDictMixin` the state dictionaries of
MindSpore 2, `CallMixin` runs `construct`.
"""

import difflib
import inspect
import itertools
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msnb import context, log
from msnb.common import display_hooks
from msnb.common import dtype as mstype
from msnb.common.hook_handle import HookHandle
from msnb.common.kinds import Bool, NonNegInt, check
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.operator.autocast import cast_tensor, register_cell_tensor
from msnb.core.sharding import constraints
from msnb.core.state import events, trace_state
from msnb.core.transforms.recompute import report_ignored_settings
from msnb.nn._cell import hooks
from msnb.nn._cell.call import CallMixin
from msnb.nn._cell.conversion import check_device, convert_parameters, fill_with_zeros, read_target
from msnb.nn._cell.members import Members
from msnb.nn._cell.state_dict import StateDictMixin

if TYPE_CHECKING:  # used in annotations only
    from collections.abc import Callable, Iterator, ValuesView

    from msnb.core.tensor.parameter import Parameter
    from msnb.core.tensor.tensor import Tensor

_subscribers = events.subscribers
_epoch = trace_state.epoch
_ids = itertools.count()
_set = object.__setattr__


class Cell(CallMixin, StateDictMixin):
    """Base class of every network and layer.

    A subclass creates sub-Cells and Parameters in `__init__` and computes in `construct`. Calling a Cell runs
    `construct`: compiled as one graph in GRAPH mode, operator by operator in PYNATIVE mode.

    Args:
        auto_prefix (bool): If True, Parameters of sub-Cells are named by their paths. Default: True.
        flags (dict): Flags of the Cell, also readable as attributes. Default: None.

    Examples:
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.dense = nn.Dense(3, 2)
        ...     def construct(self, x):
        ...         return self.dense(x)
        >>> Net()(Tensor(np.ones((4, 3), np.float32))).shape
        (4, 2)
    """

    _mime_ = display_hooks.mime
    _hooks: dict[str, dict[int, Any]] | None = None
    IGNORE_LIST = ["_scope", "_cell_init_args", "_auto_prefix", "_cells", "_params", "_programs", "_create_time"]

    if TYPE_CHECKING:  # the mixins annotate these methods with their own classes

        def insert_child_to_cell(self, child_name: str, child_cell: "Cell | None") -> None: ...
        def cells_and_names(
            self, cells: set[int] | None = None, name_prefix: str = ""
        ) -> "Iterator[tuple[str, Cell]]": ...
        def cells(self) -> "ValuesView[Cell]": ...
        def apply(self, fn: "Callable[[Cell], Any]") -> "Cell": ...
        def name_cells(self) -> "OrderedDict[str, Cell]": ...
        def get_sub_cell(self, target: str) -> "Cell": ...

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        _set(self, "_params", Members(self))
        _set(self, "_cells", Members(self))
        values = self.__dict__
        values.update(
            _programs=None,
            _attr_name="",
            _id=next(_ids),
            _auto_prefix=auto_prefix,
            _param_prefix="",
            _scope=None,
            _phase="train",
            _func_graph_flags={},
            _compute=None,
            _hooks=None,
            _recomputed=False,
            _buffers={},
            _state_hooks={},
            training=False,
            requires_grad=False,
            cell_type=None,
            cell_init_args="",
            _has_bprop=None,
            _bprop_debug=False,
            _create_time=next(_ids),
        )
        if trace_state.thread.frame is not None:
            trace_state.thread.frame.trace.cell_changes.created.add(self)
        if flags:
            self.add_flags(**flags)
        if _subscribers.made:
            events.notify("made", self)

    def construct(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the output of this Cell. Every subclass defines this method.

        Raises:
            MissingConstruct: If the subclass does not define it.
        """
        raise MissingConstruct(type(self))

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_programs"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for table in ("_params", "_cells"):
            self.__dict__[table] = Members(self, state[table])
        for value in state.values():
            register_cell_tensor(value)
        self.__dict__["_programs"] = None
        self.__dict__["_id"] = next(_ids)

    # ------------------------------------------------------------------ inspection
    def __dir__(self) -> list[str]:
        own = (name for table in ("_cells", "_params", "_buffers") for name in self.__dict__.get(table, ()))
        names = {*super().__dir__(), *own}
        return sorted(filter(str.isidentifier, names))  # "0" of a SequentialCell cannot be typed as an attribute

    def get_func_graph_proto(self) -> str | None:
        """Return the functional IR of the last compiled program as text, None before the first compilation."""
        programs = [e.program for entries in (self._programs.table.values() if self._programs else ()) for e in entries]
        if not programs:
            return None
        from msnb.ir import api  # a lazy import: most programs show no graph

        return api.text(api.of_program(programs[-1]))

    @property
    def cls_name(self) -> str:
        """Name of the class."""
        return type(self).__name__

    @property
    def create_time(self) -> int:
        """Serial number of the Cell: higher for each Cell that is created later."""
        return self._create_time

    @property
    def param_prefix(self) -> str:
        """Path of the Cell after `update_cell_prefix`."""
        return self._param_prefix

    @property
    def phase(self) -> str:
        """ "train" or "predict", after the last `set_train`."""
        return self._phase

    @phase.setter
    def phase(self, value: str) -> None:
        self.__dict__["_phase"] = value

    @property
    def bprop_debug(self) -> bool:
        """Value that the user has set. It has no effect: custom bprop functions always run as written."""
        return self._bprop_debug

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"'bprop_debug' should be bool, but got {describe(value)}.")
        self.__dict__["_bprop_debug"] = value

    @property
    def support_non_tensor_inputs(self) -> bool:
        """True: `construct` takes numbers and tuples as well as Tensors."""
        return True

    @support_non_tensor_inputs.setter
    def support_non_tensor_inputs(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise ValueError(f"'support_non_tensor_inputs' should be bool, but got {describe(value)}.")

    # ------------------------------------------------------------------ hooks
    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], with_kwargs: bool = False, *, prepend: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, args)` before `construct`. A result other than None, a tuple or one value, replaces the
        inputs. In GRAPH mode the hook is traced once, so it must be a pure function.

        Args:
            hook_fn (Callable): The hook.
            with_kwargs (bool): If True, it is called as `hook_fn(cell, args, kwargs)` and returns (args, kwargs).
                Default: False.
            prepend (bool): True to call it before the hooks that are there. Default: False.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If `hook_fn` is not callable.
        """
        return hooks.add_hook(self, hooks.BEFORE, "register_forward_pre_hook", hook_fn, with_kwargs, is_first=prepend)

    def register_forward_hook(
        self,
        hook_fn: Callable[..., Any],
        with_kwargs: bool = False,
        *,
        prepend: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call `hook_fn(cell, args, output)` after `construct`. A result other than None replaces the output. In
        GRAPH mode the hook is traced once, so it must be a pure function.

        Args:
            hook_fn (Callable): The hook.
            with_kwargs (bool): If True, it is called as `hook_fn(cell, args, kwargs, output)`. Default: False.
            prepend (bool): True to call it before the hooks that are there. Default: False.
            always_call (bool): True to call it with the output None if `construct` raises an error. Default: False.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If `hook_fn` is not callable.
        """
        return hooks.add_hook(
            self,
            hooks.AFTER,
            "register_forward_hook",
            hook_fn,
            with_kwargs,
            is_first=prepend,
            is_always_called=always_call,
        )

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_output)` in every backward pass, before the gradient of this Cell is computed.
        `grad_output` is the tuple of the gradients of its outputs. A returned gradient, or tuple of gradients, replaces
        it.

        Args:
            hook_fn (Callable): The hook.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If `hook_fn` is not callable.
        """
        return hooks.add_hook(self, hooks.BACK_BEFORE, "register_backward_pre_hook", hook_fn)

    def register_backward_hook(
        self, fn: Callable[..., Any] | None = None, *, hook_fn: Callable[..., Any] | None = None
    ) -> HookHandle:
        """Call `fn(cell_id, grad_input, grad_output)` in every backward pass of this Cell. As in r1.1, `grad_input`
        holds the gradients of the outputs, and `grad_output` those of the inputs. A returned gradient replaces the
        gradients of the inputs. A second hook replaces the first. In GRAPH mode the hook is traced once, so it must be
        a pure function.

        In MindSpore 2 (``--api 2``) it is `fn(cell, grad_input, grad_output)`, where `grad_input` holds the gradients
        of the inputs. Several hooks run in the order in which they were added.

        Args:
            fn (Callable): The hook.
            hook_fn (Callable): MindSpore 2's name of `fn`.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If the hook is not callable.
        """
        fn = fn if hook_fn is None else hook_fn
        if api_generations.shared == 1:
            return hooks.add_hook(self, hooks.BACK, "register_backward_hook", fn, replaces=True)
        return hooks.add_hook(self, hooks.BACK, "register_backward_hook", fn, option=True)

    def _hooks_changed(self):
        # A method, because a HookHandle that is pickled with a Cell refers to it.
        if not any(self._hooks.values()):
            self.__dict__["_hooks"] = None
        _epoch.bump()

    # ------------------------------------------------------------------ settings
    def add_flags(self, **flags: Any) -> Self:
        """Set flags of this Cell, which are attributes as well. Returns self."""
        values = self.__dict__
        values["_func_graph_flags"] = {**values.get("_func_graph_flags", {}), **flags}
        values.update(flags)
        if flags.get("fp16"):
            values["_compute"] = np.dtype(np.float16)
        elif flags.get("fp32"):
            values["_compute"] = np.dtype(np.float32)
        elif flags.get("bf16"):
            values["_compute"] = mstype.np_dtype(mstype.bfloat16)
        elif not {"fp16", "fp32", "bf16"}.isdisjoint(flags):
            values["_compute"] = None
        _epoch.bump()
        return self

    def add_flags_recursive(self, **flags: Any) -> Self:
        """Set flags of this Cell and everything below. Returns self."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """Return the flags as a dict."""
        return self._func_graph_flags

    def set_train(self, mode: bool = True) -> Self:
        """Switch this Cell and everything below to training or evaluation. Returns self."""
        phase, has_changed = "train" if mode else "predict", False
        for _, cell in self.cells_and_names():
            values = cell.__dict__
            values["_phase"] = phase
            flags = values["_func_graph_flags"]
            # Each Cell is compared, because sub-Cells may have other flags than their parent.
            if values.get("training") is not mode or flags.get("training") is not mode:
                values["training"] = mode
                values["_func_graph_flags"] = {**flags, "training": mode}
                has_changed = True
        if has_changed:
            _epoch.bump()
        return self

    def set_grad(self, requires_grad: bool = True) -> Self:
        """Mark that gradients of this Cell are taken. Returns self."""
        values = self.__dict__
        if values.get("requires_grad") is not requires_grad:
            values["requires_grad"] = requires_grad
            _epoch.bump()
        return self

    def to_float(self, dst_type: mstype.Type) -> Self:
        """Compute in float16, bfloat16 or float32. The inputs of this Cell and of all Cells below are cast, and so
        are Parameters and Tensor attributes when operators read them. Tensors in a tuple or list attribute are not
        cast. In PYNATIVE mode of MindSpore 2, operators cast their inputs instead, except `cast` and views such as
        `reshape`. Returns self.

        Raises:
            ValueError: If `dst_type` is none of these.
        """
        kinds = {"fp16": mstype.float16, "fp32": mstype.float32, "bf16": mstype.bfloat16}
        if dst_type not in kinds.values():
            allowed = ", ".join(f"mindspore.{kind}".lower() for kind in kinds.values())
            raise ValueError(f"For 'to_float', 'dst_type' should be one of {allowed}, but got {dst_type!r}.")
        return self.add_flags_recursive(**{flag: kind == dst_type for flag, kind in kinds.items()})

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating point and complex Parameters and buffers of this Cell and of all Cells below, in place:
        `to(device=None, dtype=None, non_blocking=False)`, `to(dtype)` or `to(tensor)`. Other element types remain.

        Args:
            device (str): "CPU", "GPU" or "Ascend". No effect: every Parameter is on the device of the context. Default:
                None.
            dtype (mindspore.dtype): A floating point or complex type. Default: None, the types remain.
            tensor (Tensor): A Tensor that has the type.
            non_blocking (bool): No effect: JAX copies asynchronously. Default: False.

        Returns:
            Cell, this Cell.

        Raises:
            TypeError: If `dtype` is no floating point or complex type, or other arguments are passed.
            ValueError: If there is no such device.

        Examples:
            >>> print(nn.Dense(2, 3).to(mindspore.float16).weight.dtype)
            Float16
        """
        convert_parameters(self, read_target("Cell.to", args, kwargs))
        _epoch.bump()
        return self

    def to_empty(self, *, device: str | None = None, recurse: bool = True) -> Self:
        """Fill the Parameters and buffers with zeros; their values are unspecified in MindSpore.

        Args:
            device (str): No effect: every Parameter is on the device of the context. Default: None.
            recurse (bool): True for those of the Cells below, too. Default: True.

        Returns:
            Cell, this Cell.

        Raises:
            ValueError: If there is no such device.
        """
        check_device("Cell.to_empty", device)
        fill_with_zeros(self, check(Bool, recurse, "recurse", "Cell.to_empty"))
        return self

    def cast_inputs(self, inputs: tuple[Any, ...], dst_type: mstype.Type) -> tuple[Any, ...]:
        """Return `inputs` (a tuple) with the float Tensors cast to `dst_type`."""
        return tuple(cast_tensor(i, mstype.np_dtype(dst_type)) for i in inputs)

    def cast_param(self, param: "Parameter") -> "Tensor":
        """Return the Parameter in the precision set by `to_float`."""
        return param if self._compute is None else cast_tensor(param, self._compute)

    def recompute(
        self,
        mode: bool = True,
        *,
        mp_comm_recompute: bool = True,
        parallel_optimizer_comm_recompute: bool = False,
        recompute_slice_activation: bool = False,
        use_reentrant: bool = True,
        output_recompute: bool = False,
        early_stop: bool = True,
        context_fn: Callable[[], Any] | None = None,
    ) -> None:
        """Recompute intermediate values in the backward pass (rematerialization): less memory for more time.

        In GRAPH mode a gradient stores the inputs of this Cell and computes the values up to its outputs again. Random
        numbers, such as masks of Dropout, are drawn once, and Parameters are written once. On CPU XLA may merge the
        two computations and keep the values; it cannot do so for equal Cells in a loop. The result of an operator is
        stored if its ``recompute(False)`` was called. If a Cell defines `bprop`, the inputs of `bprop` are stored. In
        PYNATIVE mode the method has no effect.

        Args:
            mode (bool): False undoes an earlier call. Default: True.
            mp_comm_recompute (bool): Recompute communication as well. No effect; XLA decides. Default: True.
            parallel_optimizer_comm_recompute (bool): Recompute communication of sharded optimizers as well. No effect.
                Default: False.
            recompute_slice_activation (bool): Shard the stored values. No effect. Default: False.
            use_reentrant (bool): The way of PYNATIVE mode. No effect. Default: True.
            output_recompute (bool): Merge adjacent Cells. No effect; XLA decides. Default: False.
            early_stop (bool): Stop as soon as all values are there. No effect; XLA computes what is read. Default:
                True.
            context_fn (Callable): Returns contexts for PYNATIVE mode. No effect. Default: None.

        Raises:
            TypeError: If `mode` is no bool.
        """
        check(Bool, mode, "mode", "Cell.recompute")
        log.unused(
            "Cell.recompute",
            "XLA decides what communication is done again",
            mp_comm_recompute=not mp_comm_recompute,
            parallel_optimizer_comm_recompute=parallel_optimizer_comm_recompute,
            recompute_slice_activation=recompute_slice_activation,
        )
        report_ignored_settings("Cell.recompute", use_reentrant, output_recompute, early_stop, context_fn)
        if context.get_context("mode") == context.PYNATIVE_MODE:
            log.once("recompute() acts in GRAPH mode; in PYNATIVE mode a gradient keeps what its operators need.")
        self.__dict__["_recomputed"] = mode
        _epoch.bump()

    @property
    def pipeline_stage(self) -> int | None:
        """The pipeline stage of this Cell, from 0, or None. It has an effect inside `nn.PipelineCell`.

        Raises:
            TypeError: On assignment of anything but an int.
            ValueError: On assignment of a negative int.
        """
        return self.__dict__.get("_pipeline_stage")

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        self.__dict__["_pipeline_stage"] = check(NonNegInt, value, "pipeline_stage", "Cell")
        _epoch.bump()

    def shard(
        self,
        in_strategy: tuple[tuple[int, ...], ...],
        out_strategy: tuple[tuple[int, ...], ...] | None = None,
        parameter_plan: dict[str, tuple[int, ...]] | None = None,
        device: str = "Ascend",
        level: int = 0,
    ) -> Self:
        """Set the sharding of the inputs, outputs and Parameters of this Cell; the sharding of intermediate values
        follows. It has an effect in GRAPH mode with parallel_mode "semi_auto_parallel" or "auto_parallel". Returns
        self.

        Args:
            in_strategy (tuple): For each input of `construct` a tuple with the number of shards that each of its axes
                is cut into.
            out_strategy (tuple): Such a tuple for each output. Default: None, XLA chooses the sharding.
            parameter_plan (dict): Maps names of Parameters to such tuples. Default: None, chosen by the operators that
                read them.
            device (str): No effect; the context sets the device. Default: "Ascend".
            level (int): No effect; there is only one search algorithm. Default: 0.

        Raises:
            TypeError: If an argument has another type. Shapes and devices are checked when a graph is traced.
        """
        strategies = constraints.check_strategies("Cell.shard", in_strategy, out_strategy, parameter_plan)
        log.unused(
            "Cell.shard", "the context says on which devices a graph runs", device=device != "Ascend", level=level
        )
        if self.__dict__.get("_shard_strategies") not in (None, strategies):
            log.once(f"Cell.shard was called before of this {type(self).__name__}; what was said last holds.")
        self.__dict__["_shard_strategies"] = strategies
        _epoch.bump()
        return self

    def set_jit_config(self, jit_config: Any) -> None:
        """Store a JitConfig. It has no effect: XLA compiles at one level.

        Args:
            jit_config (JitConfig): The settings.
        """
        log.once("set_jit_config() has no effect: XLA compiles at one level.")
        self.__dict__["jit_config_dict"] = dict(getattr(jit_config, "jit_config_dict", None) or {})

    def set_boost(self, boost_type: str) -> Self:
        """Mark a Cell for MindSpore's acceleration, which has no effect here. Returns self.

        Args:
            boost_type (str): "less_bn", "grad_freeze" or "adasum".

        Raises:
            ValueError: If `boost_type` is another string.
        """
        if boost_type not in ("less_bn", "grad_freeze", "adasum"):
            raise ValueError(
                f"For 'set_boost', 'boost_type' should be 'less_bn', 'grad_freeze' or 'adasum', but got {boost_type!r}."
            )
        log.once("set_boost() has no effect: XLA optimizes in any case.")
        return self

    def offload(self, backward_prefetch: str | int = "Auto") -> None:
        """Mark values of this Cell for offloading to the host until the backward pass. No effect; XLA decides.

        Args:
            backward_prefetch (Union[str, int]): Time at which values are copied back. Default: "Auto".

        Raises:
            TypeError: If it is neither "Auto" nor an int.
        """
        if backward_prefetch != "Auto" and type(backward_prefetch) is not int:
            raise TypeError(
                f"For 'offload', 'backward_prefetch' should be 'Auto' or an int, but got {describe(backward_prefetch)}."
            )
        log.once("Cell.offload() has no effect: XLA decides where values are kept; recompute() spares memory.")

    def set_data_parallel(self) -> None:
        """Mark this Cell as data parallel in automatic parallelism, with a flag."""
        self.add_flags_recursive(strategy_gen_mode="data_parallel")

    def set_broadcast_flag(self, mode: bool = True) -> Self:
        """Mark that Parameters are broadcast before data parallel training. Returns self."""
        return self.add_flags_recursive(broadcast_flag=mode)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Self:
        """Set the fusion group of the Parameters' all-reduce. It has no effect: XLA fuses by itself."""
        log.once("set_comm_fusion() has no effect: XLA fuses communication by itself.")
        for param in self.trainable_params(recurse):
            param.comm_fusion = fusion_type
        return self

    def set_auto_parallel(self) -> None:
        """Turn on automatic parallelism for this Cell."""
        self.add_flags(auto_parallel=True)

    def set_parallel_input_with_inputs(self, *inputs: Any) -> None:
        """Store example inputs for the parallel planner."""
        self.__dict__["_parallel_inputs"] = inputs

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Store descriptions of the inputs, such as ``Tensor(shape=[None, 4], dtype=mindspore.float32)``. They have
        no effect: a graph is compiled for each shape.

        Args:
            inputs (Any): One for each input of `construct`.
            kwargs (Any): Descriptions by the name of the input.

        Raises:
            ValueError: If both are given, or `construct` has no input of a name.
        """
        parameters = list(inspect.signature(self.construct).parameters)
        unknown = [name for name in kwargs if name not in parameters]
        if unknown or inputs and kwargs:
            what = f"has no input '{unknown[0]}'" if unknown else "takes them by place or by name, not both"
            raise ValueError(f"For 'set_inputs', the 'construct' of {self.cls_name}({', '.join(parameters)}) {what}.")
        log.once("set_inputs() has no effect: a graph is compiled for each shape that comes.")
        self.__dict__["_expected"] = kwargs or inputs

    def get_inputs(self) -> tuple[Any, ...] | dict[str, Any] | None:
        """Return the arguments of `set_inputs`, or None if it was not called."""
        return self.__dict__.get("_expected")

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Raise an error: parameter servers are not available.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("Parameter servers are not available in msnb yet; train without set_param_ps().")

    def load_parameter_slice(self, params: Any) -> None:
        """Raise an error: Parameters are placed by sharding, and there are no slices to load."""
        raise RuntimeError(
            "load_parameter_slice() is not available: Parameters are sharded by XLA; load the whole "
            "checkpoint with load_param_into_net()."
        )

    def auto_parallel_compile_and_run(self) -> bool:
        """Return False: XLA, not MindSpore's automatic parallelism, plans the calls."""
        return False

    def exec_checkpoint_graph(self) -> None:
        """Do nothing: checkpoints are written from the Parameters, not by a graph."""

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> "dict[Parameter, Parameter]":
        """Compute the initial values that `no_init_parameters` delayed. Returns a dict from each Parameter to
        itself."""
        log.unused("Cell.init_parameters_data", "a Parameter is always whole", auto_parallel_mode=auto_parallel_mode)
        for param in self.get_parameters():
            param._get_stored_array()
        return {param: param for param in self.get_parameters()}


class GraphKernel(Cell):
    """A Cell whose operators should become one kernel. XLA fuses them without it.

    Args:
        auto_prefix (bool): See `Cell`. Default: True.
        flags (dict): See `Cell`. Default: None.
    """


class MissingConstruct(AttributeError, NotImplementedError):
    """Raised when a Cell without `construct` is called. MindSpore 2 raises AttributeError, r1.1 NotImplementedError.

    Args:
        kind (type): Class of the Cell.
    """

    def __init__(self, kind: type) -> None:
        methods = [n for n in dir(kind) if callable(getattr(kind, n)) and not hasattr(Cell, n)]
        close = difflib.get_close_matches("construct", methods, n=1) or [n for n in methods if n == "forward"]
        hint = f" It has '{close[0]}': rename that to 'construct'." if close else " Define it: it computes the outputs."
        super().__init__(f"{kind.__name__} has no method 'construct'.{hint}")
