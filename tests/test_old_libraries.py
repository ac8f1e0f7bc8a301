"""Names beneath MindSpore's public ones that libraries for r1.1 and its neighbours import, and what they do."""

import importlib

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb import dataset as ds
from msnb.nn.optim.optimizer import opt_init_args_register
from msnb.ops._grad.grad_base import bprop_getters
from msnb.ops.operations.comm_ops import _VirtualDataset, virtual_dataset
from msnb.ops.primitive import PrimitiveWithInfer

REACHED = {
    "common": "JitConfig jit jit_class lazy_inline Generator set_recursion_limit",
    "common.api": "jit jit_class ms_class ms_function _no_grad _pynative_executor",
    "common.lazy_inline": "lazy_inline",
    "common._monad": "U IO",
    "common.generator": "default_generator set_rng_state",
    "experimental.optim.optimizer": "Optimizer",
    "experimental.optim.lr_scheduler": "LRScheduler StepLR ReduceLROnPlateau",
    "nn.wrap.cell_wrapper": "TrainOneStepCell WithLossCell GradAccumulationCell",
    "nn.wrap.loss_scale": "_grad_scale grad_scale",
    "train.callback": "EarlyStopping History LambdaCallback ReduceLROnPlateau OnRequestExit BackupAndRestore",
    "train.callback._callback": "Callback _handle_loss",
    "train.metrics": "Metric Accuracy auc get_metrics rearrange_inputs",
    "train.loss_scaler": "all_finite init_status",
    "train.amp": "_config_level _check_kwargs _add_loss_network _do_keep_batchnorm_fp32 build_train_network",
    "ops._grad.grad_base": "bprop_getters",
    "ops.operations.comm_ops": "_VirtualDataset virtual_dataset AllReduce",
    "ops.composite.multitype_ops.zeros_like_impl": "zeros_like",
    "ops.composite.multitype_ops.ones_like_impl": "ones_like",
    "nn.optim.optimizer": "opt_init_args_register Optimizer",
    "nn.metrics.metric": "rearrange_inputs Metric",
    "dataset.engine": "config",
    "boost.grad_accumulation": "GradientAccumulation gradient_accumulation_op gradient_clear_op",
    "common.dtype": "QuantDtype qint4x2",
    "ops.operations._quant_ops": "FakeQuantParam",
    "rewrite": "Node NodeType PatternEngine PatternNode Replacement ScopedValue SymbolTree",
    "rewrite.common.namespace": "_subtree_black_list",
    "train.mind_ir_pb2": "ModelProto",
    "default_config": "__device_target__ __package_name__",
    "nn.layer.conv": "Conv2d Conv3d Conv3dTranspose",
    "nn.layer.padding": "ConstantPad2d ZeroPad2d",
    "nn.layer.transformer": "MultiheadAttention",
    "ops.function": "relu range concat",
    "train": "SummaryRecord Accuracy",
    "train.model": "Model ParallelMode",
    "train.summary.summary_record": "_get_summary_tensor_data _cache_summary_tensor_data",
}


@pytest.mark.parametrize("path", sorted(REACHED))
def test_the_names_are_there(path):
    module = importlib.import_module(f"msnb.{path}")
    assert [name for name in REACHED[path].split() if not hasattr(module, name)] == []


# ---------------------------------------------------------------------- data
def test_a_program_may_ask_whether_all_iterators_were_stopped():
    from msnb.dataset.engine import iterators

    rows = ds.NumpySlicesDataset([1, 2], shuffle=False).create_tuple_iterator()
    assert not iterators.check_iterator_cleanup()
    iterators._cleanup()
    assert iterators.check_iterator_cleanup()
    with pytest.raises(AttributeError, match="was stopped"):
        next(rows)
    iterators._unset_iterator_cleanup()
    assert not iterators.check_iterator_cleanup()


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("repeated", [1, 2])
def test_get_next_gives_rows_and_an_empty_one_where_an_epoch_ends(rows, repeated):
    data = ds.NumpySlicesDataset({"a": np.arange(rows)}, shuffle=False)
    for make, empty, value in (
        (data.create_dict_iterator, {}, lambda row: row["a"]),
        (data.create_tuple_iterator, [], lambda row: row[0]),
    ):
        iterator = make(num_epochs=repeated, output_numpy=True)
        for _ in range(repeated):
            assert [int(value(iterator.get_next())) for _ in range(rows)] == list(range(rows))
            assert iterator.get_next() == empty
        with pytest.raises(RuntimeError, match="number of epochs"):
            iterator.get_next()


def test_the_engines_config_is_that_of_the_data_sets():
    from msnb.dataset import engine

    before = ds.config.get_seed()
    engine.config.set_seed(before + 7)
    assert ds.config.get_seed() == before + 7
    ds.config.set_seed(before)


def test_a_constexpr_takes_what_mindspore_2_says_of_it():
    @ops.constexpr(reuse_result=False, check=False)
    def double(n):
        return 2 * n

    assert double(4) == 8


# ---------------------------------------------------------------------- networks
@pytest.mark.parametrize("chosen, seen", [(None, (1, 2, 3)), ([2, 0], (3, 1)), ([1], (2,)), ([], (1, 2, 3))])
def test_a_metric_gets_the_inputs_that_were_chosen(chosen, seen):
    class Kept(nn.Metric):
        def clear(self):
            self.seen = None

        @nn.rearrange_inputs
        def update(self, *inputs):
            self.seen = tuple(inputs)

        def eval(self):
            return self.seen

    metric = Kept()
    if chosen is not None:
        assert metric.set_indexes(chosen) is metric and metric.indexes == chosen
    assert metric(1, 2, 3) == seen
    for wrong in ("0", (0,), [0.5], [True], None):
        with pytest.raises(ValueError, match="list of int"):
            metric.set_indexes(wrong)


def test_an_optimizer_keeps_its_constructor_arguments():
    class Own(nn.Momentum):
        @opt_init_args_register
        def __init__(self, params, learning_rate, momentum=0.9, weight_decay=0.1):
            assert self.init_args["momentum"] == momentum
            super().__init__(params, learning_rate, momentum, weight_decay)

    class Around(nn.Optimizer):
        @opt_init_args_register
        def __init__(self, optimizer, factor=2.0):
            super().__init__(0.1, optimizer.parameters)

    params = nn.Dense(2, 2).trainable_params()
    inner = Own(params, 0.5, weight_decay=0.0)
    assert inner.init_args == {"learning_rate": 0.5, "momentum": 0.9, "weight_decay": 0.0}
    assert inner.init_params == {"params": params}
    around = Around(inner)
    assert around.init_args == {"factor": 2.0} and list(around.init_params["params"]) == params
    gradients = tuple(Tensor(np.ones(p.shape, np.float32)) for p in params)
    before = params[0].asnumpy()
    inner(gradients)
    np.testing.assert_allclose(params[0].asnumpy(), before - 0.5, rtol=1e-6)


# ---------------------------------------------------------------------- operators
@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_a_virtual_dataset_gives_its_inputs_and_passes_gradients(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mark = _VirtualDataset()

        def construct(self, x, y):
            x, y = self.mark(x, y)
            return self.mark(x * y)

    context.set_context(mode=mode)
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 5.0])
    assert Net()(x, y).asnumpy().tolist() == [3.0, 10.0]
    grads = ops.GradOperation(get_all=True)(Net())(x, y)
    assert [g.asnumpy().tolist() for g in grads] == [[3.0, 5.0], [1.0, 2.0]]
    assert virtual_dataset(x).asnumpy().tolist() == [1.0, 2.0]


class Scaled(PrimitiveWithInfer):
    def __init__(self, factor):
        super().__init__("Scaled")
        self.add_prim_attr("factor", factor)

    def kernel(self, x, y):
        return x * self.factor + y, x


@bprop_getters.register(Scaled)
def _scaled_grad(prim):
    def bprop(x, y, out, dout):
        return dout[0] * 100.0 * prim.factor + dout[1] + out[1], ops.zeros_like(y)

    return bprop


class Halved(PrimitiveWithInfer):
    def __init__(self):
        super().__init__("HalvedOfALibrary")

    def kernel(self, x):
        return x / 2


bprop_getters.register("HalvedOfALibrary")(lambda prim: lambda x, out, dout: (dout * 7.0,))


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
def test_the_gradient_registered_for_ones_own_operator_is_taken(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scaled, self.halved = Scaled(2.0), Halved()

        def construct(self, x, y):
            return self.halved(self.scaled(x, y)[0])

    context.set_context(mode=mode)
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 5.0])
    np.testing.assert_allclose(Net()(x, y).asnumpy(), [2.5, 4.5])
    first, second = ops.GradOperation(get_all=True)(Net())(x, y)
    np.testing.assert_allclose(first.asnumpy(), 7 * 100 * 2 + np.array([1.0, 2.0]))
    assert second.asnumpy().tolist() == [0.0, 0.0]


def test_a_gradient_of_the_wrong_count_is_reported_and_mindspores_stay():
    class Wrong(PrimitiveWithInfer):
        def kernel(self, x):
            return x

    bprop_getters.register(Wrong)(lambda prim: lambda x, out, dout: (dout, dout))
    context.set_context(mode=context.PYNATIVE_MODE)
    with pytest.raises(TypeError, match="one Tensor per input"):
        ops.GradOperation()(Wrong("Wrong"))(Tensor([1.0]))
    with pytest.raises(ValueError, match="has a gradient"):
        bprop_getters.register(ops.ReLU)
    with pytest.raises(TypeError, match="class of an operator"):
        bprop_getters.register(3)


def test_zeros_like_stands_at_mindspores_path():
    from msnb.ops.composite.multitype_ops.zeros_like_impl import zeros_like

    assert zeros_like(Tensor([1.0, 2.0], ms.float16)).asnumpy().tolist() == [0.0, 0.0]


def test_a_library_may_derive_from_what_rewrites_a_cells_source_and_is_warned_when_it_does():
    from msnb.rewrite import PatternEngine, SymbolTree

    class Fused(PatternEngine):
        pass

    for use in (lambda: Fused([nn.Conv2d, nn.ReLU]), lambda: SymbolTree.create(nn.ReLU())):
        with pytest.raises(NotImplementedError, match="derive a class from it"):
            use()
    assert getattr(SymbolTree, "_anything", None) is None  # as tools ask


def test_what_is_known_of_integers_passes_values_on():
    from msnb.common.dtype import QuantDtype
    from msnb.ops.operations._quant_ops import FakeQuantParam

    parameter = FakeQuantParam.linear_quant_param(QuantDtype.INT16, (0.5, 2.0), 1, is_per_channel=True)
    assert (parameter.quant_dtype.num_bits, parameter.linear_quant_scale, parameter.linear_quant_zero_point) == (
        16,
        [0.5, 2.0],
        [1],
    )
    assert parameter(Tensor([0.25, 1.0])).asnumpy().tolist() == [0.25, 1.0]
    for wrong in ((QuantDtype.INT8, 1, 1), (QuantDtype.INT8, 0.5, 0.5), (8, 0.5, 1)):
        with pytest.raises(TypeError, match="For 'FakeQuantParam'"):
            FakeQuantParam.linear_quant_param(*wrong)
