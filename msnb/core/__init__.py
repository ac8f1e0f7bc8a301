"""The execution core: boxes, operators, tape, compilation, source transformation. x64 is switched on here, before any
array exists, because MindSpore has 64-bit types; MSNB_X64=0 keeps JAX's own setting."""

import os as _os

import jax as _jax

if _os.environ.get("MSNB_X64", "1") != "0":
    _jax.config.update("jax_enable_x64", True)

from msnb.core.program import persistent_cache as _compiled_files  # noqa: E402, F401 - it keeps what is compiled
from msnb.core.support import fork_guard as _forks  # noqa: E402, F401 - it takes care of forked processes
from msnb.core.program import xla_options as _kernel_options  # noqa: E402, F401 - it says how kernels are compiled
from msnb.core.program import (  # noqa: E402, F401 - then: it spares what was compiled before
    lowering_cache as _known_programs,
)
from msnb.core.tensor import lazy as _late_values  # noqa: E402, F401 - it makes Tensors of what initializers give
from msnb.core.tensor.meta_tensor import MetaTensor  # noqa: E402
from msnb.core.tensor.parameter import (  # noqa: E402
    Parameter,
    ParameterTuple,
)
from msnb.core.tensor.sparse import (  # noqa: E402
    RowTensor,
    SparseTensor,
)
from msnb.core.tensor.tensor import (  # noqa: E402
    Tensor,
    box,
    unbox,
)

__all__ = ["MetaTensor", "Parameter", "ParameterTuple", "RowTensor", "SparseTensor", "Tensor", "box", "unbox"]
