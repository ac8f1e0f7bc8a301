"""The execution core: boxes, operators, tape, compilation, source transformation. x64 is switched on here, before any
array exists, because MindSpore has 64-bit types; MSNB_X64=0 keeps JAX's own setting."""

import os as _os

import jax as _jax

if _os.environ.get("MSNB_X64", "1") != "0":
    _jax.config.update("jax_enable_x64", True)

from msnb.core import compiled_files as _compiled_files  # noqa: E402, F401 - it keeps what is compiled
from msnb.core import forks as _forks  # noqa: E402, F401 - it takes care of forked processes
from msnb.core import kernel_options as _kernel_options  # noqa: E402, F401 - it says how kernels are compiled
from msnb.core import known_programs as _known_programs  # noqa: E402, F401 - then: it spares what was compiled before
from msnb.core import late_values as _late_values  # noqa: E402, F401 - it makes Tensors of what initializers give
from msnb.core.meta_tensor import MetaTensor  # noqa: E402
from msnb.core.parameter import Parameter, ParameterTuple  # noqa: E402
from msnb.core.sparse_tensor import RowTensor, SparseTensor  # noqa: E402
from msnb.core.tensor import Tensor, box, unbox  # noqa: E402

__all__ = ["MetaTensor", "Parameter", "ParameterTuple", "RowTensor", "SparseTensor", "Tensor", "box", "unbox"]
