"""Pipeline parallelism: equal blocks of a network are stages on separate devices, and a batch is split into
micro-batches.

The operators before the blocks run for each micro-batch. Then all micro-batches go through the stages. Then the
operators after the blocks run for each micro-batch. The network is traced twice per micro-batch: up to its first block,
and completely. XLA removes the duplicate computation; a print before the first block happens twice.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, box
from msnb.nn._cell import deduplication

_thread = trace_state.thread


class _FirstBlockReached(BaseException):
    """Raised when the first block is called. A BaseException, so that `except Exception` of the network does not
    catch it."""

    def __init__(self, array):
        self.array = array


class _BlockInterceptor:
    """Replaces the calls of the blocks while a network is traced."""

    def __init__(self, blocks):
        self.numbers = {id(block): i for i, block in enumerate(blocks)}
        self.result: Any = None
        self.tensor: Any = None
        self.at: int = 0

    def catch(self, cell, args, kwargs):
        """Return the output of a block if `cell` is one, or None for another Cell."""
        number = self.numbers.get(id(cell))
        if number is None:
            return None
        if kwargs or len(args) != 1 or not isinstance(args[0], Tensor):
            raise NotImplementedError(
                f"A stage of a pipeline takes one Tensor and gives one, but {type(cell).__name__} is called with "
                f"{len(args) + len(kwargs)} inputs. Keep what else it needs as an attribute."
            )
        if number != self.at or number and args[0]._array is not self.tensor._array:
            raise NotImplementedError(
                f"The blocks of a pipeline follow one another, each called once with what the one before has given, "
                f"but block {number} ({type(cell).__name__}) is not called so. Put what is between them into them."
            )
        if self.result is None:
            raise _FirstBlockReached(args[0]._array)
        if number == 0:
            self.tensor = box(self.result)
        self.at += 1
        return self.tensor


class _StagePartitioner:
    """Partitioner inside a stage: operators are not sharded. See `core.sharding.partitioner`."""

    devices, stages, axes = 1, 1, []

    def run(self, kernel: Any, arrays: Any) -> Any:
        """Trace a call of an operator's function without sharding."""
        if kernel.name.meaning.strategy is not None:
            raise NotImplementedError(
                f"'{kernel.name.meaning.operator}' has a strategy and stands in a stage of a pipeline; a stage is "
                f"computed whole. Take the strategy away, or set pipeline_stages=1."
            )
        return kernel.run(*arrays)

    def hold(self, array: Any, _strategy: Any, what: str) -> Any:
        """Raise NotImplementedError: see `run`."""
        raise NotImplementedError(f"The {what} has a strategy and stands in a stage of a pipeline.")


def run(network: Any, parts: list[Any]) -> Any:
    """Return the sum of the outputs of a network over micro-batches, computed with its blocks on separate devices.

    Args:
        network (Cell): The network.
        parts (list): The inputs of each micro-batch.

    Raises:
        NotImplementedError: If the stages are not equal.
    """
    frame, partitioner = _thread.frame, _thread.spread
    blocks = blocks_of(network, partitioner.stages)
    keys = jax.random.split(frame.next_key(), len(parts))
    next_key, block_inputs = frame.key, []
    for part, key in zip(parts, keys):
        with trace_state.TraceFrame((), (), frame) as inner:
            inner.key = key
            block_inputs.append(_run_to_first_block(network, part, blocks))
    block_outputs = partitioner.pipelined(
        *_build_stage_function(blocks, frame, partitioner.stages), keys, jnp.stack(block_inputs)
    )
    total = None
    for number, (part, key) in enumerate(zip(parts, keys)):
        frame.key = key
        interceptor = _BlockInterceptor(blocks)
        interceptor.result = block_outputs[number]
        out = _call_with_interceptor(interceptor, network, part)
        if interceptor.at != len(blocks):
            raise NotImplementedError(f"Of the {len(blocks)} blocks of a pipeline {interceptor.at} are called.")
        total = out if total is None else total + out
    frame.key = next_key
    return total


class _MicroBatchInterceptor:
    """Splits the batch of a network into micro-batches, as in `nn.PipelineCell`."""

    def __init__(self, network, parts):
        self.network, self.parts = network, parts

    def catch(self, cell, args, kwargs):
        """Return the output of the pipeline if `cell` is the network, or None for another Cell."""
        if cell is not self.network:
            return None
        if kwargs:
            args, _ = cell._bind_keywords_to_positions(args, kwargs)
        return run(cell, [tuple([part(a, self.parts, k) for a in args]) for k in range(self.parts)])


@contextlib.contextmanager
def divided(network: Any, parts: int) -> Iterator[None]:
    """Return a context in which calls of `network` inside a trace run as a pipeline of `parts` micro-batches."""
    outer, _thread.pipeline = _thread.pipeline, _MicroBatchInterceptor(network, parts)
    try:
        yield
    finally:
        _thread.pipeline = outer


def part(value: Any, parts: int, number: int, name: str = "PipelineCell") -> Any:
    """Return the part `number` of a batch that is split into equal `parts`. A value that is not a Tensor is returned
    unchanged.

    Raises:
        ValueError: If the batch cannot be split evenly.
    """
    if not isinstance(value, Tensor):
        return value
    if not value.shape or value.shape[0] % parts:
        partitioner = _thread.spread
        rows = (
            f", the rows of one of {partitioner.devices} devices"
            if partitioner is not None and partitioner.axes
            else ""
        )
        raise ValueError(f"For '{name}', a batch should be in {parts} equal parts, but got one of {value.shape}{rows}.")
    length = value.shape[0] // parts
    return value[number * length : (number + 1) * length]


def _call_with_interceptor(interceptor, network, part):
    outer, _thread.pipeline = _thread.pipeline, interceptor
    try:
        return network(*part)
    finally:
        _thread.pipeline = outer


def _run_to_first_block(network, part, blocks):
    try:
        _call_with_interceptor(_BlockInterceptor(blocks), network, part)
    except _FirstBlockReached as reached:
        return reached.array
    raise NotImplementedError(f"{type(network).__name__} does not call the blocks that are stages of a pipeline.")


def blocks_of(network: Any, stages: int) -> list[Any]:
    """Return the equal Cells (blocks) of a network in the order of their stages. Each stage has the same number of
    blocks.

    If Cells have a `pipeline_stage`, the blocks are the equal Cells among them. Otherwise they are the largest group of
    equal Cells that are children of one Cell.

    Raises:
        NotImplementedError: If there are no such Cells.
    """
    cells = [cell for _, cell in network.cells_and_names()]
    marked = [cell for cell in cells if cell.pipeline_stage is not None]
    groups = (
        [_find_largest_equal_group(marked)]
        if marked
        else [_find_largest_equal_group(list(cell._cells.values())) for cell in cells]
    )
    blocks = max(groups, key=len, default=[])
    stage_numbers = [cell.pipeline_stage for cell in blocks]
    blocks_per_stage = len(blocks) // stages
    expected = [i // blocks_per_stage for i in range(len(blocks))] if blocks_per_stage else []
    if not blocks_per_stage or len(blocks) % stages or marked and stage_numbers != expected:
        suffix = f" with pipeline_stage {stage_numbers}" if marked else ""
        raise NotImplementedError(
            f"{stages} stages (pipeline_stages) should have as many equal blocks each, but {type(network).__name__} "
            f"has {len(blocks)}{suffix}. Equal are Cells of one class that differ in Parameters alone; put them into a "
            f"SequentialCell, or give them pipeline_stage = 0, 1, ... in their order."
        )
    return blocks


def _find_largest_equal_group(cells):
    """Return the largest group of equal Cells that have Parameters."""
    groups: dict[Any, list[Any]] = {}
    for cell in cells:
        try:
            likeness, members = deduplication.structure_key(cell)
        except deduplication.UniqueCell:
            continue
        if any(isinstance(m, Parameter) for m in members):
            groups.setdefault(likeness, []).append(cell)
    return max(groups.values(), key=len, default=[])


def _build_stage_function(blocks, frame, stages):
    """Return the function of one stage, and for each of its Parameters the arrays of all stages."""
    blocks_per_stage = len(blocks) // stages
    params = []
    for number in range(stages):
        members_of_blocks = [
            deduplication.structure_key(block)[1]
            for block in blocks[number * blocks_per_stage : (number + 1) * blocks_per_stage]
        ]
        params.append([m for members in members_of_blocks for m in members if isinstance(m, Parameter)])

    def stage(arrays, key, part):
        around, _thread.spread = _thread.spread, _StagePartitioner()
        try:
            with trace_state.TraceFrame(params[0], arrays, frame) as inner:
                inner.key = key
                out = box(part)
                for block in blocks[:blocks_per_stage]:
                    out = block(out)
                _check_stage_output(inner, out, part, blocks[0])
                return out._array
        finally:
            _thread.spread = around

    return stage, [[p._array for p in params_at] for params_at in zip(*params, strict=True)]


def _check_stage_output(inner, out, part, block):
    """Raise an error if the output of a stage differs from its input in shape or dtype, or the stage has side
    effects."""
    name = type(block).__name__
    if not isinstance(out, Tensor) or (out._array.shape, out._array.dtype) != (part.shape, part.dtype):
        raise NotImplementedError(
            f"A stage of a pipeline gives what the next one takes, but {name} makes of {describe(box(part))} "
            f"{describe(out)}."
        )
    if inner.writes() or inner.error is not None or inner.status is not None:
        why = "writes Parameters" if inner.writes() else "checks values as the graph runs"
        raise NotImplementedError(
            f"A stage of a pipeline only computes, but {name} {why}, such as BatchNorm does in training; use "
            f"LayerNorm, or set pipeline_stages=1."
        )
