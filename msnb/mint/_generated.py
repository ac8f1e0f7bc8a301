"""MindSpore 2's names in `ops` for functions of mint: `AddExt()(x, y)`, `add_ext(x, y)` and `add_ext_op(x, y)` equal
`mint.add(x, y)`.

`mindspore.ops.auto_generate` and `mindspore.ops.function` look up missing names here.
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from msnb import mint
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.mint._generated_functions import FUNCTIONS, VIEWS
from msnb.ops import _flat_operators as flat_operators
from msnb.ops import functional as F
from msnb.ops._flat_operators import FlatOperator, flat
from msnb.ops._refused_operators import list_refused, refused_operator

# An entry is a class, its function of mint, or of ops if mint has none, or a method of Tensor if it ends in `_`, and
# after a bar the arguments of its constructor.
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
    AddScalar add; Addbmm addbmm; Addmm addmm; Addmv addmv; Any any; ArgSort argsort; Baddbmm baddbmm
    BitwiseAndScalar bitwise_and; BitwiseAndTensor bitwise_and; BitwiseNot bitwise_not; BitwiseOrScalar bitwise_or
    BitwiseOrTensor bitwise_or; BitwiseXorScalar bitwise_xor; BitwiseXorTensor bitwise_xor; BoolNot bool_not
    BroadcastToView broadcast_to; Chunk chunk; ChunkView chunk; ClampScalar clamp; ClampTensor clamp; Clone clone
    Copy clone; DiagonalView diagonal|offset,dim1,dim2; Divs div; EinsumExt einsum; EmptyLike empty_like
    EqualExt equal; Exp2 exp2; ExpandAs expand_as; ExpandDimsView unsqueeze; FFT fft; FFT2 fft2; FFTFreq fftfreq
    FFTN fftn; FFTShift fftshift; FloorDivScalar floor_divide; FmodScalar fmod; FmodTensor fmod; FullLike full_like
    GreaterEqualScalar greater_equal; HFFT hfft; HFFT2 hfft2; HFFTN hfftn; IFFT ifft; IFFT2 ifft2; IFFTN ifftn
    IFFTShift ifftshift; IHFFT ihfft; IHFFT2 ihfft2; IHFFTN ihfftn; IRFFT irfft; IRFFT2 irfft2; IRFFTN irfftn
    ImagView imag; IndexFillScalar index_fill; IndexFillTensor index_fill; IndexSelect index_select; IsNegInf isneginf
    KLDiv kl_div; Kthvalue kthvalue; LayerNormExt layer_norm; LerpScalar lerp; LinalgQr qr; LogAddExp logaddexp
    LogAddExp2 logaddexp2; MaskedFillScalar masked_fill; Max max; MaxDim max; MedianDim median; Min min; MinDim min
    Mm mm; Muls mul; Mv mv; Nansum nansum; Narrow narrow; NarrowView narrow; PowScalarTensor pow; PowTensorScalar pow
    RFFT rfft; RFFT2 rfft2; RFFTFreq rfftfreq; RFFTN rfftn; RealView real; RemainderScalarTensor remainder
    RemainderTensorScalar remainder; RemainderTensorTensor remainder; RepeatInterleaveInt repeat_interleave
    RepeatInterleaveTensor repeat_interleave; SelectExtView select; SelectV2 where; SplitTensor split
    SplitTensorView split; SplitWithSizeView split; Std std; StdMean std_mean; SubScalar sub; Swiglu swiglu
    TriangularSolve triangular_solve; Unique2 unique; UniqueDim unique; UnstackExtView unbind|dim; Var var
    VarMean var_mean; ViewAs view_as; XLogYScalarOther xlogy; XLogYScalarSelf xlogy
    InplaceAddExt add_; InplaceAddmm addmm_; InplaceClampScalar clamp_; InplaceClampTensor clamp_; InplaceCopy copy_
    InplaceDiv div_; InplaceDivs div_; InplaceErfinv erfinv_; InplaceExp exp_; InplaceFillDiagonal fill_diagonal_
    InplaceFillScalar fill_; InplaceFillTensor fill_; InplaceFloor floor_; InplaceFloorDivide floor_divide_
    InplaceFloorDivides floor_divide_; InplaceIndexAddExt index_add_; InplaceIndexCopy index_copy_
    InplaceIndexFillScalar index_fill_; InplaceIndexFillTensor index_fill_; InplaceIndexPut index_put_
    InplaceLog log_; InplaceMaskedFillScalar masked_fill_; InplaceMaskedFillTensor masked_fill_
    InplaceMaskedScatter masked_scatter_; InplaceMul mul_; InplaceMuls mul_; InplacePut put_
    InplaceRemainderTensorScalar remainder_; InplaceRemainderTensorTensor remainder_; InplaceScatterAdd scatter_add_
    InplaceSigmoid sigmoid_; InplaceSign sign_; InplaceSubExt sub_; InplaceSubScalar sub_; InplaceTanh tanh_
    InplaceZero zero_
    Contiguous contiguous; NewEmpty new_empty; NewFull new_full; NewOnes new_ones; NewZeros new_zeros; View view
    Repeat repeat; Index index
    InplaceElu elu_; InplaceHardtanh hardtanh_; InplaceReLU relu_; InplaceThreshold threshold_
    """
_CLASSES: dict[str, str] = {
    name: function for name, function in map(str.split, _ROWS.strip().replace("\n", ";").split(";"))
}


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


def _find_function(name):
    """Return the function of mint or ops with that name, or the method of Tensor."""
    return _find_mint_function(name) or getattr(F, name, None) or getattr(Tensor, name)


def find_overload(name: str) -> Callable[..., Any] | None:
    """Return the function of mint, or of ops if mint has none, with that name; None if there is none."""
    return _find_mint_function(name) or (getattr(F, name) if name in F.__all__ else None)


def _as_positional(function):
    """Return `function`, with arguments that it takes by keyword alone also behind the others, as generated functions
    take them."""
    if function is None:
        return None
    parameters = inspect.signature(function).parameters.values()
    if all(p.kind is not p.KEYWORD_ONLY for p in parameters) or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return function
    names = tuple(p.name for p in parameters)

    @functools.wraps(function)
    def positional(*args, **kwargs):
        return function(**_bind_arguments(function.__name__, names, args, kwargs))

    return positional


def _generate_function(name):
    """Return the function `clamp_scalar` of the class `ClampScalar`, None if there is no such class."""
    class_name = _class_by_letters().get(_letters_of(name))
    if class_name is None or name != _snake_case(class_name) or class_name in list_refused():
        return None
    operator = find_instance(name)
    if operator is None:
        return None

    def function(*args, **kwargs):
        return operator(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = type(operator).__doc__
    return function


def _snake_case(class_name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", class_name).lower()


def _letters_of(name):
    return name.replace("_", "").lower()


def _functions_of_ext():
    """Return {class: function}, such as {"BatchMatMulExt": "bmm_ext"}."""
    functions = {name: function.partition("|")[0] for name, function in _CLASSES.items()}
    return {
        n: f"{function}_ext" for n, function in functions.items() if n == "Mm" or "Ext" in n and function[-1] != "_"
    }


@functools.cache
def _class_by_letters():
    """Return {letters: class name} of all operators. 2.7.1 writes `ReflectionPad1D` as `reflection_pad_1d_op`, so only
    the letters agree."""
    classes = [*list_refused(), *FUNCTIONS, *_CLASSES, *(name for name in REGISTRY if not name.startswith("_"))]
    by_function = {_letters_of(function): name for name, function in _functions_of_ext().items()}
    return {"shardidentity": "AShardIdentity"} | by_function | {_letters_of(name): name for name in classes}


@functools.cache
def list_instances() -> list[str]:
    """Return the names, such as "add_ext_op", of the operators that `auto_generate` has as instances."""
    declared = [
        name for name, op in REGISTRY.items() if not name.startswith("_") and issubclass(op.primitive, Primitive)
    ]
    classes = [*FUNCTIONS, *_CLASSES, *declared]
    functions = _functions_of_ext()
    return sorted(f"{functions.get(name, _snake_case(name))}_op" for name in classes)


def list_classes() -> list[str]:
    """Return the names of the classes that `auto_generate` has beside those of `ops.operations`."""
    return [*FUNCTIONS, *_CLASSES]


def find_class(letters: str) -> Any:
    """Return the class of an operator whose name has these letters, None if there is none.

    Args:
        letters (str): The name in any case, with or without underscores, such as "reflection_pad_1d".
    """
    name = _class_by_letters().get(_letters_of(letters))
    if name is None:
        return None
    if name in flat_operators.__all__:
        return vars(flat_operators)[name]
    declared = REGISTRY.get(name)
    return generated(name) if declared is None else declared.primitive


def find_instance(letters: str) -> Primitive | None:
    """Return an operator that takes its inputs and behind them the arguments of its constructor, None if there is no
    operator of the name.

    Args:
        letters (str): The name, as `find_class` takes it.
    """
    operator = find_class(letters)
    if operator is None or not issubclass(operator, Primitive):
        return None
    if issubclass(operator, _MintOperator):
        count, settings = len(operator.arguments), [*operator.settings]
    else:
        declared = REGISTRY.get(operator.__name__)
        count, settings = (len(declared.inputs), [*declared.attributes]) if declared else (0, [])
    return flat(operator, count)() if settings and not issubclass(operator, FlatOperator) else operator()


@functools.cache
def generated(name: str) -> Any:
    """Return the operator class, its instance or the function that MindSpore 2 generates under a name; None if there is
    none. Operators that msnb does not compute have a class, whose instances raise NotImplementedError when called."""
    if name in VIEWS:
        return VIEWS[name]
    if name.endswith("_ext"):
        function = _as_positional(_find_mint_function(name[: -len("_ext")]))
        return _generate_function(name) if function is None else function
    if name.endswith("_op"):
        return find_instance(name[: -len("_op")])
    function, settings = FUNCTIONS.get(name), ()
    if name in _CLASSES:
        called, _, setting_names = _CLASSES[name].partition("|")
        function, settings = _find_function(called), tuple(setting_names.split(",")) if setting_names else ()
    if function is None:
        refused = refused_operator(name)
        return _generate_function(name) if refused is None and name.islower() else refused
    arguments = tuple(p for p in inspect.signature(function).parameters if p not in settings)
    body = {
        "function": staticmethod(function),
        "settings": settings,
        "arguments": arguments,
        "__doc__": function.__doc__,
    }
    return type(name, (_MintOperator,), {**body, "__module__": "msnb.ops.auto_generate"})
