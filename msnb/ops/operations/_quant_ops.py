"""Re-export module of operators at MindSpore's path `mindspore.ops.operations._quant_ops`."""

from msnb.ops.operations import *  # noqa: F403
from msnb.ops.operations import __getattr__ as __getattr__
from msnb.ops.quant.fake_quant_param import FakeQuantParam as FakeQuantParam
