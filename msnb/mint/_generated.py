"""MindSpore 2's names in `ops` for functions of mint: `AddExt()(x, y)` and `add_ext(x, y)` equal `mint.add(x, y)`.

`mindspore.ops.auto_generate` and `mindspore.ops.function` look up missing names here.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from msnb import mint
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F


def _slice_dimension(input: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    return input[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)]


def _upsample_nearest(x: Tensor, output_size: Any = None, scales: Any = None) -> Tensor:
    size, scale = (None if value is None else tuple(value) for value in (output_size, scales))
    return F.interpolate(x, size=size, scale_factor=scale, mode="nearest")


# An entry is a class, its mint function, and after a bar the arguments of its constructor.
_ROWS = """
    AcosExt acos; AcoshExt acosh; AdaptiveAvgPool2DExt adaptive_avg_pool2d; AdaptiveAvgPool3DExt adaptive_avg_pool3d
    AddExt add; AddcdivExt addcdiv; AddcmulExt addcmul; AnyExt any; ArgMaxExt argmax; ArgMinExt argmin; AsinExt asin
    AsinhExt asinh; Atan2Ext atan2; AtanExt atan; AvgPool3DExt avg_pool3d; BatchMatMulExt bmm; BincountExt bincount
    Col2ImExt fold; Conv1DExt conv1d; Conv2DExt conv2d; Conv3DExt conv3d; CumminExt cummin; CumsumExt cumsum
    DiagExt diag; EluExt elu|alpha; HistcExt histc
    IndexAddExt index_add; LinSpaceExt linspace; LogSoftmaxExt log_softmax
    MatMulExt matmul; MatrixInverseExt inverse; MaxUnpool2DExt max_unpool2d; MeanExt mean
    MedianExt median; MishExt mish; NonZeroExt nonzero; OnesLikeExt ones_like; ProdExt prod; ScatterAddExt scatter_add
    SeLUExt selu; SortExt sort; StackExt stack|dim; SubExt sub; SumExt sum; TExt t; TopkExt topk
    TraceExt trace; TrilExt tril; ZerosLikeExt zeros_like
    """
_CLASSES: dict[str, str] = {
    name: function for name, function in map(str.split, _ROWS.strip().replace("\n", ";").split(";"))
}
_VIEWS = {"select_ext_view": mint.select, "transpose_ext_view": mint.transpose}
_SPECIAL_FUNCTIONS = {"SliceExt": _slice_dimension, "UpsampleNearest2D": _upsample_nearest}


class _MintOperator(Primitive):
    """An operator that calls a function of mint, with some of its arguments from the constructor."""

    function: Callable[..., Any]
    settings: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    def __init__(self, *args, **kwargs):
        super().__init__(type(self).__name__)
        for name, value in _bind_arguments(self.name, self.settings, args, kwargs).items():
            self.add_prim_attr(name, value)

    def __call__(self, *args, **kwargs):
        call_args = _bind_arguments(self.name, self.arguments, args, kwargs)
        settings = {name: self.attrs[name] for name in self.settings if name in self.attrs}
        return type(self).function(**settings, **call_args)


def _bind_arguments(name, names, args, kwargs):
    """Return positional and keyword arguments as one dict."""
    if len(args) > len(names):
        raise TypeError(f"For '{name}', at most {len(names)} arguments are taken, but got {len(args)}.")
    for keyword in kwargs.keys() - set(names):
        raise TypeError(f"For '{name}', there is no argument '{keyword}'; it takes {', '.join(names) or 'none'}.")
    return {**dict(zip(names, args)), **kwargs}


def _find_mint_function(name):
    """Return the function of mint with that name, or None."""
    namespaces = (mint, mint.nn.functional, mint.linalg)
    return next((vars(namespace)[name] for namespace in namespaces if callable(vars(namespace).get(name))), None)


@functools.cache
def generated(name: str) -> Any:
    """Return the operator class or function that MindSpore 2 generates under a name; None if msnb has none."""
    if name in _VIEWS:
        return _VIEWS[name]
    if name.endswith("_ext"):
        return _find_mint_function(name[: -len("_ext")])
    function, settings = _SPECIAL_FUNCTIONS.get(name), ()
    if name in _CLASSES:
        called, _, setting_names = _CLASSES[name].partition("|")
        function, settings = _find_mint_function(called), tuple(setting_names.split(",")) if setting_names else ()
    if function is None:
        return None
    arguments = tuple(p for p in inspect.signature(function).parameters if p not in settings)
    body = {
        "function": staticmethod(function),
        "settings": settings,
        "arguments": arguments,
        "__doc__": function.__doc__,
    }
    return type(name, (_MintOperator,), {**body, "__module__": "msnb.ops.auto_generate"})
