"""msnb: MindSpore's interface on JAX, for notebooks.

`import msnb as ms` replaces `import mindspore as ms`. In a notebook, `%load_ext msnb` adds the magic `%%mindspore` and
the views of graphs and runs.
"""

# ruff: noqa: E402 - the first imports are inside a `with` block
import os as _os
import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from msnb._util import command_line as _command_line  # first: `python -m msnb --help` needs no JAX
from msnb._util.freed_memory import reuse_freed_memory as _reuse_freed_memory
from msnb._util.gc_pause import uncollected as _uncollected

_reuse_freed_memory()  # before JAX starts threads, whose heaps it concerns
with _uncollected():
    from msnb._util import version_check as _version_check  # isort: skip - it warns of an untested JAX before JAX fails
    from msnb import (
        context,
        log,
        ops,  # its declarations attach the methods of Tensor
    )
from msnb._version import __version__
from msnb.common import dtype as _dtype
from msnb.common.display_hooks import by as _shown_by
from msnb.common.dtype import (
    Int,
    QuantDtype,
    Type,
    bfloat16,
    bool_,
    byte,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype_to_nptype,
    dtype_to_pytype,
    float16,
    float32,
    float64,
    float_,
    get_py_obj_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    issubclass_,
    list_,
    long,
    number,
    pytype_to_dtype,
    short,
    single,
    string,
    tensor,
    tensor_type,
    tuple_,
    type_none,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ushort,
)
from msnb.common.missing import asked as _asked
from msnb.common.progress import in_notebook as _in_notebook
from msnb.common.seed import get_seed, set_seed
from msnb.context import (
    COMPATIBLE,
    GRAPH_MODE,
    LAX,
    PYNATIVE_MODE,
    STRICT,
    ParallelMode,
    get_context,
    set_context,
)
from msnb.core import MetaTensor, Parameter, ParameterTuple, RowTensor, SparseTensor, Tensor
from msnb.core.operator import tensor_function as _tensor_of
from msnb.core.transforms.grad import grad, value_and_grad
from msnb.core.transforms.jit import jit, ms_function
from msnb.log import get_level, get_log_config

from_numpy = Tensor.from_numpy


def _import_submodule(module: str) -> Any:
    return _import_module(f"msnb.{module}")  # lazy: a module is imported when it is first used


context.on_change("save_graphs", lambda on: on and _import_submodule("ir.save").install())
for _key in ("enable_dump", "save_dump_path"):
    context.on_change(_key, lambda _: _import_submodule("insight.dump").follow_context())
context.on_change("print_file_path", lambda path: _import_submodule("train._print_file").redirect_to(path))
context.on_parallel_change(lambda: _import_submodule("parallel.modes.select").follow_context())
_shown_by(lambda value: _import_submodule("notebook.display.formatters").mime(value))
if "marimo" in _sys.modules:  # marimo has no hook for the display of errors
    _import_module("msnb.notebook.kernel.marimo_errors").install()
_in_notebook(lambda: _import_submodule("notebook.kernel.progress").NotebookLine())

if TYPE_CHECKING:  # editors need these imports, because they do not run `__getattr__`
    from msnb import (
        communication,
        dataset,
        device_manager,
        hal,
        insight,
        mindrecord,
        mint,
        model_zoo,
        nn,
        numpy,
        parallel,
        profiler,
        runtime,
        train,
    )
    from msnb.common import dtype
    from msnb.common.dtype import TensorType
    from msnb.common.jit_config import JitConfig
    from msnb.context import (
        get_auto_parallel_context,
        get_ps_context,
        reset_auto_parallel_context,
        reset_ps_context,
        set_auto_parallel_context,
        set_ps_context,
    )
    from msnb.core.custom import custom_operator, pallas_operator
    from msnb.core.custom.check_operator import check_operator
    from msnb.core.eager.no_grad import _no_grad
    from msnb.core.tensor.generator import (
        Generator,
        default_generator,
        get_rng_state,
        initial_seed,
        manual_seed,
        seed,
        set_rng_state,
    )
    from msnb.core.tensor.memory import frombuffer, swap_tensors
    from msnb.core.transforms.compiler_hints import (
        jit_class,
        lazy_inline,
        ms_class,
        ms_memory_recycle,
        mutable,
        no_inline,
        set_recursion_limit,
    )
    from msnb.core.transforms.functional import jacfwd, jacrev, jvp, vjp, vmap
    from msnb.core.transforms.recompute import recompute
    from msnb.device_manager import DeviceCtx, get_current_device, set_deterministic, set_device
    from msnb.exchange.onnx.read import load_onnx
    from msnb.exchange.source import to_source
    from msnb.exchange.stablehlo import load_stablehlo
    from msnb.insight.debugger import debugger
    from msnb.insight.debugger.onnxruntime_run import in_onnxruntime
    from msnb.insight.debugger.variants import in_dtype, in_mode, on_device
    from msnb.insight.dump.targets import set_dump
    from msnb.insight.interventions import intervene
    from msnb.insight.tuning import tune
    from msnb.nn.frozen import frozen
    from msnb.notebook.attribution import attribute
    from msnb.notebook.dashboard import dashboard
    from msnb.notebook.display.summary import summary
    from msnb.notebook.explainer import explanations
    from msnb.notebook.gradients import GradientMonitor, inspect_gradients
    from msnb.notebook.graph import diff, timeline, view, watch
    from msnb.notebook.graph.patch_view import patch
    from msnb.notebook.graph.why_view import why
    from msnb.notebook.labels import label
    from msnb.notebook.runs import runs
    from msnb.ops import get_grad, is_tensor
    from msnb.ops._sparse_formats import COOTensor, CSRTensor
    from msnb.parallel import get_algo_parameters, reset_algo_parameters, set_algo_parameters
    from msnb.parallel.shard import shard
    from msnb.parallel.sharding.named_layout import Layout
    from msnb.profiler import Profiler
    from msnb.run_check import run_check
    from msnb.runtime import (
        Event,
        Stream,
        StreamCtx,
        communication_stream,
        current_stream,
        default_stream,
        dispatch_threads_num,
        empty_cache,
        launch_blocking,
        max_memory_allocated,
        max_memory_reserved,
        memory_allocated,
        memory_reserved,
        memory_stats,
        memory_summary,
        reset_max_memory_allocated,
        reset_max_memory_reserved,
        reset_peak_memory_stats,
        set_cpu_affinity,
        set_cur_stream,
        set_kernel_launch_group,
        set_memory,
        synchronize,
    )
    from msnb.train import (
        F1,
        MAE,
        MSE,
        ROC,
        Accuracy,
        BleuScore,
        ConfusionMatrix,
        ConfusionMatrixMetric,
        CosineSimilarity,
        DatasetHelper,
        Dice,
        DynamicLossScaleManager,
        Fbeta,
        FixedLossScaleManager,
        HausdorffDistance,
        Loss,
        LossScaleManager,
        MeanSurfaceDistance,
        Metric,
        Model,
        OcclusionSensitivity,
        Perplexity,
        Precision,
        Recall,
        RootMeanSquareDistance,
        SummaryRecord,
        Top1CategoricalAccuracy,
        Top5CategoricalAccuracy,
        TopKCategoricalAccuracy,
        amp,
        async_ckpt_thread_status,
        auc,
        build_searched_strategy,
        build_train_network,
        ckpt_to_safetensors,
        connect_network_with_dataset,
        data_sink,
        export,
        get_metric_fn,
        load,
        load_checkpoint,
        load_checkpoint_async,
        load_distributed_checkpoint,
        load_mindir,
        load_param_into_net,
        merge_sliced_parameter,
        names,
        parse_print,
        rearrange_inputs,
        safetensors_to_ckpt,
        save_checkpoint,
    )
    from msnb.train.callback import (
        BackupAndRestore,
        Callback,
        CheckpointConfig,
        EarlyStopping,
        History,
        LambdaCallback,
        LearningRateScheduler,
        LossMonitor,
        ModelCheckpoint,
        OnRequestExit,
        ReduceLROnPlateau,
        RunContext,
        SummaryCollector,
        TimeMonitor,
    )
    from msnb.train.recording import record
    from msnb.train.weights import load_weights, save_weights

# Imported on first access: name -> module.
_LATER = {
    **dict.fromkeys(
        (
            "Model",
            "DatasetHelper",
            "connect_network_with_dataset",
            "build_train_network",
            "LossScaleManager",
            "FixedLossScaleManager",
            "DynamicLossScaleManager",
            "save_checkpoint",
            "load_checkpoint",
            "load_checkpoint_async",
            "ckpt_to_safetensors",
            "safetensors_to_ckpt",
            "load_param_into_net",
            "export",
            "load",
            "load_mindir",
            "parse_print",
            "build_searched_strategy",
            "merge_sliced_parameter",
            "load_distributed_checkpoint",
            "async_ckpt_thread_status",
            "amp",
            "data_sink",
            "BleuScore",
            "ConfusionMatrix",
            "ConfusionMatrixMetric",
            "CosineSimilarity",
            "Dice",
            "HausdorffDistance",
            "MeanSurfaceDistance",
            "OcclusionSensitivity",
            "Perplexity",
            "ROC",
            "RootMeanSquareDistance",
            "auc",
            "Metric",
            "rearrange_inputs",
            "names",
            "SummaryRecord",
            "get_metric_fn",
            "Accuracy",
            "MAE",
            "MSE",
            "Precision",
            "Recall",
            "Fbeta",
            "F1",
            "TopKCategoricalAccuracy",
            "Top1CategoricalAccuracy",
            "Top5CategoricalAccuracy",
            "Loss",
        ),
        "msnb.train",
    ),
    "frozen": "msnb.nn.frozen",
    "TensorType": "msnb.common.dtype",
    **dict.fromkeys(("get_grad", "is_tensor"), "msnb.ops"),
    "mutable": "msnb.core.transforms.compiler_hints",
    "recompute": "msnb.core.transforms.recompute",
    "Layout": "msnb.parallel.sharding.named_layout",
    "shard": "msnb.parallel.shard",
    **dict.fromkeys(("set_device", "get_current_device", "set_deterministic", "DeviceCtx"), "msnb.device_manager"),
    "_Function": "msnb.common._grad_function",
    **dict.fromkeys(("frombuffer", "swap_tensors"), "msnb.core.tensor.memory"),
    **dict.fromkeys(
        ("jit_class", "ms_class", "lazy_inline", "no_inline", "set_recursion_limit", "ms_memory_recycle"),
        "msnb.core.transforms.compiler_hints",
    ),
    "_no_grad": "msnb.core.eager.no_grad",
    "JitConfig": "msnb.common.jit_config",
    **dict.fromkeys(("COOTensor", "CSRTensor"), "msnb.ops._sparse_formats"),
    **dict.fromkeys(
        (
            "Generator",
            "default_generator",
            "seed",
            "manual_seed",
            "initial_seed",
            "get_rng_state",
            "set_rng_state",
        ),
        "msnb.core.tensor.generator",
    ),
    "run_check": "msnb.run_check",
    "set_dump": "msnb.insight.dump.targets",
    **dict.fromkeys(
        (
            "launch_blocking",
            "dispatch_threads_num",
            "set_cpu_affinity",
            "set_kernel_launch_group",
            "Stream",
            "StreamCtx",
            "Event",
            "synchronize",
            "current_stream",
            "default_stream",
            "communication_stream",
            "set_cur_stream",
            "set_memory",
            "memory_stats",
            "memory_reserved",
            "max_memory_reserved",
            "memory_allocated",
            "max_memory_allocated",
            "memory_summary",
            "empty_cache",
            "reset_peak_memory_stats",
            "reset_max_memory_reserved",
            "reset_max_memory_allocated",
        ),
        "msnb.runtime",
    ),
    **dict.fromkeys(("set_algo_parameters", "get_algo_parameters", "reset_algo_parameters"), "msnb.parallel"),
    "load_onnx": "msnb.exchange.onnx.read",
    "load_stablehlo": "msnb.exchange.stablehlo",
    "to_source": "msnb.exchange.source",
    **dict.fromkeys(("custom_operator", "pallas_operator"), "msnb.core.custom"),
    "check_operator": "msnb.core.custom.check_operator",
    **dict.fromkeys(
        (
            "Callback",
            "LossMonitor",
            "TimeMonitor",
            "ModelCheckpoint",
            "CheckpointConfig",
            "RunContext",
            "LearningRateScheduler",
            "SummaryCollector",
            "EarlyStopping",
            "ReduceLROnPlateau",
            "History",
            "LambdaCallback",
            "OnRequestExit",
            "BackupAndRestore",
        ),
        "msnb.train.callback",
    ),
    **dict.fromkeys(
        (
            "set_auto_parallel_context",
            "get_auto_parallel_context",
            "reset_auto_parallel_context",
            "set_ps_context",
            "get_ps_context",
            "reset_ps_context",
        ),
        "msnb.context",
    ),
    **dict.fromkeys(("Profiler",), "msnb.profiler"),
    **dict.fromkeys(("inspect_gradients", "GradientMonitor"), "msnb.notebook.gradients"),
    **dict.fromkeys(("jvp", "vjp", "jacfwd", "jacrev", "vmap"), "msnb.core.transforms.functional"),
}
_SUBMODULES = frozenset(
    (
        "alias",
        "common",
        "communication",
        "compression",
        "core",
        "dataset",
        "device_manager",
        "explainer",
        "formats",
        "hal",
        "insight",
        "interventions",
        "ir",
        "labelling",
        "mindrecord",
        "mint",
        "model_zoo",
        "nn",
        "notebook",
        "numpy",
        "parallel",
        "profiler",
        "rewrite",
        "runtime",
        "samples",
        "scipy",
        "tools",
        "train",
        "_checkparam",
        "_extends",
    )
)


# msnb's own functions: `dir(msnb)` lists them, `from mindspore import *` does not import them
_VIEWS = {
    "view": "msnb.notebook.graph",
    "diff": "msnb.notebook.graph",
    "timeline": "msnb.notebook.graph",
    "debugger": "msnb.insight.debugger",
    "watch": "msnb.notebook.graph",
    "why": "msnb.notebook.graph.why_view",
    **dict.fromkeys(("in_mode", "in_dtype", "on_device"), "msnb.insight.debugger.variants"),
    "in_onnxruntime": "msnb.insight.debugger.onnxruntime_run",
    "intervene": "msnb.insight.interventions",
    "patch": "msnb.notebook.graph.patch_view",
    "attribute": "msnb.notebook.attribution",
    "summary": "msnb.notebook.display.summary",
    "label": "msnb.notebook.labels",
    "record": "msnb.train.recording",
    "dashboard": "msnb.notebook.dashboard",
    "explanations": "msnb.notebook.explainer",
    "runs": "msnb.notebook.runs",
    "tune": "msnb.insight.tuning",
    **dict.fromkeys(("load_weights", "save_weights"), "msnb.train.weights"),
}


def __getattr__(name: str) -> Any:
    if name in _LATER or name in _VIEWS:
        module = _import_submodule((_VIEWS.get(name) or _LATER[name]).removeprefix("msnb."))
        value = globals()[name] = getattr(module, name)
        return value
    if name in _SUBMODULES:
        try:
            return _import_submodule(name)
        except ModuleNotFoundError as missing:
            if missing.name != f"msnb.{name}":
                raise
    if name == "dtype":
        return _dtype
    if name in _dtype._AS_PYTHON:
        return _dtype._AS_PYTHON[name]
    return _asked(__name__, name)


# names that this module imports for itself and does not export
_HELPERS = frozenset(("Any", "TYPE_CHECKING"))


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_VIEWS, *_SUBMODULES} - _HELPERS)


def load_ipython_extension(ipython: Any) -> None:
    """Run for `%load_ext msnb`."""
    _import_notebook().load_ipython_extension(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Run for `%unload_ext msnb`."""
    _import_notebook().unload_ipython_extension(ipython)


def _import_notebook():
    return _import_submodule("notebook")


if _os.environ.get("MINDSPORE_DUMP_CONFIG"):
    _import_submodule("insight.dump").follow_context()

__all__ = ["__version__", *(n for n in globals() if not n.startswith("_") and n not in _HELPERS), *_LATER]
