"""Writes strategy.ckpt, as MindSpore's compiler writes strategy files, with the classes of an installed MindSpore.

python tests/golden/make_strategy.py        (of an environment that has MindSpore)
"""

from pathlib import Path

from mindspore.train.node_strategy_pb2 import ParallelStrategyMap

LAYOUTS = {"w1": ([2, 4], [0, -1], []), "table": ([2, 1], [1, 0], [3, 5])}

found = ParallelStrategyMap()
found.current_stage = 1
item = found.parallel_strategy_item.add()
item.node_name = "MatMul_w1"
item.parallel_strategys.stage = 0
for cuts in ((2, 1), (4, 1)):
    item.parallel_strategys.parallel_strategy.add().dim.extend(cuts)
for name, (matrix, tensor_map, rows) in LAYOUTS.items():
    item = found.parallel_layout_item.add()
    item.param_name = name
    layout = item.parallel_layouts
    layout.dev_matrix.add().dim.extend(matrix)
    layout.tensor_map.add().dim.extend(tensor_map)
    layout.param_split_shape.add().dim.extend(rows)
    layout.indices_offset.add().dim.extend([0, 3][: len(rows)])
    layout.field = layout.opt_weight_shard_step = layout.opt_weight_shard_size = 0
(Path(__file__).parent / "strategy.ckpt").write_bytes(found.SerializeToString())
