"""Equal blocks as pipeline stages on eight devices."""

import collections

import numpy as np
from eight_devices import communication_of, set_devices

import msnb as ms
from msnb import Parameter, Tensor, context, log, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ops import operations as P


class Block(nn.Cell):
    """A Transformer block without attention. A `mask` cannot be passed in a pipeline."""

    def __init__(self, random, norm=None):
        super().__init__()
        draw = lambda *shape: Tensor(random.standard_normal(shape).astype(np.float32) / 4)  # noqa: E731
        self.wide, self.narrow = nn.Dense(8, 16, weight_init=draw(16, 8)), nn.Dense(16, 8, weight_init=draw(8, 16))
        self.norm = norm() if norm else nn.LayerNorm((8,))
        self.tanh = P.Tanh()

    def construct(self, x, mask=1.0):
        return x + mask * self.narrow(self.tanh(self.wide(self.norm(x))))


class Blocks(nn.Cell):
    """An embedding, equal blocks, and a layer with a loss."""

    def __init__(self, count=4, norm=None, masked=False):
        super().__init__()
        random = np.random.default_rng(2)
        self.table = nn.Embedding(10, 8, embedding_table=Tensor(random.standard_normal((10, 8)).astype(np.float32)))
        self.blocks = nn.CellList([Block(random, norm) for _ in range(count)])
        self.head = nn.Dense(8, 2, weight_init=Tensor(random.standard_normal((2, 8)).astype(np.float32)))
        self.masked = masked

    def construct(self, places):
        x = self.table(places)
        for block in self.blocks:
            x = block(x, 2.0) if self.masked else block(x)
        return ops.square(self.head(x)).mean()


def check_pipeline_computes_the_same():
    labels = Tensor(np.random.default_rng(0).integers(0, 10, 16).astype(np.int32))
    results = []
    for stages in (1, 2, 4):
        context.reset_auto_parallel_context()
        if stages > 1:
            set_devices(pipeline_stages=stages, full_batch=True)
        net = Blocks()
        if stages == 4:
            for number, cell in enumerate((*net.blocks, net.table, net.head)):
                cell.pipeline_stage = (0, 1, 2, 3, 0, 3)[number]
        step = nn.TrainOneStepCell(nn.PipelineCell(net, 4), nn.Adam(net.trainable_params(), 0.01)).set_train()
        losses = [step(labels).asnumpy() for _ in range(2)]
        results.append([*losses, *[p.asnumpy() for p in net.trainable_params()]])
        assert ("ppermute" in str(program_of(step, labels).jaxpr)) == (stages > 1)
    for other in results[1:]:
        for a, b in zip(other, results[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())


def check_parameters_and_batch_are_sharded():
    """Between two steps a device has a part of each Parameter of a block, and of what Adam keeps of it; in a step it
    sends what it has of them, once, and their gradients back, and hands on its rows of each part."""
    labels = Tensor(np.random.default_rng(0).integers(0, 10, 16).astype(np.int32))
    set_devices(pipeline_stages=2, full_batch=True)
    net = Blocks()
    step = nn.TrainOneStepCell(nn.PipelineCell(net, 4), nn.Adam(net.trainable_params(), 0.01)).set_train()
    step(labels)
    for param in step.get_parameters():
        inside = ".blocks." in f".{param.name}"
        assert param._array.sharding.shard_shape(param.shape) != param.shape or not inside, param.name
    bytes_per_device = collections.defaultdict(float)
    for one in communication_of(program_of(step, labels)):
        bytes_per_device[one.kind] += one.bytes
    params = sum(4 * p.size for p in net.blocks.get_parameters())
    assert bytes_per_device["all-to-all"] == 2 * (params / 2) / 2
    assert bytes_per_device["collective-permute"] == 2 * 5 * (
        4 / 4 * 8 * 4
    )  # there and back, 5 rounds, one row of four
    rows = nn.PipelineCell(Blocks(norm=lambda: _Centered()), 4)
    expected = rows(labels).asnumpy()
    context.reset_auto_parallel_context()
    np.testing.assert_allclose(expected, rows(labels).asnumpy(), rtol=1e-5)


class _Centered(nn.Cell):
    """A block whose examples depend on one another."""

    def construct(self, x):
        return x - x.mean(0)


class Drawing(nn.Cell):
    """Adds its scale at the positions of a random mask."""

    def __init__(self, scale):
        super().__init__()
        self.scale = Parameter(Tensor(np.float32(scale)), name="scale")
        self.dropout = nn.Dropout(0.75)

    def construct(self, x):
        return x + self.scale * 0.75 * self.dropout(ops.ones_like(x))


class Masks(nn.Cell):
    """The random masks of the blocks, for each micro-batch."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Drawing(2.0**i) for i in range(8)])

    def construct(self, x, part):
        for block in self.blocks:
            x = block(x)
        return ops.expand_dims(x, 1) * ops.expand_dims(part, 2)


def check_random_masks_differ_between_blocks_and_parts():
    """The rate is right, a seed repeats the masks, and gradients use the same masks."""
    parts = Tensor(np.repeat(np.eye(4, dtype=np.float32), 16, 0))
    nothing = Tensor(np.zeros((64, 32), np.float32))
    set_devices(pipeline_stages=2, full_batch=True)
    net = nn.PipelineCell(Masks().set_train(), 4).set_train()
    both = ms.value_and_grad(net, None, net.trainable_params())
    results = []
    for seed in (3, None, 3):
        if seed is not None:
            ms.set_seed(seed)
        out, grads = both(nothing, parts)
        bits = np.rint(out.asnumpy()).astype(np.int64)  # (row, part, column)
        masks = (bits[None] >> np.arange(8)[:, None, None, None]) & 1
        np.testing.assert_allclose([g.asnumpy() for g in grads], masks.sum((1, 2, 3)), rtol=1e-5)
        results.append(masks)
    first, second, again = results
    assert (first == again).all() and (first != second).any()
    assert abs(first.mean() - 0.75) < 0.01  # of 16384: three times its deviation
    rows = first.transpose(0, 2, 1, 3).reshape(-1, 32)
    assert len(np.unique(rows, axis=0)) > 0.95 * len(rows)


def check_unequal_stages_raise():
    labels = Tensor(np.zeros(16, np.int32))
    uneven = Blocks()
    for number, block in enumerate(uneven.blocks):
        block.pipeline_stage = min(number, 1)
    cut = Blocks()
    for block in cut.blocks:
        block.tanh.shard(((2, 1),))
    wrong = {
        "has 3. Equal are": Blocks(3),
        "with pipeline_stage [0, 1, 1, 1]": uneven,
        "takes one Tensor and gives one": Blocks(masked=True),
        "writes Parameters, such as BatchNorm": Blocks(norm=lambda: nn.BatchNorm1d(8)).set_train(),
        "'Tanh' has a strategy": cut,
    }
    set_devices(pipeline_stages=2, full_batch=True)
    for message, net in wrong.items():
        not_available(nn.PipelineCell(net, 4), labels, message)
    context.set_auto_parallel_context(parallel_mode="auto_parallel")
    not_available(nn.PipelineCell(Blocks(), 4), labels, "works in parallel_mode 'semi_auto_parallel'")


def check_unused_stages_are_reported():
    set_devices(pipeline_stages=2, full_batch=True)
    net = Blocks()
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    step(Tensor(np.zeros(16, np.int32)))
    assert any("where no nn.PipelineCell is called" in str(message) for message in log._logged_once)
    context.set_auto_parallel_context(parallel_mode="stand_alone")
    nn.PipelineCell(net, 4, stage_config={"blocks.1": 1})
    assert any("no effect in parallel_mode 'stand_alone'" in str(message) for message in log._logged_once)
    try:
        nn.PipelineCell(net, 4, stage_config={"blocks.9": 1})
    except KeyError as error:
        assert "names Cells that the network does not have, ['blocks.9']" in str(error), error
    else:
        raise AssertionError("a Cell that is not there has a stage")


def not_available(net, x, message):
    try:
        net(x)
    except NotImplementedError as error:
        assert message in str(error), error
        return
    raise AssertionError(f"not refused: {message}")
