"""`Cell`: a node of a network, with Parameters, sub-Cells and a `construct` that computes."""

import difflib
import inspect
import itertools
from collections import OrderedDict

import jax
import numpy as np

from msnb import context, log
from msnb.common import dtype as mstype
from msnb.core import autodiff, compile, events, script, trace
from msnb.core.errors import describe
from msnb.core.marks import changes
from msnb.core.parameter import Parameter, ParameterTuple
from msnb.core.precision import cast_tensor
from msnb.core.tensor import Tensor, is_traced
from msnb.core.tree import flatten

_asked = events.asked
_thread = trace.thread
_state = context._state
_epoch = trace.epoch
_GRAPH = context.GRAPH_MODE
_ids = itertools.count()
_set = object.__setattr__

# What a Cell keeps for itself: never part of the question whether a compiled program still fits.
_INTERNAL = frozenset(
    (
        "_params",
        "_cells",
        "_programs",
        "_attr_name",
        "_id",
        "_auto_prefix",
        "_param_prefix",
        "_scope",
        "_phase",
        "cell_init_args",
        "_create_time",
        "_bprop_debug",
        "_parallel_inputs",
        "_func_graph_flags",
        "_has_bprop",
    )
)


class Cell:
    """Base class of every network and layer.

    A subclass creates sub-Cells and Parameters in `__init__` and computes in `construct`. Calling a Cell runs
    `construct`: compiled as one graph in GRAPH mode, operator by operator in PYNATIVE mode.

    Args:
        auto_prefix (bool): Whether Parameters of sub-Cells are renamed after the path that leads to them.
            Default: True.
        flags (dict): Flags of the Cell, also readable as attributes. Default: None.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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

    IGNORE_LIST = ["_scope", "_cell_init_args", "_auto_prefix", "_cells", "_params", "_programs", "_create_time"]
    _compile_always = False  # compiled at top level in PYNATIVE mode as well; built-in optimizers are
    _programs = None

    def __init__(self, auto_prefix=True, flags=None):
        _set(self, "_params", OrderedDict())
        _set(self, "_cells", OrderedDict())
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
            _hook=None,
            training=False,
            requires_grad=False,
            cell_type=None,
            cell_init_args="",
            _has_bprop=None,
            _bprop_debug=False,
            parameter_layout_dict={},
            _create_time=next(_ids),
        )
        if flags:
            self.add_flags(**flags)

    # ------------------------------------------------------------------ calling
    def __call__(self, *args, **kwargs):
        if _asked.entered:
            return events.called(self, self._step(), self._call, args, kwargs)
        if _thread.frame is not None:
            return self._traced_call(args, kwargs)
        if _state.mode == _GRAPH or self._compile_always:
            return compile.call(self, *self._graph_call(args, kwargs))
        return self._run(args, kwargs)

    def _call(self, args, kwargs):
        """What `__call__` does, whoever listens."""
        if _thread.frame is not None:
            return self._traced_call(args, kwargs)
        if _state.mode == _GRAPH or self._compile_always:
            return compile.call(self, *self._graph_call(args, kwargs))
        return self._run(args, kwargs)

    def _step(self):
        """Part of the scope path that this Cell is; the outermost one goes by its class."""
        around = events.current()
        return _scope_name(self._attr_name if around is not None and around.scope else "", type(self).__name__)

    def construct(self, *inputs, **kwargs):
        """The computation of this Cell; every subclass defines it.

        Raises:
            MissingConstruct: Here, where there is none.
        """
        raise MissingConstruct(type(self))

    def _graph_call(self, args, kwargs):
        """(fn, args, kwargs, name, extra) for core.compile."""
        if kwargs:
            args, kwargs = self._positional(args, kwargs)
        return self._trace_root, args, kwargs, type(self).__name__, ()

    def _trace_root(self, *args, **kwargs):
        """What is traced for a whole program: this Cell under the scope "Default"."""
        self.check_names()
        _thread.frame.cells[id(self)] = self
        with jax.named_scope("Default"):
            return self._run(args, kwargs)

    @property
    def argument_names(self):
        """Names of construct's parameters."""
        return compile.parameter_names(self.construct)

    def _traced_call(self, args, kwargs):
        """Within a graph: under a scope named after the attribute that holds the Cell."""
        _thread.frame.cells[id(self)] = self
        name = type(self).__name__
        with jax.named_scope(_scope_name(self._attr_name, name)):
            return self._run(args, kwargs)

    def _run(self, args, kwargs):
        """`construct` with mixed precision, hooks and custom gradients around it."""
        if self._compute is not _thread.compute_dtype:
            return self._run_cast(args, kwargs)
        return self._run_plain(args, kwargs)

    def _run_cast(self, args, kwargs):
        dtype = self._compute
        if dtype is not None:
            args = tuple(cast_tensor(a, dtype) for a in args)
        before = _thread.compute_dtype
        try:  # not a context manager: a Stop on the way out of one would leave it set
            _thread.compute_dtype = dtype
            return self._run_plain(args, kwargs)
        finally:
            _thread.compute_dtype = before

    def _run_plain(self, args, kwargs):
        if self._hook is not None:
            return self._run_hooked(args, kwargs)
        if self._has_bprop is None:
            self.__dict__["_has_bprop"] = callable(getattr(self, "bprop", None))
        if self._has_bprop and (_thread.recording or _thread.frame is not None):
            if kwargs:
                args, _ = self._positional(args, kwargs)
            return autodiff.call_with_bprop(self, args)
        return self._construct(args, kwargs)

    def _construct(self, args, kwargs):
        if _thread.frame is not None:
            return script.call(self.construct)(*args, **kwargs)
        return self.construct(*args, **kwargs)

    def _run_hooked(self, args, kwargs):
        """Cotangents pass through the user's hook on their way back into the inputs."""
        hook, seen = self._hook, {}
        tag = f"{type(self).__name__}({self._id})"
        spots = [i for i, a in enumerate(args) if isinstance(a, Tensor)]

        def at_inputs(grads):
            new = hook(tag, tuple(grads), seen.get("outputs"))
            if new is None:
                return [None] * len(grads)
            new = new if isinstance(new, tuple) else (new,)
            if len(new) != len(grads):
                raise TypeError(f"The hook of {tag} should return {len(grads)} gradients, but returned {len(new)}.")
            return list(new)

        def at_outputs(grads):
            seen["outputs"] = tuple(grads)
            return [None] * len(grads)

        args = list(args)
        for i, twin in zip(spots, autodiff.with_backward_hook([args[i] for i in spots], at_inputs)):
            args[i] = twin
        leaves, rebuild = flatten(self._construct(tuple(args), kwargs))
        tensors = iter(autodiff.with_backward_hook([v for v in leaves if isinstance(v, Tensor)], at_outputs))
        return rebuild([next(tensors) if isinstance(v, Tensor) else v for v in leaves])

    def _positional(self, args, kwargs):
        """Keyword arguments moved to the positions that construct gives them.

        Raises:
            ValueError: If construct takes one of them by keyword only.
        """
        signature = inspect.signature(self.construct)
        for p in signature.parameters.values():
            if (
                p.kind is p.VAR_KEYWORD
                and set(kwargs) - set(signature.parameters)
                or p.kind is p.KEYWORD_ONLY
                and p.name in kwargs
            ):
                raise ValueError(
                    f"In GRAPH mode construct of {type(self).__name__} takes positional arguments; "
                    f"'{p.name}' can only be given by keyword. Make it a positional parameter."
                )
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, {}

    def compile(self, *inputs):
        """Trace the graph for these inputs without running it."""
        compile.find(self, *self._graph_call(inputs, {}))

    def compile_and_run(self, *inputs):
        """Run as a compiled graph whatever the mode is."""
        return compile.call(self, *self._graph_call(inputs, {}))

    # ------------------------------------------------------------------ attributes
    def __setattr__(self, name, value):
        values = self.__dict__
        params, cells = values.get("_params"), values.get("_cells")
        if isinstance(value, (Parameter, Cell, ParameterTuple)) and params is None:
            raise AttributeError(
                f"Call super().__init__() in {type(self).__name__}.__init__ before assigning Parameters or Cells."
            )
        if params is None or name in _INTERNAL:
            _set(self, name, value)
            return
        if isinstance(value, Parameter):
            self._forget(name)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            self._forget(name)
            cells[name] = value
            values[name] = value
            self._adopt(name, value)
        elif isinstance(value, ParameterTuple):
            self._forget(name)
            for param in value:
                self.insert_param_to_cell(param.name, param, check_name=False)
            values[name] = value
        elif name in params and params[name] is not None:
            self._assign_parameter(name, value)
        else:
            if name in cells:
                if value is not None:
                    raise TypeError(
                        f"'{name}' is a Cell of {type(self).__name__} and can be replaced by a Cell or "
                        f"None, but got {describe(value)}."
                    )
                cells[name] = None
            elif _thread.frame is not None:
                self._set_while_traced(name, value)
            _set(self, name, value)
        _epoch.bump()

    def _set_while_traced(self, name, value):
        """What construct sets in Python is noted while the graph is built, and set by each call of the program."""
        if any(is_traced(leaf) for leaf in flatten(value)[0]):
            raise TypeError(
                f"'{name}' of {type(self).__name__} is no Parameter, so a graph cannot keep a Tensor "
                f"in it. Make it a Parameter, or return the value from construct."
            )
        before = self.__dict__.get(name, trace.ABSENT)
        if _thread.frame.conditional() and (before is trace.ABSENT or _normal(before) != _normal(value)):
            raise TypeError(
                f"'{name}' of {type(self).__name__} is set under a condition or in a loop that only the "
                f"graph knows, where a Python value cannot change. Make it a Parameter."
            )
        _thread.frame.root().settings.setdefault((id(self), name), (self, name, before))

    def _assign_parameter(self, name, value):
        if value is None:
            self._params[name] = None
            self.__dict__[name] = None
        elif isinstance(value, (Tensor, int, float)) and not isinstance(value, bool):
            self._params[name].set_data(value if isinstance(value, Tensor) else Tensor(value, self._params[name].dtype))
        else:
            raise TypeError(
                f"'{name}' is a Parameter of {type(self).__name__} and can be set to a Parameter, a Tensor "
                f"or None, but got {describe(value)}."
            )

    def _forget(self, name):
        self._params.pop(name, None)
        self._cells.pop(name, None)
        self.__dict__.pop(name, None)

    def _adopt(self, name, cell):
        """A sub-Cell takes its name from the attribute, and its Parameters their prefix."""
        cell.__dict__["_attr_name"] = name
        if self._auto_prefix:
            cell.update_parameters_name(name + ".")

    def __delattr__(self, name):
        if name not in self.__dict__ and name not in self._params and name not in self._cells:
            raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'.")
        self._forget(name)
        _epoch.bump()

    def __getattr__(self, name):
        if "_params" not in self.__dict__ and name in ("_params", "_cells"):
            raise AttributeError(f"Call super().__init__() first in {type(self).__name__}.__init__.")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'.")

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "_programs"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.__dict__["_programs"] = None
        self.__dict__["_id"] = next(_ids)

    # ------------------------------------------------------------------ does a compiled program still fit?
    def _fingerprint(self):
        """What a graph of this Cell alone (not its sub-Cells) depends on, comparable by ==."""
        construct = getattr(type(self).construct, "__code__", None)
        return _Same(construct), {k: _normal(v) for k, v in self._own_attributes()}

    def _own_attributes(self):
        """(name, value) of the attributes that a graph may depend on."""
        return [(k, v) for k, v in self.__dict__.items() if k not in _INTERNAL]

    # ------------------------------------------------------------------ building
    def insert_param_to_cell(self, param_name, param, check_name=True):
        """Add a Parameter under a name.

        Args:
            param_name (str): Attribute and, unless it has one, name of the Parameter.
            param (Parameter): The Parameter.
            check_name (bool): Whether a "." in the name is refused. Default: True.

        Raises:
            KeyError: If the name is empty, holds a ".", or is taken by another attribute.
            TypeError: If `param` is no Parameter.
        """
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', 'param_name' is empty.")
        if check_name and "." in param_name:
            raise KeyError(f"For 'insert_param_to_cell', 'param_name' should not hold '.', but got '{param_name}'.")
        if "_params" not in self.__dict__:
            raise AttributeError(f"Call super().__init__() in {type(self).__name__}.__init__ first.")
        if hasattr(self, param_name) and param_name not in self._params:
            raise KeyError(
                f"For 'insert_param_to_cell', {type(self).__name__} already has an attribute "
                f"'{param_name}' that is no Parameter."
            )
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"For 'insert_param_to_cell', 'param' should be a Parameter, but got {describe(param)}.")
        if param is not None and param.name == "Parameter":
            param.name = param_name
        self._params[param_name] = param
        self.__dict__[param_name] = param
        _epoch.bump()

    def insert_child_to_cell(self, child_name, child_cell):
        """Add a sub-Cell under a name.

        Args:
            child_name (str): Name of the attribute.
            child_cell (Cell): The sub-Cell.

        Raises:
            KeyError: If the name is empty, holds a ".", or is taken.
            TypeError: If `child_cell` is no Cell.
        """
        if not child_name or "." in child_name:
            raise KeyError(
                f"For 'insert_child_to_cell', 'child_name' should be a name without '.', but got '{child_name}'."
            )
        if hasattr(self, child_name) and child_name not in self._cells:
            raise KeyError(
                f"For 'insert_child_to_cell', {type(self).__name__} already has an attribute '{child_name}'."
            )
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise TypeError(
                f"For 'insert_child_to_cell', 'child_cell' should be a Cell, but got {describe(child_cell)}."
            )
        self._cells[child_name] = child_cell
        self.__dict__[child_name] = child_cell
        if child_cell is not None:
            child_cell.__dict__["_attr_name"] = child_name
        _epoch.bump()

    def update_parameters_name(self, prefix="", recurse=True):
        """Name every Parameter `prefix` + its path within this Cell.

        Raises:
            ValueError: If `prefix` is no string.
        """
        if not isinstance(prefix, str):
            raise ValueError(f"For 'update_parameters_name', 'prefix' should be a string, but got {describe(prefix)}.")
        for name, param in self.parameters_and_names(expand=recurse):
            if prefix:
                param.name = prefix + name

    def update_cell_prefix(self):
        """Give every sub-Cell the path that leads to it as `param_prefix`."""
        for name, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = name

    def update_cell_type(self, cell_type):
        """Set the type tag of the Cell."""
        self.cell_type = cell_type

    # ------------------------------------------------------------------ looking inside
    def parameters_and_names(self, name_prefix="", expand=True):
        """Iterate over (path, Parameter), each Parameter once.

        Args:
            name_prefix (str): Put before every path. Default: ''.
            expand (bool): Whether sub-Cells are entered. Default: True.
        """
        seen = set()
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        for cell_name, cell in cells:
            for name, param in cell._params.items():
                if param is not None and id(param) not in seen:
                    seen.add(id(param))
                    yield (f"{cell_name}.{name}" if cell_name else name), param

    def get_parameters(self, expand=True):
        """Iterate over the Parameters, each once."""
        for _, param in self.parameters_and_names(expand=expand):
            yield param

    def trainable_params(self, recurse=True):
        """List of the Parameters that require a gradient."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse=True):
        """List of the Parameters that require no gradient."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse=True):
        """OrderedDict from name to Parameter."""
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse=True):
        """OrderedDict of the Parameters that data parallel training broadcasts, None if there is none."""
        found = OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel)
        return found or None

    def check_names(self):
        """Raise ValueError if two Parameters have the same name."""
        names = {}
        for param in self.get_parameters():
            other = names.setdefault(param.name, param)
            if other is not param:
                raise ValueError(f"{type(self).__name__} has two Parameters named '{param.name}'; rename one of them.")

    def cells_and_names(self, cells=None, name_prefix=""):
        """Iterate over (path, Cell): this Cell and everything below, each once."""
        seen = set() if cells is None else cells
        if id(self) in seen:
            return
        seen.add(id(self))
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def cells(self):
        """The direct sub-Cells."""
        return self.name_cells().values()

    def name_cells(self):
        """OrderedDict of the direct sub-Cells, each once."""
        seen, found = set(), OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def generate_scope(self):
        """Give every sub-Cell the scope that graphs show it under."""
        for name, cell in self._cells.items():
            if cell is not None:
                cell.__dict__["_scope"] = f"{self._scope or 'Default'}/{_scope_name(name, type(cell).__name__)}"
                cell.generate_scope()

    def get_scope(self):
        """The scope set by `generate_scope`, None before."""
        return self._scope

    def get_func_graph_proto(self):
        """The functional IR of the last compiled program as text, None when nothing has been compiled."""
        programs = [e.program for entries in (self._programs.table.values() if self._programs else ()) for e in entries]
        if not programs:
            return None
        from msnb.ir import api

        return api.text(api.of_program(programs[-1]))

    @property
    def cls_name(self):
        """Name of the class."""
        return type(self).__name__

    @property
    def create_time(self):
        """A number that grows with each Cell created."""
        return self._create_time

    @property
    def param_prefix(self):
        """Path of the Cell after `update_cell_prefix`."""
        return self._param_prefix

    @property
    def phase(self):
        """ "train" or "predict", after the last `set_train`."""
        return self._phase

    @phase.setter
    def phase(self, value):
        self.__dict__["_phase"] = value

    @property
    def bprop_debug(self):
        """Whether custom bprop functions run as written; they always do."""
        return self._bprop_debug

    @bprop_debug.setter
    def bprop_debug(self, value):
        if not isinstance(value, bool):
            raise TypeError(f"'bprop_debug' should be bool, but got {describe(value)}.")
        self.__dict__["_bprop_debug"] = value

    @property
    def support_non_tensor_inputs(self):
        """Whether construct takes numbers and tuples besides Tensors: always."""
        return True

    @support_non_tensor_inputs.setter
    def support_non_tensor_inputs(self, value):
        if not isinstance(value, bool):
            raise ValueError(f"'support_non_tensor_inputs' should be bool, but got {describe(value)}.")

    # ------------------------------------------------------------------ settings
    def add_flags(self, **flags):
        """Set flags of this Cell, which are attributes as well. Returns self."""
        values = self.__dict__
        values["_func_graph_flags"] = {**values.get("_func_graph_flags", {}), **flags}
        values.update(flags)
        if flags.get("fp16"):
            values["_compute"] = np.dtype(np.float16)
        elif flags.get("fp32"):
            values["_compute"] = np.dtype(np.float32)
        elif "fp16" in flags or "fp32" in flags:
            values["_compute"] = None
        _epoch.bump()
        return self

    def add_flags_recursive(self, **flags):
        """Set flags of this Cell and everything below. Returns self."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self):
        """dict of the flags."""
        return self._func_graph_flags

    def set_train(self, mode=True):
        """Switch this Cell and everything below to training or evaluation. Returns self."""
        for _, cell in self.cells_and_names():
            values = cell.__dict__
            values["training"] = mode
            values["_phase"] = "train" if mode else "predict"
            values["_func_graph_flags"] = {**values["_func_graph_flags"], "training": mode}
        _epoch.bump()
        return self

    def set_grad(self, requires_grad=True):
        """Mark that gradients of this Cell are taken. Returns self."""
        self.__dict__["requires_grad"] = requires_grad
        _epoch.bump()
        return self

    def to_float(self, dst_type):
        """Compute in float16 or float32: inputs and Parameters of this Cell and everything below are cast on their
        way into operators. Returns self.

        Raises:
            ValueError: If `dst_type` is neither mindspore.float16 nor mindspore.float32.
        """
        if dst_type not in (mstype.float16, mstype.float32):
            raise ValueError(
                f"For 'to_float', 'dst_type' should be mindspore.float16 or mindspore.float32, but got {dst_type!r}."
            )
        return self.add_flags_recursive(fp16=dst_type == mstype.float16, fp32=dst_type == mstype.float32)

    def cast_inputs(self, inputs, dst_type):
        """The float Tensors among `inputs` (a tuple) as `dst_type`."""
        return tuple(cast_tensor(i, mstype.np_dtype(dst_type)) for i in inputs)

    def cast_param(self, param):
        """The Parameter in the precision that `to_float` asks for."""
        return param if self._compute is None else cast_tensor(param, self._compute)

    def set_broadcast_flag(self, mode=True):
        """Mark that Parameters are broadcast before data parallel training. Returns self."""
        return self.add_flags_recursive(broadcast_flag=mode)

    def set_comm_fusion(self, fusion_type, recurse=True):
        """Fusion group of the Parameters' all-reduce; XLA fuses by itself, so it is kept and has no effect."""
        log.once("set_comm_fusion() has no effect: XLA fuses communication by itself.")
        for param in self.trainable_params(recurse):
            param.comm_fusion = fusion_type
        return self

    def set_auto_parallel(self):
        """Turn on automatic parallelism for this Cell."""
        self.add_flags(auto_parallel=True)

    def set_parallel_input_with_inputs(self, *inputs):
        """Keep example inputs for the parallel planner."""
        self.__dict__["_parallel_inputs"] = inputs

    def set_param_ps(self, recurse=True, init_in_server=False):
        """Parameter servers come later.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("Parameter servers are not available in msnb yet; train without set_param_ps().")

    def load_parameter_slice(self, params):
        """Refused: Parameters are placed by sharding, there are no slices to load."""
        raise RuntimeError(
            "load_parameter_slice() is not available: Parameters are sharded by XLA; load the whole "
            "checkpoint with load_param_into_net()."
        )

    def auto_parallel_compile_and_run(self):
        """Whether calls are planned by automatic parallelism."""
        return False

    def exec_checkpoint_graph(self):
        """Nothing to do: checkpoints are written from the Parameters, not by a graph."""

    def init_parameters_data(self, auto_parallel_mode=False):
        """Dictionary from each Parameter to itself: their data is there from the beginning, and whole in any mode."""
        log.unused("Cell.init_parameters_data", "a Parameter is always whole", auto_parallel_mode=auto_parallel_mode)
        return {param: param for param in self.get_parameters()}

    def register_backward_hook(self, fn):
        """Call `fn(cell_id, grad_inputs, grad_outputs)` in every backward pass through this Cell; a returned gradient
        replaces that of the inputs. In GRAPH mode the hook is traced once, so it has to be a pure function.

        Raises:
            TypeError: If `fn` is not callable.
        """
        if not callable(fn):
            raise TypeError(f"For 'register_backward_hook', 'fn' should be callable, but got {describe(fn)}.")
        self.__dict__["_hook"] = fn
        _epoch.bump()

    # ------------------------------------------------------------------ text
    def extend_repr(self):
        """What a subclass shows of itself between < and >."""
        return ""

    def __repr__(self):
        extra = self.extend_repr()
        if not self._cells:
            return f"{type(self).__name__}<{extra}>"
        lines = [extra] if extra else []
        lines += [f"({name}): {cell!r}" for name, cell in self._cells.items()]
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}<\n  {body}\n  >"


def _scope_name(attribute, kind):
    """Scope of a Cell: the attribute that holds it and, unless the context says otherwise, its class."""
    return f"{attribute}-{kind}" if attribute and _state.reserve_class_name_in_scope else attribute or kind


class GraphKernel(Cell):
    """A Cell whose operators are meant to become one kernel; XLA fuses them without being told.

    Args:
        auto_prefix (bool): See `Cell`. Default: True.
        flags (dict): See `Cell`. Default: None.
    """


class MissingConstruct(AttributeError, NotImplementedError):
    """A Cell without `construct` was called. MindSpore 2 raises AttributeError, r1.1 NotImplementedError.

    Args:
        kind (type): Class of the Cell.
    """

    def __init__(self, kind):
        methods = [n for n in dir(kind) if callable(getattr(kind, n)) and not hasattr(Cell, n)]
        close = difflib.get_close_matches("construct", methods, n=1) or [n for n in methods if n == "forward"]
        hint = f" It has '{close[0]}': rename that to 'construct'." if close else " Define it: it computes the outputs."
        super().__init__(f"{kind.__name__} has no method 'construct'.{hint}")


class _Same:
    """Compares by identity and keeps its object alive, so that the identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, _Same) and self.value is other.value

    __hash__ = None


def _normal(value):
    """An attribute as something that == compares by what a graph sees of it."""
    if value is None or isinstance(value, (bool, int, float, str, mstype.Type)):
        return type(value), value
    if isinstance(value, Parameter):
        return _Same(value), value._requires_grad
    if isinstance(value, Tensor):
        trace.constants[value] = True
        return _Same(value), _Same(value._array)
    if type(value) in (tuple, list):
        return [_normal(v) for v in value]
    if type(value) in (dict, OrderedDict):
        return [(k, _normal(v)) for k, v in value.items()]
    return _Same(value), changes(value)
