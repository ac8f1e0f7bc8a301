"""Which axes of an equation may be cut together.

Each axis of each operand and result has a factor, a number, as the letters of an einsum; None for an axis that stays
whole. A factor that no result has is summed over: cut, it costs an all-reduce. What has no rule is not cut at all.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msnb.core.facets import Facet
from msnb.parallel.search.flat import Equation

Labels = list[int | None]

FACTORS = Facet(
    "a rule of which axes may be cut",
    "It is computed whole on each device; say better in msnb/parallel/search/factors.py: @FACTORS.register('{name}').",
    key=lambda primitive: getattr(primitive, "name", primitive),
)


class Within(NamedTuple):
    """A value inside an equation that is summed over a factor.

    Attributes:
        factor (int): Over what.
        bytes (float): Its size, times how often it is summed.
        labels (list): The factor of each of its axes.
    """

    factor: int
    bytes: float
    labels: Sequence[int | None]


class Factors(NamedTuple):
    """How the axes of an equation hang together.

    Attributes:
        inputs (list[list]): The factor of each axis of each input.
        outputs (list[list]): The same of the outputs.
        summed (bool): Whether what no output has can be cut, and added up. Default: True.
        inside (list[Within]): Of an equation that holds a graph, what is added up inside. Default: ().
    """

    inputs: Sequence[Sequence[int | None]]
    outputs: Sequence[Sequence[int | None]]
    summed: bool = True
    inside: Sequence[Within] = ()


def factors_of(equation: Equation) -> Factors:
    """The factors of an equation; nothing is cut of one that no rule knows."""
    rule = FACTORS.get(equation.primitive)
    found = rule(equation) if rule is not None else _elementwise(equation)
    if found is not None:
        return found
    return Factors(
        [[None] * len(shape) for shape in equation.shapes], [[None] * len(o.shape) for o in equation.outputs], False
    )


def _elementwise(equation):
    """Of what has operands of one shape, or of size 1 where it is repeated; None of anything else."""
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
def _dot(equation):
    (left_summed, right_summed), (left_batch, right_batch) = equation.params["dimension_numbers"]
    left: Labels = [None] * len(equation.shapes[0])
    right: Labels = [None] * len(equation.shapes[1])
    number, own = 0, []
    for a, b in [*zip(left_batch, right_batch, strict=True), *zip(left_summed, right_summed, strict=True)]:
        left[a] = right[b] = number
        number += 1
    for labels in (left, right):
        for axis, known in enumerate(labels):
            if known is None:
                labels[axis] = number
                own.append(number)
                number += 1
    return Factors([left, right], [[*(left[a] for a in left_batch), *own]])


@FACTORS.register("conv_general_dilated")
def _convolution(equation):
    """Batch and channels; what a kernel slides over stays whole."""
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


def _of_msnb(first, second, made):
    """The rule of one of msnb's convolutions: the factors of the first two axes of operands and result. In groups the
    batch alone is cut."""

    def rule(equation):
        rest: Labels = [None] * (len(equation.outputs[0].shape) - 2)
        grouped = equation.params["geometry"].group != 1
        one, two, out = (
            [0 if name == "n" else None if grouped else "nco".index(name) for name in names] + rest
            for names in (first, second, made)
        )
        return Factors([one, two], [out])

    return rule


for _name, _axes in {
    "conv": ("nc", "oc", "no"),
    "conv_input_grad": ("no", "oc", "nc"),
    "conv_filter_grad": ("nc", "no", "oc"),
}.items():
    FACTORS.register(_name)(_of_msnb(*_axes))


@FACTORS.register("transpose")
def _transpose(equation):
    labels: Labels = [None] * len(equation.shapes[0])
    for to, axis in enumerate(equation.params["permutation"]):
        labels[axis] = to
    return Factors([labels], [list(range(len(labels)))])


@FACTORS.register("broadcast_in_dim")
def _broadcast(equation):
    out = equation.outputs[0].shape
    places = equation.params["broadcast_dimensions"]
    first = [d if n == out[d] else None for n, d in zip(equation.shapes[0], places, strict=True)]
    return Factors([first, *([] for _ in equation.inputs[1:])], [list(range(len(out)))])


@FACTORS.register(
    *("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or", "reduce_xor"),
)
def _reduce(equation):
    labels = list(range(len(equation.shapes[0])))
    kept = [i for i in labels if i not in equation.params["axes"]]
    return Factors([labels], [kept])


@FACTORS.register("stack")
def _stack(equation):
    one, axis = list(range(len(equation.shapes[0]))), equation.params["axis"]
    return Factors([one for _ in equation.inputs], [[*one[:axis], None, *one[axis:]]])


@FACTORS.register("unstack")
def _unstack(equation):
    one, axis = list(range(len(equation.outputs[0].shape))), equation.params["axis"]
    return Factors([[*one[:axis], None, *one[axis:]]], [one for _ in equation.outputs])


@FACTORS.register("argmax", "argmin")
def _place(equation):
    axes = equation.params["axes"]
    labels = [None if i in axes else i for i in range(len(equation.shapes[0]))]
    return Factors([labels], [[i for i in range(len(labels)) if i not in axes]])


@FACTORS.register("reshape", "squeeze", "expand_dims")
def _reshape(equation):
    """Of axes that are joined or divided, the first of each side."""
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
        old[_large(before, first, i)] = new[_large(after, second, j)] = number
        number, i, j = number + 1, i + 1, j + 1
    return Factors([old], [new])


def _large(shape, first, last):
    """The first axis between two that is not 1."""
    return next((k for k in range(first, last) if shape[k] != 1), last)


@FACTORS.register("gather")
def _gather(equation):
    """Parts of a table: batches, what places are many of, and axes that are taken whole. Where one row is looked up
    along one axis, that is cut, too: each device looks up its own, and they are added."""
    numbers, table, places = equation.params["dimension_numbers"], *equation.shapes[:2]
    sizes = equation.params["slice_sizes"]
    rows, at = _looked_up(
        table,
        places,
        numbers.start_index_map,
        numbers.collapsed_slice_dims,
        (numbers.operand_batching_dims, numbers.start_indices_batching_dims),
        [k for k, n in enumerate(table) if sizes[k] == n],
    )
    left = [r for k, r in enumerate(rows) if k not in (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)]
    return Factors([rows, [*at, None]], [_merged(left, at, numbers.offset_dims, len(equation.outputs[0].shape))])


@FACTORS.register("scatter-add")
def _scatter_add(equation):
    numbers, (table, places, updates) = equation.params["dimension_numbers"], equation.shapes[:3]
    dropped, batched = numbers.inserted_window_dims, numbers.operand_batching_dims
    windows = [k for k in range(len(table)) if k not in (*dropped, *batched)]
    whole = [k for k, w in zip(windows, numbers.update_window_dims, strict=True) if updates[w] == table[k]]
    rows, at = _looked_up(
        table,
        places,
        numbers.scatter_dims_to_operand_dims,
        dropped,
        (batched, numbers.scatter_indices_batching_dims),
        whole,
    )
    given = _merged([rows[k] for k in windows], at, numbers.update_window_dims, len(updates))
    return Factors([rows, [*at, None], given], [rows])


def _looked_up(table, places, mapped, dropped, batched, whole) -> tuple[Labels, Labels]:
    """(factors of a table's axes, of those of the places but the last one)."""
    at: Labels = [len(table) + i for i in range(len(places) - 1)]
    alone = mapped[0] if len(mapped) == 1 and tuple(dropped) == tuple(mapped) else None
    rows: Labels = [k if k == alone or (k in whole and k not in mapped) else None for k in range(len(table))]
    for axis, place in zip(*batched, strict=True):
        rows[axis] = at[place]
    return rows, at


def _merged(inside, outside, offsets, rank) -> Labels:
    """The factors of an array that has those of parts at some axes, and those of places at the others."""
    parts, others = iter(inside), iter(outside)
    return [next(parts) if k in offsets else next(others) for k in range(rank)]


@FACTORS.register("iota")
def _iota(equation):
    return Factors([[] for _ in equation.inputs], [list(range(len(equation.outputs[0].shape)))])


@FACTORS.register(
    *("concatenate", "pad", "slice", "dynamic_slice", "dynamic_update_slice", "sort", "cumsum", "cumprod", "cummax"),
    *("cummin", "cumlogsumexp", "rev", "reduce_window_sum", "reduce_window_max", "reduce_window_min"),
    *("select_and_scatter_add", "select_and_gather_add", "reduce_window", "split"),
)
def _same_axes(equation):
    """Axes that stay as they are; those along which something is done are not cut."""
    out, params = equation.outputs[0].shape, equation.params
    shapes = [*equation.shapes, *(o.shape for o in equation.outputs)]
    same = [all(s[k] == n for s in shapes if len(s) == len(out)) for k, n in enumerate(out)]
    done = {params.get("dimension"), params.get("axis"), *params.get("dimensions", ())}
    windows = params.get("window_dimensions", (1,) * len(out))
    labels = [k if same[k] and k not in done and windows[k] == 1 else None for k in range(len(out))]
    inputs = [labels if len(s) == len(out) else [None] * len(s) for s in equation.shapes]
    return Factors(inputs, [labels for _ in equation.outputs])
