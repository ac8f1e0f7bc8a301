"""Classes that describe hand-written Ascend kernels. They exist so that code which registers kernels can be
imported."""

from msnb import log

BUILT_IN_OPS_REGISTER_PATH = "mindspore/ops/_op_impl"
BUILT_IN_CUSTOM_OPS_REGISTER_PATH = "mindspore/ops/_op_impl/_custom_op"


def op_info_register(op_info):
    """Decorator for a hand-written Ascend kernel. It returns the function unchanged: such kernels do not run here.

    Args:
        op_info (Union[str, dict]): Description from one of the classes below.
    """
    if not isinstance(op_info, (str, dict)):
        raise TypeError(f"For 'op_info_register', 'op_info' should be a str or dict, but got {type(op_info).__name__}.")
    log.once("op_info_register() has no effect: Ascend kernels do not run here. Give the operator a method `kernel`.")
    return lambda fn: fn


class RegOp:
    """Collects the description of a kernel; every setter returns self.

    Args:
        op_name (str): Name of the operator.
    """

    def __init__(self, op_name=""):
        if not isinstance(op_name, str):
            raise TypeError(f"The name of an operator should be a string, but got {op_name!r}.")
        self.op_name = op_name
        self.info = {"op_name": op_name, "inputs": [], "outputs": [], "attr": [], "dtype_format": []}

    def _set_info(self, key, value):
        self.info[key] = value
        return self

    def dtype_format(self, *args):
        """Add one supported combination of types and layouts."""
        self.info["dtype_format"].append(args)
        return self

    def get_op_info(self):
        """Return the description as a dict."""
        return self.info

    def attr(self, name=None, *args, **kwargs):
        """Add an attribute."""
        self.info["attr"].append({"name": name, "args": args, **kwargs})
        return self

    def input(self, index=None, name=None, *args, **kwargs):
        """Add an input."""
        self.info["inputs"].append({"index": index, "name": name, "args": args, **kwargs})
        return self

    def output(self, index=None, name=None, *args, **kwargs):
        """Add an output."""
        self.info["outputs"].append({"index": index, "name": name, "args": args, **kwargs})
        return self


class AkgRegOp(RegOp):
    """Description of an AKG kernel."""


class AkgGpuRegOp(AkgRegOp):
    """Description of an AKG kernel for GPU."""


class AkgAscendRegOp(AkgRegOp):
    """Description of an AKG kernel for Ascend."""


class AiCPURegOp(RegOp):
    """Description of an AI CPU kernel."""


class CpuRegOp(RegOp):
    """Description of a kernel for CPU."""


class CustomRegOp(RegOp):
    """Description of the function of an `ops.Custom`."""

    def __init__(self, op_name="Custom"):
        super().__init__(op_name)

    def target(self, target=None):
        """Set the target device."""
        return self._set_info("target", target)


def custom_info_register(*reg_info):
    """Decorator that describes the function of `ops.Custom`; JAX needs no description, so the function is returned
    unchanged.

    Args:
        reg_info (Union[str, dict]): Descriptions from `CustomRegOp`.
    """
    for info in reg_info:
        if not isinstance(info, (str, dict)):
            raise TypeError(f"For 'custom_info_register', 'reg_info' should be dicts, but got {type(info).__name__}.")
    return lambda fn: fn


def _make_setter(key):
    def setter(self, value=None):
        return self._set_info(key, value)

    setter.__name__ = key
    setter.__doc__ = f"Set `{key}`."
    return setter


class TBERegOp(RegOp):
    """Description of a TBE kernel."""


for _key in (
    "async_flag",
    "binfile_name",
    "compute_cost",
    "kernel_name",
    "partial_flag",
    "reshape_type",
    "dynamic_format",
    "op_pattern",
    "fusion_type",
    "dynamic_compile_static",
    "dynamic_rank_support",
    "dynamic_shape",
    "input_to_attr_index",
    "need_check_supported",
    "is_dynamic_format",
    "real_input_index",
    "unknown_shape_formats",
):
    setattr(TBERegOp, _key, _make_setter(_key))
AiCPURegOp.fusion_type = RegOp.fusion_type = _make_setter("fusion_type")


class DataType:
    """Constants for pairs of type and layout: ``DataType.F32_NCHW == ("float32", "NCHW")``."""


_TYPES = {
    "None": "",
    "BOOL": "bool",
    "I8": "int8",
    "U8": "uint8",
    "I16": "int16",
    "U16": "uint16",
    "I32": "int32",
    "U32": "uint32",
    "I64": "int64",
    "U64": "uint64",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
}
_LAYOUTS = {
    "None": "",
    "Default": "DefaultFormat",
    "5HD": "NC1HWC0",
    "FracZ": "FRACTAL_Z",
    "FracNZ": "FRACTAL_NZ",
    "C1HWNCoC0": "C1HWNCoC0",
    "NCHW": "NCHW",
    "NHWC": "NHWC",
    "HWCN": "HWCN",
    "NDHWC": "NDHWC",
    "ChannelLast": "ChannelLast",
    "FracNZLSTM": "FRACTAL_NZ",
    "FracZNLSTM": "FRACTAL_ZN_LSTM",
}
for _type, _dtype in _TYPES.items():
    for _layout, _format in _LAYOUTS.items():
        setattr(DataType, f"{_type}_{_layout}", (_dtype, _format))
