"""Tensor, Parameter and related classes. Each has a `jax.Array` inside."""

from msnb.core.tensor.cell_state import CellState, NeedsCellState, trace_with_cell_state
from msnb.core.tensor.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.operands import other_operand
from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.parameter_view import ParameterView
from msnb.core.tensor.pytree import flatten, structure
from msnb.core.tensor.sparse import RowTensor, SparseBase, SparseTensor, add_rows, map_values
from msnb.core.tensor.tensor import Tensor, box, is_traced, unbox
from msnb.core.tensor.tensor import _from_pickle as _from_pickle  # pickles of msnb 0.1 contain this path
from msnb.core.tensor.views import base_of, view_of

__all__ = [
    "CellState",
    "Generator",
    "MetaTensor",
    "NeedsCellState",
    "Parameter",
    "ParameterTuple",
    "ParameterView",
    "RowTensor",
    "SparseBase",
    "SparseTensor",
    "Tensor",
    "add_rows",
    "base_of",
    "box",
    "default_generator",
    "flatten",
    "get_rng_state",
    "initial_seed",
    "is_traced",
    "manual_seed",
    "map_values",
    "other_operand",
    "seed",
    "set_rng_state",
    "structure",
    "trace_with_cell_state",
    "unbox",
    "view_of",
]
