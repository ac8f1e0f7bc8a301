"""The tree of Cells: Parameters and sub-Cells as attributes, their names, and iteration over them."""

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, ValuesView
from typing import Any

from msnb import context
from msnb.common.suggestions import CELL, no_attribute
from msnb.core.errors.cell_path import HOLDERS
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.operator.autocast import register_cell_tensor
from msnb.core.state import trace_state
from msnb.core.tensor.cell_state import CellState, NeedsCellState
from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, is_traced
from msnb.nn._cell.fingerprint import INTERNAL, comparable_form
from msnb.nn._cell.unregistered_cells import warn_unregistered_cells

_thread = trace_state.thread
_state = context._state
_epoch = trace_state.epoch
_set = object.__setattr__
_INERT_PROPERTIES = frozenset(("phase", "bprop_debug", "parameter_layout_dict"))  # properties on which no graph depends


def scope_name(attribute, kind):
    """Return the scope of a Cell: its attribute name and, unless the context turns that off, its class."""
    return f"{attribute}-{kind}" if attribute and _state.reserve_class_name_in_scope else attribute or kind


class CellTree:
    """Base class of `Cell` for attributes, names and iteration over the tree."""

    _holds: str | None = None  # a wrapper of msnb names the attribute of its wrapped Cell here

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls._holds is not None:
            HOLDERS[cls.__name__] = cls._holds

    # ------------------------------------------------------------------ attributes
    def __setattr__(self, name: str, value: Any) -> None:
        values = self.__dict__
        params, cells = values.get("_params"), values.get("_cells")
        if isinstance(value, (Parameter, CellTree, ParameterTuple)):
            if params is None:
                raise AttributeError(
                    f"Call super().__init__() in {type(self).__name__}.__init__ before assigning Parameters or Cells."
                )
            if _thread.frame is not None and self not in _thread.frame.trace.cell_changes.created:
                _thread.frame.trace.cell_changes.new_members.append(value)
        if params is None or name in INTERNAL:
            _set(self, name, value)
            return
        if name in _INERT_PROPERTIES and _thread.frame is None and isinstance(getattr(type(self), name), property):
            _set(self, name, value)
            return
        if isinstance(value, Parameter):
            _remove_attribute(self, name)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, CellTree):
            _remove_attribute(self, name)
            cells[name] = value
            _name_child(self, name, value)
        elif isinstance(value, ParameterTuple):
            _remove_attribute(self, name)
            _insert_members(self, value)
            values[name] = value
        elif name in params and params[name] is not None:
            _assign_parameter(self, name, value)
        else:
            if name in cells:
                if value is not None:
                    raise TypeError(
                        f"'{name}' is a Cell of {type(self).__name__} and can be replaced by a Cell or "
                        f"None, but got {describe(value)}."
                    )
                cells[name] = None
            elif type(values.get(name)) is CellState and _assign_cell_state(self, values[name], value):
                return
            elif _thread.frame is not None and self not in _thread.frame.trace.cell_changes.created:
                _record_traced_assignment(self, name, value)
            register_cell_tensor(value)
            _set(self, name, value)
        _epoch.bump()

    def __delattr__(self, name: str) -> None:
        if name not in self.__dict__ and name not in self._params and name not in self._cells:
            raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'.")
        _remove_attribute(self, name)
        _epoch.bump()

    def __getattr__(self, name: str) -> Any:
        if "_params" not in self.__dict__ and name in ("_params", "_cells"):
            raise AttributeError(f"Call super().__init__() first in {type(self).__name__}.__init__.")
        raise AttributeError(no_attribute(type(self).__name__, name, CELL, "nn.Cell"), name=name, obj=self)

    # ------------------------------------------------------------------ building
    def insert_param_to_cell(
        self,
        param_name: str,
        param: Parameter | None,
        check_name: bool = True,
        *,
        check_name_contain_dot: bool | None = None,
    ) -> None:
        """Add a Parameter under a name.

        Args:
            param_name (str): Name of the attribute, and of the Parameter if it has no name.
            param (Parameter): The Parameter.
            check_name (bool): If True, a "." in the name is an error. Default: True.
            check_name_contain_dot (bool): MindSpore 2's name of `check_name`. Default: None, the value of `check_name`.

        Raises:
            KeyError: If the name is empty, holds a ".", or is taken by another attribute.
            TypeError: If `param` is no Parameter.
        """
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', 'param_name' is empty.")
        if check_name_contain_dot is not None:
            check_name = check_name_contain_dot
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

    def insert_child_to_cell(self, child_name: str, child_cell: "CellTree | None") -> None:
        """Add a sub-Cell under a name.

        Args:
            child_name (str): Name of the attribute.
            child_cell (Cell): The sub-Cell.

        Raises:
            KeyError: If the name is empty, holds a ".", or is taken by another attribute.
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
        if child_cell is not None and not isinstance(child_cell, CellTree):
            raise TypeError(
                f"For 'insert_child_to_cell', 'child_cell' should be a Cell, but got {describe(child_cell)}."
            )
        self._cells[child_name] = child_cell
        if child_cell is not None:
            child_cell.__dict__["_attr_name"] = child_name

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Set the name of every Parameter to `prefix` followed by its path in this Cell. An empty `prefix` changes
        nothing.

        Raises:
            ValueError: If `prefix` is no string.
        """
        if not isinstance(prefix, str):
            raise ValueError(f"For 'update_parameters_name', 'prefix' should be a string, but got {describe(prefix)}.")
        for name, param in self.parameters_and_names(expand=recurse):
            if prefix:
                param.name = prefix + name

    def update_cell_prefix(self) -> None:
        """Set `param_prefix` of every sub-Cell to its path in this Cell."""
        for name, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = name

    def update_cell_type(self, cell_type: str) -> None:
        """Set the type tag of the Cell."""
        self.cell_type = cell_type

    # ------------------------------------------------------------------ iteration
    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Iterate over pairs (path, Parameter). Each Parameter is yielded once.

        Args:
            name_prefix (str): Prefix of every path. Default: ''.
            expand (bool): If True, include sub-Cells. Default: True.
        """
        seen = set()
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        for cell_name, cell in cells:
            for name, param in cell._params.items():
                if param is not None and id(param) not in seen:
                    seen.add(id(param))
                    yield (f"{cell_name}.{name}" if cell_name else name), param

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Iterate over the Parameters, each once."""
        for _, param in self.parameters_and_names(expand=expand):
            yield param

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Return the list of Parameters that require a gradient. A Cell in a plain list is not in the tree; a warning
        says so."""
        warn_unregistered_cells(self)
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Return the list of Parameters that require no gradient."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> "OrderedDict[str, Parameter]":
        """Return an OrderedDict {name: Parameter}."""
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> "OrderedDict[str, Parameter] | None":
        """Return an OrderedDict of the Parameters that data parallel training broadcasts, or None."""
        params = OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel)
        return params or None

    def check_names(self) -> None:
        """Raise ValueError if two Parameters have the same name.

        In MindSpore 2 a network with equal names is not refused: its Parameters are renamed after their paths.
        """
        if api_generations.shared == 2 and self._has_equal_names():
            for name, param in self.parameters_and_names():
                param.name = name
        names = {}
        for param in self.get_parameters():
            other = names.setdefault(param.name, param)
            if other is not param:
                raise ValueError(f"{type(self).__name__} has two Parameters named '{param.name}'; rename one of them.")

    def _has_equal_names(self):
        names = [p.name for p in self.get_parameters()]
        return len(set(names)) < len(names)

    def check_names_and_refresh_name(self) -> None:
        """Name unnamed Parameters after their paths, and raise ValueError if two names are equal."""
        for name, param in self.parameters_and_names():
            if param.name == "Parameter":
                param.name = name
        self.check_names()

    def cells_and_names(self, cells: set[int] | None = None, name_prefix: str = "") -> "Iterator[tuple[str, CellTree]]":
        """Iterate over pairs (path, Cell): this Cell and all Cells below, each once."""
        seen = set() if cells is None else cells
        if id(self) in seen:
            return
        seen.add(id(self))
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def cells(self) -> "ValuesView[CellTree]":
        """Return the direct sub-Cells."""
        return self.name_cells().values()

    def apply(self, fn: "Callable[[CellTree], Any]") -> "CellTree":
        """Call fn(cell) for every Cell of the tree, children before parents.

        Args:
            fn (Callable): A function of one Cell, such as one that sets its weights.

        Returns:
            Cell, this Cell.
        """
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    def name_cells(self) -> "OrderedDict[str, CellTree]":
        """Return an OrderedDict of the direct sub-Cells, each once."""
        seen, children = set(), OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                children[name] = cell
        return children

    def generate_scope(self) -> None:
        """Set the scope that graphs show for every sub-Cell."""
        for name, cell in self._cells.items():
            if cell is not None:
                cell.__dict__["_scope"] = f"{self._scope or 'Default'}/{scope_name(name, type(cell).__name__)}"
                cell.generate_scope()

    def get_scope(self) -> str | None:
        """Return the scope set by `generate_scope`, or None if it was not called."""
        return self._scope

    # ------------------------------------------------------------------ text
    def extend_repr(self) -> str:
        """Return the text that `repr` shows between < and >. Subclasses override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        first, last = "<>" if api_generations.shared == 1 else "()"
        if not self._cells:
            return f"{type(self).__name__}{first}{extra}{last}"
        lines = [extra] if extra else []
        lines += [f"({name}): {cell!r}" for name, cell in self._cells.items()]
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}{first}\n  {body}\n{'  ' if api_generations.shared == 1 else ''}{last}"


# ---------------------------------------------------------------------- assignment of attributes
def _assign_parameter(cell, name, value):
    if value is None:
        cell._params[name] = None
    elif isinstance(value, (Tensor, int, float)) and not isinstance(value, bool):
        cell._params[name].set_data(value if isinstance(value, Tensor) else Tensor(value, cell._params[name].dtype))
    else:
        raise TypeError(
            f"'{name}' is a Parameter of {type(cell).__name__} and can be set to a Parameter, a Tensor "
            f"or None, but got {describe(value)}."
        )


def _assign_cell_state(cell, state, value):
    """Assign a Tensor to `state` if shape and dtype are equal, and return True. Return False if the attribute has to be
    replaced instead, as always in PYNATIVE mode."""
    if not isinstance(value, Tensor) or (value.shape, value.dtype) != (state.shape, state.dtype):
        return False
    if _thread.frame is not None:
        state._rebind_array(value._array)
    elif context.get_context("mode") == context.GRAPH_MODE:
        state._parameter.set_data(value)
    else:
        return False
    return True


def _record_traced_assignment(cell, name, value):
    """Record an attribute that `construct` sets during a trace, so that each call of the program sets it."""
    before = cell.__dict__.get(name, trace_state.ABSENT)
    if isinstance(value, Tensor) and type(before) is Tensor and not is_traced(before):
        raise NeedsCellState(cell, name)
    if any(is_traced(leaf) for leaf in flatten(value)[0]):
        raise TypeError(
            f"'{name}' of {type(cell).__name__} is no Tensor of the shape and type that the graph sets it to, so "
            f"that a graph cannot keep it. Make it such a Tensor before, or a Parameter, or return the value from "
            f"construct."
        )
    if _thread.frame.conditional() and (
        before is trace_state.ABSENT or comparable_form(before) != comparable_form(value)
    ):
        raise TypeError(
            f"'{name}' of {type(cell).__name__} is set under a condition or in a loop that only the "
            f"graph knows, where a Python value cannot change. Make it a Parameter."
        )
    _thread.frame.trace.cell_changes.record(cell, name, before)


def _insert_members(cell, parameters):
    """Add the Parameters of a ParameterTuple to `cell` under their names, and number unnamed ones: ``Parameter$1``.

    Without numbers the second of two unnamed Parameters would replace the first, as in r1.1, where the first stays
    unnamed. MindSpore 2 numbers all, and refuses equal names.
    """
    if api_generations.shared == 2:
        names = {}
        for param in parameters:
            if param.name != "Parameter" and names.setdefault(param.name, param) is not param:
                raise ValueError(
                    f"For 'ParameterTuple', two Parameters are named '{param.name}', and a Cell keeps one of each "
                    f"name. Give them different names."
                )
    for param in parameters:
        keeps_name = api_generations.shared == 1 and cell._params.get("Parameter", param) is param
        if param.name == "Parameter" and not keeps_name:
            param.name = next(name for n in itertools.count(1) if (name := f"Parameter${n}") not in cell._params)
        cell.insert_param_to_cell(param.name, param, check_name=False)


def _remove_attribute(cell, name):
    cell._params.pop(name, None)
    cell._cells.pop(name, None)
    cell._buffers.pop(name, None)
    cell.__dict__.pop(name, None)


def _name_child(parent, name, cell):
    """Name a sub-Cell after its attribute, and prefix the names of its Parameters."""
    if name != parent._holds:  # a wrapper of msnb does not rename the network
        cell.__dict__["_attr_name"] = name
    if parent._auto_prefix:
        cell.update_parameters_name(name + ".")
