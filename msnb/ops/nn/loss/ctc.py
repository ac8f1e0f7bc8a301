"""Connectionist temporal classification: losses over alignments in log space, and greedy decoding."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, Int, check
from msnb.core.compat.jax_private import is_available, is_tracer
from msnb.core.operator.cases import F, I, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.value_checks import Check, Range, label
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._shapes import shapes
from msnb.ops._upcast import in_float32
from msnb.ops.nn._kinds import Reduction
from msnb.ops.nn.loss._reduction import reduce

_NEVER = -1e30  # log of probability zero; finite, so that differences are finite


def label_check(name, length, scores, axis):
    """Return a check of the rows of labels in the input `name`. Labels beyond the length of a row, from the input
    `length`, are ignored."""

    def ranges(inputs):
        rows, lengths = inputs[name], inputs[length]
        if np.ndim(rows) != 2 or np.shape(lengths) != np.shape(rows)[:1] or np.ndim(inputs[scores]) <= axis:
            return ()
        is_concrete = not is_tracer(rows) and not is_tracer(lengths) and is_available(rows) and is_available(lengths)
        np_ = np if is_concrete else jnp
        rows, lengths = np_.asarray(rows), np_.asarray(lengths)
        counted = np_.arange(rows.shape[1]) < lengths[:, None]
        return [Range(np_.where(counted, rows, 0), inputs[scores].shape[axis])]

    return Check(name, ranges, always=True, what="labels")


def lengths(name, of, axis):
    """Return a check that the entries of the input `name` are at most the length of `axis` of the input `of`."""

    def ranges(inputs):
        shape = np.shape(inputs[of])
        return [Range(inputs[name], shape[axis] + 1)] if axis < len(shape) else ()

    return Check(name, ranges)


def _convert_to_dense_labels(indices, values, batch, blank):
    """Convert sparse labels to rows (batch, L), padded with the blank. Return the rows and their lengths."""
    rows = jnp.full((batch, values.shape[0]), blank, jnp.int32)
    rows = rows.at[indices[:, 0], indices[:, 1]].set(values.astype(jnp.int32), mode="drop")
    return rows, jnp.zeros(batch, jnp.int32).at[indices[:, 0]].add(1, mode="drop")


def _merge_repeated_labels(rows, lengths, blank):
    """Merge equal neighbouring labels in each row. Return the new rows and their lengths."""
    positions = jnp.arange(rows.shape[1])
    keep = (positions < lengths[:, None]) & jnp.concatenate(
        [jnp.ones_like(rows[:, :1], bool), rows[:, 1:] != rows[:, :-1]], axis=1
    )
    target = jnp.where(keep, jnp.cumsum(keep, axis=1) - 1, rows.shape[1])
    merged = jax.vmap(lambda row, t: jnp.full_like(row, blank).at[t].set(row, mode="drop"))(rows, target)
    return merged, keep.sum(1)


def ctc_nll(log_probs, rows, lengths, times, blank, merge_repeated=True, history=False):
    """Return -log p(labels | inputs) of each example (Graves et al., 2006); with `history` also the forward variables
    alpha of all steps.

    `log_probs` has shape (T, N, C), and the labels `rows` have shape (N, L). `lengths` (N,) are the numbers of labels,
    `times` (N,) the numbers of input steps.
    """
    n, most = rows.shape
    states = jnp.full((n, 2 * most + 1), blank, jnp.int32).at[:, 1::2].set(rows)
    scores = jnp.take_along_axis(log_probs, jnp.broadcast_to(states[None], (log_probs.shape[0], *states.shape)), axis=2)
    number = jnp.arange(2 * most + 1)
    skip = jnp.zeros(states.shape, bool).at[:, 2:].set(number[2:] % 2 == 1)
    if merge_repeated:  # the blank between equal labels must not be skipped
        skip = skip.at[:, 2:].set(skip[:, 2:] & (states[:, 2:] != states[:, :-2]))
    never = jnp.asarray(_NEVER, log_probs.dtype)
    alpha = jnp.where(number[None] < 2, scores[0], never)

    def shifted(a, by):
        return jnp.concatenate([jnp.full_like(a[:, :by], never), a[:, :-by]], axis=1)

    def step(alpha, inputs):
        score, t = inputs
        ways = jnp.stack([alpha, shifted(alpha, 1), jnp.where(skip, shifted(alpha, 2), never)])
        if not merge_repeated:  # a repeated label counts twice, so a label state lasts one step
            ways = ways.at[0].set(jnp.where(number % 2 == 1, never, alpha))
        new = jnp.maximum(jax.nn.logsumexp(ways, axis=0), never) + score
        alpha = jnp.where((t < times)[:, None], new, alpha)
        return alpha, alpha if history else None

    first = alpha
    alpha, steps = lax.scan(step, alpha, (scores[1:], jnp.arange(1, log_probs.shape[0])))
    end = jnp.take_along_axis(alpha, (2 * lengths)[:, None], axis=1)[:, 0]
    before = jnp.take_along_axis(alpha, jnp.maximum(2 * lengths - 1, 0)[:, None], axis=1)[:, 0]
    loss = -jnp.logaddexp(end, jnp.where(lengths > 0, before, never))
    return (loss, jnp.concatenate([first[None], steps]).swapaxes(0, 1)) if history else loss


def _list_label_index_ranges(inputs):
    """Return the valid ranges of the two columns of label indices: the example, and the position of the label."""
    x, indices = inputs["x"], inputs["labels_indices"]
    fits = np.ndim(x) == 3 and np.shape(indices)[1:] == (2,)
    return [Range(indices, (x.shape[1], np.size(inputs["labels_values"])))] if fits else ()


@operator(
    checks=[
        label("labels_values", lambda inputs: (np.shape(inputs["x"]) or (0,))[-1]),
        Check("labels_indices", _list_label_index_ranges),
        lengths("sequence_length", "x", 0),
    ],
    loops=True,
)
@shapes("x: t>0 n c, labels_indices: m 2, labels_values: m, sequence_length: n")
@in_float32
def CTCLoss(
    x,
    labels_indices,
    labels_values,
    sequence_length,
    *,
    preprocess_collapse_repeated: Bool = False,
    ctc_merge_repeated: Bool = True,
    ignore_longer_outputs_than_inputs: Bool = False,
):
    """Connectionist temporal classification loss and its gradient (Graves et al., 2006).

    Args:
        preprocess_collapse_repeated (bool): whether equal neighbouring labels are merged first. Default: False.
        ctc_merge_repeated (bool): whether repeated outputs without a blank between them are merged. Default: True.
        ignore_longer_outputs_than_inputs (bool): whether an example with more labels than input steps has loss 0.
            Default: False.

    Inputs:
        - **x** (Tensor) - logits (T, N, C); class C - 1 is the blank.
        - **labels_indices** (Tensor) - (n, 2), int64: the example and the position of each label.
        - **labels_values** (Tensor) - (n,), int32.
        - **sequence_length** (Tensor) - (N,), int32: number of valid input steps of each example.

    Outputs:
        Tuple of the loss (N,) and its gradient with respect to `x` (T, N, C).
    """
    op = "CTCLoss"
    _check.dtype_in(op, "x", x, _check.FLOAT)
    _check.rank(op, "x", x, 3)
    _check.rank(op, "labels_indices", labels_indices, 2)
    _check.rank(op, "labels_values", labels_values, 1)
    if labels_indices.shape != (labels_values.shape[0], 2) or sequence_length.shape != (x.shape[1],):
        raise ValueError(
            f"For '{op}', 'labels_indices' should have shape (n, 2), 'labels_values' (n,) and "
            f"'sequence_length' ({x.shape[1]},), but got {labels_indices.shape}, {labels_values.shape} "
            f"and {sequence_length.shape}."
        )
    blank = x.shape[2] - 1
    rows, lengths = _convert_to_dense_labels(labels_indices, labels_values, x.shape[1], blank)
    if preprocess_collapse_repeated:
        rows, lengths = _merge_repeated_labels(rows, lengths, blank)

    def loss(x):
        values = ctc_nll(jax.nn.log_softmax(x), rows, lengths, sequence_length, blank, ctc_merge_repeated)
        if ignore_longer_outputs_than_inputs:
            values = jnp.where(lengths > sequence_length, jnp.zeros_like(values), values)
        return values

    values, pull = jax.vjp(loss, x)
    return values, lax.stop_gradient(pull(jnp.ones_like(values))[0])


@operator(
    checks=[
        label_check("targets", "target_lengths", "log_probs", 2),
        lengths("input_lengths", "log_probs", 0),
        lengths("target_lengths", "targets", 1),
    ],
    generation=2,
    loops=True,
)
@shapes("log_probs: t>0 n c, targets: n _, input_lengths target_lengths: n")
@in_float32
def CTCLossV2(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    *,
    blank: Int = 0,
    reduction: Reduction = "none",
    zero_infinity: Bool = False,
):
    """Connectionist temporal classification loss of log-probabilities (Graves et al., 2006).

    Args:
        blank (int): class index of the blank. Default: 0.
        reduction (str): "none", "mean" (each loss is divided by the length of its target first) or "sum". Default:
            "none".
        zero_infinity (bool): whether an example without any alignment has loss 0 instead of infinity. Default: False.

    Inputs:
        - **log_probs** (Tensor) - (T, N, C).
        - **targets** (Tensor) - (N, S), int.
        - **input_lengths**, **target_lengths** (Tensor) - (N,), int.

    Outputs:
        Tuple of the loss, a scalar unless `reduction` is "none", and the logarithms of the forward variables
        (N, T, 2 S + 1).
    """
    _check.rank("CTCLossV2", "log_probs", log_probs, 3)
    _check.rank("CTCLossV2", "targets", targets, 2)
    positions = jnp.arange(targets.shape[1])
    rows = jnp.where(positions < target_lengths[:, None], targets, blank).astype(jnp.int32)
    values, alpha = ctc_nll(log_probs, rows, target_lengths.astype(jnp.int32), input_lengths, blank, history=True)
    impossible = values > 1e29
    values = jnp.where(impossible, jnp.zeros_like(values) if zero_infinity else jnp.inf, values)
    if reduction == "mean":
        values = values / jnp.maximum(target_lengths, 1)
    alpha = lax.stop_gradient(jnp.where(alpha < -1e29, -jnp.inf, alpha))
    return reduce(values, reduction), alpha


@spelling(CTCLossV2)
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """Connectionist temporal classification loss of log-probabilities (Graves et al., 2006).

    Args:
        log_probs (Tensor): (T, N, C).
        targets (Tensor): (N, S), int.
        input_lengths (Tensor): (N,), int.
        target_lengths (Tensor): (N,), int.
        blank (int): Class index of the blank. Default: 0.
        reduction (str): "none", "mean" (each loss is divided by the length of its target first) or "sum". Default:
            "mean".
        zero_infinity (bool): Whether an example without any alignment has loss 0 instead of infinity. Default: False.

    Returns:
        Tuple of the loss, a scalar unless `reduction` is "none", and the logarithms of the forward variables
        (N, T, 2 S + 1).
    """
    return CTCLossV2.functional(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


@host_operator()
class CTCGreedyDecoder(HostPrimitive):
    """Greedy decoding: take the best class at every step, then remove repeats and blanks.

    The number of decoded labels depends on values. Therefore a Cell with this operator runs operator by operator even
    in GRAPH mode.

    Args:
        merge_repeated (bool): whether to merge equal neighbouring classes. Default: True.

    Inputs:
        - **inputs** (Tensor) - logits (T, N, C), float32 or float64; class C - 1 is the blank.
        - **sequence_length** (Tensor) - (N,), int32: number of steps of each example.

    Outputs:
        Tuple of the example and position of each label (n, 2), the labels (n,), the shape (N, most labels of an
        example), and the negated sums of the best logits (N, 1). The first three are int64, the last has the type of
        `inputs`.
    """

    def __init__(self, merge_repeated=True):
        super().__init__()
        self.add_prim_attr("merge_repeated", check(Bool, merge_repeated, "merge_repeated", self.name))

    def __call__(self, inputs, sequence_length):
        if not isinstance(inputs, Tensor) or not isinstance(sequence_length, Tensor):
            raise TypeError(f"For '{self.name}', 'inputs' and 'sequence_length' should be Tensors.")
        scores, lengths = self.values_of(inputs, sequence_length)
        if scores.ndim != 3 or lengths.shape != (scores.shape[1],) or lengths.max(initial=0) > scores.shape[0]:
            raise ValueError(
                f"For '{self.name}', 'inputs' should have shape (T, N, C) and 'sequence_length' (N,) with "
                f"values up to T, but got {scores.shape} and {lengths.shape}."
            )
        blank = scores.shape[2] - 1
        best = scores.argmax(2)
        indices, values, totals, longest = [], [], [], 0
        for n, length in enumerate(lengths):
            path = best[:length, n]
            totals.append(-scores[np.arange(length), n, path].sum())
            keep = path != blank
            if self.merge_repeated:
                keep[1:] &= path[1:] != path[:-1]
            labels = path[keep]
            longest = max(longest, len(labels))
            indices.extend((n, i) for i in range(len(labels)))
            values.extend(labels)
        return (
            Tensor(np.array(indices, np.int64).reshape(-1, 2)),
            Tensor(np.array(values, np.int64)),
            Tensor(np.array([len(lengths), longest], np.int64)),
            Tensor(np.array(totals, scores.dtype).reshape(-1, 1)),
        )


_LABELS = I(2, 3, low=1, high=5), Values([6, 6]), Values([3, 2])
_SHARES = "MindSpore takes the inputs for logarithms of shares that sum to 1, which the row's do not"


@spelling(CTCGreedyDecoder)
def ctc_greedy_decoder(
    inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Greedy decoding: take the best class at every step, then remove repeats and blanks. It cannot be compiled.

    Args:
        inputs (Tensor): Logits (T, N, C), float32 or float64; class C - 1 is the blank.
        sequence_length (Tensor): (N,), int32: number of steps of each example.
        merge_repeated (bool): Whether to merge equal neighbouring classes. Default: True.

    Returns:
        A tuple of the example and position of each label (n, 2), the labels (n,), the shape (N, most labels of an
        example), and the negated sums of the best logits (N, 1). The first three are int64, the last has the type of
        `inputs`.
    """
    return CTCGreedyDecoder(merge_repeated)(inputs, sequence_length)


CASES = [
    case(ctc_greedy_decoder, F(6, 2, 4), Values([6, 4])).without("graph", "its shapes depend on values"),
    case(
        CTCLoss,
        F(6, 2, 5),
        Values([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], "int64"),
        Values([1, 2, 3, 3, 0]),
        Values([6, 6]),
    ).wrt(of=0),
    case(CTCLossV2, F(6, 2, 5), *_LABELS).results(0).without("gradient", _SHARES),
    case(ctc_loss, F(6, 2, 5, low=-0.2, high=0.2), *_LABELS).results(0).without("gradient", _SHARES),
    case(CTCGreedyDecoder, F(6, 2, 4), Values([6, 4])).without("graph", "its shapes depend on values"),
]
