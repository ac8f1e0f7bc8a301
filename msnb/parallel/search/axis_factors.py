"""Factors of an equation: sets of axes of its operands and results that are sharded together.

Each axis of each operand and result has a factor, a number, like the letters of an einsum, or None if it must not be
sharded. A factor that no result has is summed over: sharding it costs an all-reduce. An equation without a rule is not
sharded.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msnb.core.operator.rule_table import RuleTable
from msnb.parallel.graph.flatten_jaxpr import Equation

Labels = list[int | None]

FACTORS = RuleTable(
    "a rule of which axes may be cut",
    "It is computed whole on each device; say better in msnb/parallel/search/axis_factors.py: "
    "@FACTORS.register('{name}').",
    key=lambda primitive: getattr(primitive, "name", primitive),
)


class InnerSum(NamedTuple):
    """A value inside an equation that is a sum over an axis of the equation.

    Attributes:
        factor (int): The factor that is summed over.
        bytes (float): Size of the value times the number of sums.
        labels (list): The factor of each of its axes.
    """

    factor: int
    bytes: float
    labels: Sequence[int | None]


class Factors(NamedTuple):
    """The factor of each axis of an equation's operands and results.

    A factor is a number. Axes with the same factor are iterated together, like axes with one letter in an einsum, and
    are sharded together. None stands for an axis that cannot be sharded.

    Attributes:
        inputs (list[list]): The factor of each axis of each input.
        outputs (list[list]): The factor of each axis of each output.
        can_sum (bool): True if a factor that no output has may be sharded, with an all-reduce. Default: True.
        inner_sums (list[InnerSum]): Sums inside an equation with a nested graph. Default: ().
    """

    inputs: Sequence[Sequence[int | None]]
    outputs: Sequence[Sequence[int | None]]
    can_sum: bool = True
    inner_sums: Sequence[InnerSum] = ()


def factors_of(equation: Equation) -> Factors:
    """Return the factors of an equation. An equation without a rule is not sharded."""
    rule = FACTORS.get(equation.primitive)
    factors = rule(equation) if rule is not None else _elementwise_factors(equation)
    if factors is not None:
        return factors
    return Factors(
        [[None] * len(shape) for shape in equation.shapes], [[None] * len(o.shape) for o in equation.outputs], False
    )


def _elementwise_factors(equation):
    """Return the factors of an equation whose operands have the shape of the result, or size 1 where they are
    broadcast. Return None for other shapes.
    """
    out = equation.outputs[0].shape
    if any(o.shape != out for o in equation.outputs):
        return None
    inputs = []
    for shape in equation.shapes:
        if shape == ():
            inputs.append([])
        elif len(shape) == len(out) and all(a in (1, b) for a, b in zip(shape, out, strict=True)):
            inputs.append([i if a == b else None for i, (a, b) in enumerate(zip(shape, out, strict=True))])
        else:
            return None
    return Factors(inputs, [list(range(len(out))) for _ in equation.outputs])


@FACTORS.register("dot_general")
def _dot_factors(equation):
    (left_summed, right_summed), (left_batch, right_batch) = equation.params["dimension_numbers"]
    left: Labels = [None] * len(equation.shapes[0])
    right: Labels = [None] * len(equation.shapes[1])
    number, free = 0, []
    for a, b in [*zip(left_batch, right_batch, strict=True), *zip(left_summed, right_summed, strict=True)]:
        left[a] = right[b] = number
        number += 1
    for labels in (left, right):
        for axis, label in enumerate(labels):
            if label is None:
                labels[axis] = number
                free.append(number)
                number += 1
    return Factors([left, right], [[*(left[a] for a in left_batch), *free]])


@FACTORS.register("conv_general_dilated")
def _convolution_factors(equation):
    """Return factors for batch and channels; spatial axes must not be sharded."""
    params = equation.params
    if params["feature_group_count"] != 1 or params["batch_group_count"] != 1:
        return None
    image, kernel, result = params["dimension_numbers"]
    x: Labels = [None] * len(equation.shapes[0])
    w: Labels = [None] * len(equation.shapes[1])
    y: Labels = [None] * len(equation.outputs[0].shape)
    x[image[0]] = y[result[0]] = 0
    x[image[1]] = w[kernel[1]] = 1
    w[kernel[0]] = y[result[1]] = 2
    return Factors([x, w], [y])


def _make_convolution_rule(first, second, result):
    """Return the rule of one of msnb's convolutions, from the factors of the first two axes of its operands and
    result. In grouped convolutions only the batch may be sharded.
    """

    def rule(equation):
        spatial: Labels = [None] * (len(equation.outputs[0].shape) - 2)
        is_grouped = equation.params["geometry"].group != 1
        one, two, out = (
            [0 if name == "n" else None if is_grouped else "nco".index(name) for name in names] + spatial
            for names in (first, second, result)
        )
        return Factors([one, two], [out])

    return rule


for _name, _axes in {
    "conv": ("nc", "oc", "no"),
    "conv_input_grad": ("no", "oc", "nc"),
    "conv_filter_grad": ("nc", "no", "oc"),
}.items():
    FACTORS.register(_name)(_make_convolution_rule(*_axes))


@FACTORS.register("transpose")
def _transpose_factors(equation):
    labels: Labels = [None] * len(equation.shapes[0])
    for to, axis in enumerate(equation.params["permutation"]):
        labels[axis] = to
    return Factors([labels], [list(range(len(labels)))])


@FACTORS.register("broadcast_in_dim")
def _broadcast_factors(equation):
    out = equation.outputs[0].shape
    dimensions = equation.params["broadcast_dimensions"]
    first = [d if n == out[d] else None for n, d in zip(equation.shapes[0], dimensions, strict=True)]
    return Factors([first, *([] for _ in equation.inputs[1:])], [list(range(len(out)))])


@FACTORS.register(
    *("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or", "reduce_xor"),
)
def _reduction_factors(equation):
    labels = list(range(len(equation.shapes[0])))
    remaining = [i for i in labels if i not in equation.params["axes"]]
    return Factors([labels], [remaining])


@FACTORS.register("stack")
def _stack_factors(equation):
    labels, axis = list(range(len(equation.shapes[0]))), equation.params["axis"]
    return Factors([labels for _ in equation.inputs], [[*labels[:axis], None, *labels[axis:]]])


@FACTORS.register("unstack")
def _unstack_factors(equation):
    labels, axis = list(range(len(equation.outputs[0].shape))), equation.params["axis"]
    return Factors([[*labels[:axis], None, *labels[axis:]]], [labels for _ in equation.outputs])


@FACTORS.register("argmax", "argmin")
def _argmax_factors(equation):
    axes = equation.params["axes"]
    labels = [None if i in axes else i for i in range(len(equation.shapes[0]))]
    return Factors([labels], [[i for i in range(len(labels)) if i not in axes]])


@FACTORS.register("reshape", "squeeze", "expand_dims")
def _reshape_factors(equation):
    """Return factors for the first axis of each group of axes that the reshape merges or splits."""
    before, after = equation.shapes[0], equation.outputs[0].shape
    old: Labels = [None] * len(before)
    new: Labels = [None] * len(after)
    i = j = number = 0
    while i < len(before) and j < len(after):
        first, second, a, b = i, j, before[i], after[j]
        while a != b:
            if a < b:
                i += 1
                a *= before[i]
            else:
                j += 1
                b *= after[j]
        old[_find_nontrivial_axis(before, first, i)] = new[_find_nontrivial_axis(after, second, j)] = number
        number, i, j = number + 1, i + 1, j + 1
    return Factors([old], [new])


def _find_nontrivial_axis(shape, first, last):
    """Return the first axis from `first` to `last` whose size is not 1."""
    return next((k for k in range(first, last) if shape[k] != 1), last)


@FACTORS.register("gather")
def _gather_factors(equation):
    """Return the factors of a gather: batch axes, axes of the indices, and table axes that are taken in full.

    If single rows are looked up along one axis, that axis may be sharded too: each device looks up its own rows, and an
    all-reduce adds the results.
    """
    numbers, table, indices = equation.params["dimension_numbers"], *equation.shapes[:2]
    sizes = equation.params["slice_sizes"]
    table_labels, index_labels = _assign_table_and_index_factors(
        table,
        indices,
        numbers.start_index_map,
        numbers.collapsed_slice_dims,
        (numbers.operand_batching_dims, numbers.start_indices_batching_dims),
        [k for k, n in enumerate(table) if sizes[k] == n],
    )
    window_labels = [
        label
        for k, label in enumerate(table_labels)
        if k not in (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    ]
    return Factors(
        [table_labels, [*index_labels, None]],
        [_merge_labels(window_labels, index_labels, numbers.offset_dims, len(equation.outputs[0].shape))],
    )


@FACTORS.register("scatter-add")
def _scatter_add_factors(equation):
    numbers, (table, indices, updates) = equation.params["dimension_numbers"], equation.shapes[:3]
    dropped, batched = numbers.inserted_window_dims, numbers.operand_batching_dims
    windows = [k for k in range(len(table)) if k not in (*dropped, *batched)]
    full_axes = [k for k, w in zip(windows, numbers.update_window_dims, strict=True) if updates[w] == table[k]]
    table_labels, index_labels = _assign_table_and_index_factors(
        table,
        indices,
        numbers.scatter_dims_to_operand_dims,
        dropped,
        (batched, numbers.scatter_indices_batching_dims),
        full_axes,
    )
    update_labels = _merge_labels(
        [table_labels[k] for k in windows], index_labels, numbers.update_window_dims, len(updates)
    )
    return Factors([table_labels, [*index_labels, None], update_labels], [table_labels])


def _assign_table_and_index_factors(table, indices, mapped, dropped, batched, full_axes) -> tuple[Labels, Labels]:
    """Return (factors of the table's axes, factors of the axes of the indices without the last)."""
    index_labels: Labels = [len(table) + i for i in range(len(indices) - 1)]
    row_axis = mapped[0] if len(mapped) == 1 and tuple(dropped) == tuple(mapped) else None
    table_labels: Labels = [
        k if k == row_axis or (k in full_axes and k not in mapped) else None for k in range(len(table))
    ]
    for axis, index in zip(*batched, strict=True):
        table_labels[axis] = index_labels[index]
    return table_labels, index_labels


def _merge_labels(window_labels, index_labels, offsets, rank) -> Labels:
    """Return the labels of an array with window labels at the axes `offsets` and index labels at the others."""
    windows, others = iter(window_labels), iter(index_labels)
    return [next(windows) if k in offsets else next(others) for k in range(rank)]


@FACTORS.register("iota")
def _iota_factors(equation):
    return Factors([[] for _ in equation.inputs], [list(range(len(equation.outputs[0].shape)))])


@FACTORS.register(
    *("concatenate", "pad", "slice", "dynamic_slice", "dynamic_update_slice", "sort", "cumsum", "cumprod", "cummax"),
    *("cummin", "cumlogsumexp", "rev", "reduce_window_sum", "reduce_window_max", "reduce_window_min"),
    *("select_and_scatter_add", "select_and_gather_add", "reduce_window", "split"),
)
def _axiswise_factors(equation):
    """Return factors for the axes that an equation leaves unchanged. Axes along which it operates must not be
    sharded.
    """
    out, params = equation.outputs[0].shape, equation.params
    shapes = [*equation.shapes, *(o.shape for o in equation.outputs)]
    is_unchanged = [all(s[k] == n for s in shapes if len(s) == len(out)) for k, n in enumerate(out)]
    operated_axes = {params.get("dimension"), params.get("axis"), *params.get("dimensions", ())}
    windows = params.get("window_dimensions", (1,) * len(out))
    labels = [k if is_unchanged[k] and k not in operated_axes and windows[k] == 1 else None for k in range(len(out))]
    inputs = [labels if len(s) == len(out) else [None] * len(s) for s in equation.shapes]
    return Factors(inputs, [labels for _ in equation.outputs])
