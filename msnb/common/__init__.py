"""`mindspore.common`: dtypes, seeds, and names that are imported on first access from the packages that define them."""

import sys
from importlib import import_module
from typing import Any

from msnb._util.placeholders import derivable
from msnb.common import dtype
from msnb.common.missing import asked
from msnb.common.seed import get_seed, set_seed

# Resolved on first access: core builds on this package, so it cannot be imported while this package loads.
_LATER = {
    **dict.fromkeys(("Tensor", "MetaTensor", "RowTensor", "SparseTensor", "swap_tensors"), "tensor"),
    "recompute": "recompute",
    **dict.fromkeys(("Parameter", "ParameterTuple"), "parameter"),
    **dict.fromkeys(
        (
            "ms_function",
            "jit",
            "jit_class",
            "ms_class",
            "ms_memory_recycle",
            "mutable",
            "no_inline",
            "set_recursion_limit",
        ),
        "api",
    ),
    "lazy_inline": "lazy_inline",
    "JitConfig": "jit_config",
    **dict.fromkeys(("COOTensor", "CSRTensor"), "sparse_tensor"),
    **dict.fromkeys(
        (
            "Generator",
            "default_generator",
            "get_rng_state",
            "initial_seed",
            "manual_seed",
            "set_rng_state",
        ),
        "generator",
    ),
    "QuantDtype": "quant_dtype",
    "set_dump": "dump",
}
_Function = derivable(  # libraries derive from it
    "_Function",
    "mindspore.common",
    "a Cell whose method bprop returns the gradients of its inputs does the same",
)
_SUBMODULES = ("_stub_tensor", "api", "dump", "generator", "initializer", "jit_config", "parameter", "tensor")
# Names of MindSpore 2 that `mindspore` defines, too. Their packages build on this one, so they are read from there.
_OF_THE_ROOT = """
    Symbol _no_grad enable_dynamic flops_collection from_numpy is_tensor load_mindir mindio_preload no_inline qint4x2
    recompute save_mindir set_mindio_server_info
""".split()
_DTYPE_NAMES = """
    Type int8 byte int16 short int32 intc int64 intp uint8 ubyte uint16 ushort uint32 uintc uint64 uintp float16 long
    half float32 single float64 double bfloat16 complex64 cfloat complex128 cdouble bool_ float_ list_ tuple_ int_
    uint number string type_none tensor_type TensorType Int UInt Float dtype_to_nptype issubclass_ dtype_to_pytype
    pytype_to_dtype get_py_obj_dtype
""".split()
globals().update({name: getattr(dtype, name) for name in _DTYPE_NAMES})

__all__ = [*_DTYPE_NAMES, *_LATER, "dtype", "set_seed", "get_seed"]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"msnb.common.{name}")  # lazy import: core imports this package
    if name in _LATER:
        value = getattr(import_module(f"msnb.common.{_LATER[name]}"), name)  # lazy import: see above
        globals()[name] = value  # replaces the submodule, if it has the same name, as `lazy_inline` has
        return value
    if name in dtype._AS_PYTHON:
        return dtype._AS_PYTHON[name]
    if name in _OF_THE_ROOT:
        return getattr(sys.modules["msnb"], name)
    return asked(__name__, name)
