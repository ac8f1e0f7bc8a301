"""Tensors, operators, tracing, compilation and differentiation. The README describes the packages.

64-bit types are switched on here, before any array exists, because MindSpore has them; MSNB_X64=0 keeps JAX's setting.
"""

import os as _os

import jax as _jax

if _os.environ.get("MSNB_X64", "1") != "0":
    _jax.config.update("jax_enable_x64", True)

# Each of these modules registers itself when it is imported, in this order. Both `xla_options` and `lowering_cache`
# wrap JAX's compiler, and the wrapper that is installed last is called first. `lowering_cache` comes last: for a cached
# program it gets an empty module, which `xla_options` must not inspect.
# isort: off
from msnb._util import renamed_modules as _renamed_modules  # noqa: E402
from msnb.core.program import persistent_cache as _persistent_cache  # noqa: E402, F401
from msnb.core.support import fork_guard as _fork_guard  # noqa: E402, F401
from msnb.core.program import xla_options as _xla_options  # noqa: E402, F401
from msnb.core.program import lowering_cache as _lowering_cache  # noqa: E402, F401
from msnb.core.tensor import lazy as _lazy  # noqa: E402, F401

# isort: on
from msnb.core.tensor.meta_tensor import MetaTensor  # noqa: E402
from msnb.core.tensor.parameter import Parameter, ParameterTuple  # noqa: E402
from msnb.core.tensor.sparse import RowTensor, SparseTensor  # noqa: E402
from msnb.core.tensor.tensor import Tensor, box, unbox  # noqa: E402

_renamed_modules.install()

__all__ = ["MetaTensor", "Parameter", "ParameterTuple", "RowTensor", "SparseTensor", "Tensor", "box", "unbox"]
