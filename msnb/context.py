"""Settings of the running program: execution mode, device, folders for graphs, parallel modes.

Hot paths read a setting as an attribute, ``context._state.mode``. :func:`on_change` registers a function that reacts to
a change. Settings that only Ascend chips use are accepted, and a log message says once that they have no effect.
"""

import os
from collections.abc import Callable
from typing import Any

from msnb import log
from msnb._config.ms_context import MSContext
from msnb._config.parallel_settings import PIPELINE_DEFAULTS, resolve_synonyms
from msnb._config.parallel_settings import parallel as _parallel
from msnb._config.settings_table import Settings, directory, file, flag_or_level, gigabytes, mapping, only
from msnb.common.kinds import Between, Bool, Instance, Int, OneOf, Str, Worded, check

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "STRICT",
    "COMPATIBLE",
    "LAX",
    "set_context",
    "get_context",
    "set_auto_parallel_context",
    "get_auto_parallel_context",
    "reset_auto_parallel_context",
    "ParallelMode",
    "set_ps_context",
    "get_ps_context",
    "reset_ps_context",
]

GRAPH_MODE = 0
PYNATIVE_MODE = 1
STRICT, COMPATIBLE, LAX = 0, 1, 2  # MindSpore 2's values of jit_syntax_level
RELEASE, DEBUG = 0, 1  # MindSpore 2's values of debug_level


class ParallelMode:
    """Names of the parallel modes.

    - STAND_ALONE: one device.
    - DATA_PARALLEL: each device has the complete network and a slice of the batch.
    - HYBRID_PARALLEL: as DATA_PARALLEL, and the code of the network decides what else is sharded.
    - SEMI_AUTO_PARALLEL: the strategies of the operators decide what is sharded.
    - AUTO_PARALLEL: strategies are searched for.

    ``MODE_LIST`` has all of them.
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


# --- the program ----------------------------------------------------------------------------------------------------


def _check_mode(key, value):
    if not isinstance(value, int):
        raise (ValueError if value is None else TypeError)(
            f"'mode' should be context.GRAPH_MODE (0) or context.PYNATIVE_MODE (1), but got {value!r}."
        )
    if value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(f"'mode' should be context.GRAPH_MODE (0) or context.PYNATIVE_MODE (1), but got {value}.")
    return int(value)


def _check_device_target(key, value):
    if value is not None and not isinstance(value, str):
        raise TypeError(f"'device_target' should be str, but got {value!r} ({type(value).__name__}).")
    if value not in (*_PLATFORM_OF, "Ascend", "Davinci"):
        raise ValueError(f"'device_target' should be one of 'CPU', 'GPU', 'TPU' and 'Ascend', but got {value!r}.")
    value = "Ascend" if value == "Davinci" else value
    platforms = _find_devices_by_platform()
    if value == "Ascend" and "tpu" not in platforms:
        log.once(
            f"device_target='Ascend': XLA has no Ascend backend; the best device it has here is used instead: "
            f"{_describe_devices(_get_best_devices(platforms))}."
        )
    elif value in _PLATFORM_OF and _PLATFORM_OF[value] not in platforms:
        best = _NAME_OF.get(next(iter(platforms)), "CPU")
        extra = {
            "GPU": ' For an NVIDIA GPU: pip install "msnb[cuda]", then restart.',
            "TPU": ' On a machine with a TPU: pip install "msnb[tpu]", then restart.',
        }.get(value, "")
        if os.environ.get("JAX_PLATFORMS"):
            extra += (
                f" JAX looks for nothing but JAX_PLATFORMS={os.environ['JAX_PLATFORMS']}, which the environment names."
            )
        raise ValueError(
            f"device_target='{value}' was asked for, but JAX finds no {value} on this machine. It has: "
            f"{'; '.join(_describe_devices(devices) for devices in platforms.values())}. "
            f'Use context.set_context(device_target="{best}"), or leave device_target out.{extra}'
        )
    return value


_ALGORITHMS = ("conv_fprop_algo", "conv_dgrad_algo", "conv_wgrad_algo")


def _check_gpu_config(key, value):
    """Return the current settings updated by `value`. XLA itself chooses the algorithms of convolutions."""
    config = check(mapping, value, key, None)
    for name, setting in config.items():
        if name not in ("matmul_allow_tf32", "conv_allow_tf32", *_ALGORITHMS):
            raise ValueError(
                f"{key} has the keys 'matmul_allow_tf32' and 'conv_allow_tf32', which are bool, and "
                f"{', '.join(map(repr, _ALGORITHMS))}, which are str, but got {name!r}."
            )
        check(Str if name in _ALGORITHMS else Bool, setting, f"{name} of {key}", None)
        log.unused("set_context", _XLA_DECIDES, **{f"{name} of {key}": name in _ALGORITHMS})
    return {**_state.gpu_config, **config}


_XLA_DECIDES = "XLA decides this by itself"
_ASCEND_ONLY = "it is a setting of Ascend chips"

# key -> (default, check), and the reason if the setting has no effect
_TABLE = {
    "mode": (PYNATIVE_MODE, Worded("a mode", lambda value, key: _check_mode(key, value))),
    "device_target": (None, Worded("a device", lambda value, key: _check_device_target(key, value))),
    "device_id": (0, Between(Int, 0, 4095)),
    "save_graphs": (False, flag_or_level),
    "save_graphs_path": (".", directory),
    "print_file_path": ("", file),
    "reserve_class_name_in_scope": (True, Bool),
    "max_call_depth": (1000, Between(Int, 1, 2**31 - 1), "calls are limited by Python's own recursion limit"),
    "check_bprop": (False, Bool),
    "check_indices": (False, Bool),
    "show_progress": (True, Bool),
    "compile_effort": ("auto", OneOf("auto", "full", "quick")),
    "enable_sparse": (False, Bool, "sparse Tensors need no switch"),
    "precompile_only": (False, Bool, "programs compile when they are called"),
    "enable_auto_mixed_precision": (
        False,
        Bool,
        'choose the precision with Model(..., amp_level="O2") or Cell.to_float',
    ),
    "enable_graph_kernel": (False, Bool, "XLA fuses operators in any case"),
    "enable_reduce_precision": (True, Bool, _ASCEND_ONLY),
    "enable_dump": (False, Bool),
    "save_dump_path": (".", Str),
    "enable_profiling": (False, Bool, "use mindspore.profiler"),
    "profiling_options": ("training_trace", Str, "use mindspore.profiler"),
    "variable_memory_max_size": ("0GB", gigabytes(31), _XLA_DECIDES),
    "max_device_memory": ("1024GB", gigabytes(float("inf")), "set XLA_PYTHON_CLIENT_MEM_FRACTION before Python starts"),
    "enable_debug_runtime": (False, Bool, _XLA_DECIDES),
    # settings of MindSpore 1.2 and later
    "save_compile_cache": (False, Bool, "set enable_compile_cache"),  # only in MindSpore 1.2 and 1.3
    "load_compile_cache": (False, Bool, "set enable_compile_cache"),
    "enable_compile_cache": (None, Instance(bool, str)),
    "compile_cache_path": ("", directory),
    "pynative_synchronize": (False, Bool, "errors of an operator surface where it is called"),
    "deterministic": ("OFF", OneOf("ON", "OFF"), "set XLA_FLAGS=--xla_gpu_deterministic_ops=true"),
    "jit_level": ("", OneOf("O0", "O1", "O2"), _XLA_DECIDES),
    "jit_syntax_level": (2, Between(Int, 0, 2), _XLA_DECIDES),
    "jit_config": ({}, mapping, _XLA_DECIDES),
    "ascend_config": ({}, mapping, _ASCEND_ONLY),
    "gpu_config": ({}, Worded("settings of a GPU", lambda value, key: _check_gpu_config(key, value))),
    "jit_enable_inplace_ops": (True, Bool, _XLA_DECIDES),
    "debug_level": (0, Between(Int, 0, 1), _XLA_DECIDES),
    "grad_for_scalar": (False, Bool, "numbers among the inputs of a gradient always get one"),
    "inter_op_parallel_num": (0, Between(Int, 0, 2**31 - 1), _XLA_DECIDES),
    "runtime_num_threads": (0, Between(Int, 0, 2**31 - 1), _XLA_DECIDES),
    "op_timeout": (900, Between(Int, 0, 2**31 - 1), _XLA_DECIDES),
    "memory_optimize_level": ("O0", OneOf("O0", "O1"), _XLA_DECIDES),
    "memory_offload": ("OFF", OneOf("ON", "OFF"), _XLA_DECIDES),
    "mempool_block_size": ("1GB", gigabytes(float("inf")), _XLA_DECIDES),
    "graph_kernel_flags": ("", Str, _XLA_DECIDES),
    "support_binary": (False, Bool, _ASCEND_ONLY),
    "env_config_path": ("", Str, _ASCEND_ONLY),
    "aoe_tune_mode": ("", Str, _ASCEND_ONLY),
    "aoe_config": ({}, mapping, _ASCEND_ONLY),
    "auto_tune_mode": ("NO_TUNE", Str, _ASCEND_ONLY),
    "exec_order": ("bfs", OneOf("bfs", "dfs", "gpto"), _XLA_DECIDES),
    "disable_format_transform": (False, Bool, _XLA_DECIDES),
    "enable_mem_offload": (False, Bool, _XLA_DECIDES),
}

_settings = Settings("set_context", _TABLE)
_state = _settings.values
_listeners = {}
_k_context = None  # name of r1.1's variable for the object that _context() returns; its tests read it
K_CONTEXT: MSContext = MSContext.get_instance()  # MindSpore 2's object, of which libraries set the backend


def _context():
    return _state


def _get_mode():
    return _state.mode


def on_change(key: str, listener: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Call `listener(value)` when ``set_context`` changes the setting `key`. Return `listener`."""
    _listeners.setdefault(_settings.find(key), []).append(listener)
    return listener


def set_context(**kwargs: Any) -> None:
    """Change settings of the running program. Nothing changes when one of them is wrong.

    Args:
        mode (int): GRAPH_MODE (0) compiles each network as a whole, PYNATIVE_MODE (1) runs operator by operator.
            Default: PYNATIVE_MODE.
        device_target (str): "CPU", "GPU" or "TPU"; "Ascend" takes the best device XLA has. Default: that best device.
        device_id (int): Index among several devices of that kind. Default: 0.
        save_graphs (bool): Whether to write the graph of every network that is compiled. Default: False.
        save_graphs_path (str): Folder for these graphs; created if missing. Default: ".".
        reserve_class_name_in_scope (bool): Whether scopes in graphs name the classes of Cells. Default: True.
        enable_compile_cache (bool): Whether compiled programs are cached on disk, for later processes and equal
            networks. With None they are cached, unless MSNB_COMPILE_CACHE=0 is in the environment or JAX's own cache is
            configured. Default: None.
        compile_cache_path (str): Folder for the compiled programs. Default: "compiled" in the folder MSNB_CACHE, else
            in the user's cache folder.
        check_indices (bool): Whether a program of GRAPH mode raises at an index out of range, as PYNATIVE mode does.
            Each call then waits for the device. When False, reading out of range gives NaN, the smallest number of a
            signed integer type or the largest of an unsigned one, and writing out of range has no effect. Labels of
            losses are checked in any case. `%%mindspore --check` sets it for one cell. Default: False.
        show_progress (bool): Whether a line in the notebook or the terminal shows the progress of training and other
            long operations. MSNB_PROGRESS=0 in the environment switches it off, too. Default: True.
        compile_effort (str): "auto", "full" or "quick", for compilations for CPU. With "quick", compiling takes a third
            to a half of the time, and steps take two to ten times as long. With "auto", the first 11 to 64 calls of a
            large program run a quick executable; a full one is compiled in the background and takes over at a fixed
            call. The order of sums may differ, so results of the two executables agree up to rounding; equal programs
            compute equal bits in each run. A change compiles networks of GRAPH mode again. Default: "auto".
        gpu_config (dict): Precision of a GPU: "matmul_allow_tf32" (bool) allows rounding the factors of float32 matrix
            products to TF32, which is many times faster and has three digits; "conv_allow_tf32" allows it for
            convolutions. Missing keys keep their value. Default: False and True, as in MindSpore.
        kwargs: Further settings of r1.1 (enable_graph_kernel, enable_sparse, max_call_depth, ...) and of MindSpore 2.
            They are checked and stored. If one has no effect under XLA, this is logged once.

    Raises:
        ValueError: If a key is unknown, a value is out of range, or the device does not exist.
        TypeError: If a value has another type than the setting.

    Examples:
        >>> from mindspore import context
        >>> context.set_context(mode=context.GRAPH_MODE, device_target="CPU")
    """
    checked = _settings.check(kwargs)
    old = {key: getattr(_state, key) for key in checked}
    _settings.assign(checked)
    for key, value in checked.items():
        if value != old[key]:
            for listener in _listeners.get(key, ()):
                listener(value)


def get_context(attr_key: str) -> Any:
    """Return the value of a setting.

    Args:
        attr_key (str): Name of the setting, as in :func:`set_context`.

    Raises:
        ValueError: If there is no such setting.

    Examples:
        >>> from mindspore import context
        >>> context.get_context("mode")
        1
    """
    if attr_key == "enable_ge":
        return False
    key = _settings.find(attr_key)
    if key == "device_target" and _state.device_target is None:
        return _NAME_OF.get(next(iter(_find_devices_by_platform())), "GPU")
    return getattr(_state, key)


# --- devices --------------------------------------------------------------------------------------------------------

_PLATFORM_OF = {"CPU": "cpu", "GPU": "gpu", "TPU": "tpu"}
# r1.1 has the names CPU, GPU and Ascend; programs for r1.1 see a TPU as Ascend
_NAME_OF = {"cpu": "CPU", "gpu": "GPU", "tpu": "Ascend"}
_cached_platforms = None


def _find_devices_by_platform():
    """Return {platform: devices}, the best platform first. Devices are looked up once, at the first use."""
    global _cached_platforms
    if _cached_platforms is None:
        import jax  # lazy import: packages that only read settings do not need JAX

        platforms = {jax.default_backend(): jax.local_devices()}
        for platform in ("tpu", "gpu", "cpu"):
            try:
                platforms.setdefault(platform, jax.local_devices(backend=platform))
            except RuntimeError:  # JAX raises it for a platform without devices
                pass
        _cached_platforms = {
            "gpu" if name in ("cuda", "rocm") else name: devices for name, devices in platforms.items()
        }
    return _cached_platforms


def _get_best_devices(platforms):
    return next(iter(platforms.values()))


def _describe_devices(devices):
    kind = devices[0].device_kind
    name = {"gpu": "GPU", "tpu": "TPU", "cpu": "CPU"}.get(devices[0].platform, devices[0].platform.upper())
    extra = f" ({kind})" if kind.lower() != name.lower() else ""
    return f"{len(devices)} {name}{extra}" if len(devices) > 1 else f"{name}{extra}"


def devices(target: str | None = None) -> list[Any]:
    """Return all ``jax.Device`` of a kind.

    Args:
        target (str): "CPU", "GPU", "TPU", or "Ascend" for the best kind. Default: None, the kind in the settings.

    Raises:
        ValueError: If this machine has no such device, or `target` is another name.
    """
    name = _state.device_target if target is None else _check_device_target("device_target", target)
    platforms = _find_devices_by_platform()
    return platforms.get(_PLATFORM_OF.get(name or "", ""), _get_best_devices(platforms))


def device(target: str | None = None) -> Any:
    """Return the ``jax.Device`` that the settings select, or the first device of another kind.

    Args:
        target (str): The other kind; see :func:`devices`. Default: None, the device in the settings.
    """
    candidates = devices(target)
    if target is not None:
        return candidates[0]
    if _state.device_id >= len(candidates):
        log.once(
            f"context.set_context(device_id={_state.device_id}) has no effect: there is only "
            f"{_describe_devices(candidates)}; device 0 is used."
        )
        return candidates[0]
    return candidates[_state.device_id]


def _set_default_device(_=None):
    import jax

    selected = device()
    default = _get_best_devices(_find_devices_by_platform())[0]
    setting = None if selected == default else selected
    if jax.config.jax_default_device != setting:
        jax.config.update("jax_default_device", setting)


for _key in ("device_target", "device_id"):
    on_change(_key, _set_default_device)


# --- several devices ------------------------------------------------------------------------------------------------

_OF_SERVERS = "there are no parameter servers, so nothing is sent to one"
_ps = Settings(
    "set_ps_context",
    {
        "enable_ps": (False, only(False, Bool, "there are no parameter servers: train in one process without")),
        "enable_ssl": (False, Bool, _OF_SERVERS),
        "config_file_path": ("", Str, _OF_SERVERS),
        "client_password": ("", Str, _OF_SERVERS),
        "server_password": ("", Str, _OF_SERVERS),
    },
)


_parallel_listeners = []


def on_parallel_change(listener: Callable[[], Any]) -> Callable[[], Any]:
    """Call `listener()` after each ``set_auto_parallel_context`` or ``reset_auto_parallel_context``. Return
    `listener`.
    """
    _parallel_listeners.append(listener)
    return listener


def _notify_parallel_listeners():
    for listener in list(_parallel_listeners):
        listener()


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Change settings of parallel training. Nothing changes when one of them is wrong.

    Args:
        device_num (int): Number of devices, in [1, 4096]. A CPU is divided into as many devices, up to 64. Default: 1.
        global_rank (int): Number of this device, in [0, 4095]; no effect, see `communication.init`. Default: 0.
        gradients_mean (bool): Whether gradients are averaged over devices rather than summed. Default: False.
        gradient_fp32_sync (bool): Whether float16 gradients are summed in float32; no effect: "data_parallel" and
            "hybrid_parallel" do so, as in MindSpore. Default: True.
        loss_repeated_mean (bool): Whether a loss that several devices compute repeatedly is divided by their number; no
            effect: no loss is computed repeatedly. Default: True.
        parallel_mode (str): One of ``ParallelMode.MODE_LIST``. With "semi_auto_parallel" programs of GRAPH mode run on
            `device_num` devices as ``Primitive.shard`` says; operators without strategy follow their neighbours.
            "auto_parallel" searches strategies with the least communication. With "data_parallel" and
            "hybrid_parallel" each device runs the program on its slice of the batch. Default: "stand_alone".
        auto_parallel_search_mode (str): Search method of "auto_parallel". "dynamic_programming" finds the least
            communication. "recursive_programming" decides one mesh axis after the other, for each operator
            independently; it is faster, and its strategies communicate more. Default: "dynamic_programming".
        parameter_broadcast (bool): Whether process 0 sends its initial Parameters to the others when `Model.train`
            begins. Default: False.
        strategy_ckpt_load_file (str): MindSpore's strategy file of a training. In "semi_auto_parallel" and
            "auto_parallel", its strategies apply to the operators that read the Parameters in the file; they take
            precedence over `shard`. `load_distributed_checkpoint` merges the checkpoints of that training. Default: "".
        strategy_ckpt_save_file (str): File to which "semi_auto_parallel" and "auto_parallel" write the strategies of
            operators and the layouts of Parameters in MindSpore's format, at each compilation. Default: "".
        full_batch (bool): Whether each device gets all examples of each argument, rather than its slice, in the modes
            "semi_auto_parallel" and "auto_parallel"; other modes raise an error. In one process a batch has all
            examples. Networks for r1.1 may be written for `device_num` times as many: if a network of `Model` can only
            be traced with that number, each device gets the batch. Default: False.
        enable_parallel_optimizer (bool): Whether the state of an optimizer, such as its moments, is sharded over the
            devices that have the same slice of the Parameter, in "semi_auto_parallel". Default: False.
        all_reduce_fusion_config (list): Parameter indices, ascending, at which gradients are grouped for
            communication; no effect: XLA groups it. Default: [].
        pipeline_stages (int): Number of stages of `nn.PipelineCell`, a network of equal blocks, in
            "semi_auto_parallel". Default: 1.
        kwargs: Further settings of MindSpore 2. `dataset_strategy` is "full_batch", "data_parallel", or a tuple with a
            strategy for each argument; `strategy_ckpt_config` names the two strategy files. The other settings
            (comm_fusion, parallel_optimizer_config, ...) are checked and stored. They have no effect; this is logged.

    Raises:
        ValueError: If a key is unknown or a value out of range.
        TypeError: If a value has another type than the setting.

    Examples:
        >>> from mindspore import context
        >>> context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    """
    _parallel.assign(resolve_synonyms(_parallel.check(kwargs)))
    _notify_parallel_listeners()


def get_auto_parallel_context(attr_key: str) -> Any:
    """Return a setting of :func:`set_auto_parallel_context`. Raise a ValueError if there is none of that name."""
    if attr_key in PIPELINE_DEFAULTS:  # MindSpore 2 sets them by `pipeline_config`
        return _parallel.values.pipeline_config.get(attr_key, PIPELINE_DEFAULTS[attr_key])
    return getattr(_parallel.values, _parallel.find(attr_key))


def reset_auto_parallel_context() -> None:
    """Reset all settings of :func:`set_auto_parallel_context` to their defaults."""
    _parallel.reset()
    _notify_parallel_listeners()


def set_ps_context(**kwargs: Any) -> None:
    """Change settings of training with parameter servers.

    Args:
        enable_ps (bool): Whether parameter servers are used; not possible here yet. Default: False.
        enable_ssl (bool): Encryption of what is sent to a server. It has no effect. Default: False.
        config_file_path (str): Settings of the encryption. It has no effect. Default: "".
        client_password (str): Password of the client's certificate. It has no effect. Default: "".
        server_password (str): Password of the server's certificate. It has no effect. Default: "".

    Raises:
        ValueError: If a key is unknown.
        NotImplementedError: If `enable_ps` is True.
    """
    _ps.assign(_ps.check(kwargs))


def get_ps_context(attr_key: str) -> Any:
    """Return a setting of :func:`set_ps_context`. Raise a ValueError if there is none of that name."""
    return getattr(_ps.values, _ps.find(attr_key))


def reset_ps_context() -> None:
    """Reset all settings of :func:`set_ps_context` to their defaults."""
    _ps.reset()
