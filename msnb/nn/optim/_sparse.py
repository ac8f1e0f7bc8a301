"""Sparse gradients (RowTensor) for optimizers whose operators take dense ones."""
from msnb.core.tensor import RowTensor, box
from msnb.ops import operations as P


def dense(gradient):
    """A RowTensor as a Tensor, values of the same row summed; a Tensor as it is."""
    if isinstance(gradient, RowTensor):
        return P.UnsortedSegmentSum()(gradient.values, gradient.indices, gradient.dense_shape[0])
    return gradient


def update_rows(gradient, state, update):
    """Run `update(dense gradient)`, which writes the Parameters `state`, and keep it only for the rows of `gradient`.

    A Tensor as gradient has all rows.
    """
    if not isinstance(gradient, RowTensor):
        update(gradient)
        return
    rows = gradient.dense_shape[0]
    hits = P.UnsortedSegmentSum()(P.OnesLike()(gradient.indices), gradient.indices, rows)
    touched = P.Reshape()(hits > 0, (rows,) + (1,) * (len(gradient.dense_shape) - 1))
    before = [box(p._array) for p in state]
    update(dense(gradient))
    assign = P.Assign()
    for param, old in zip(state, before, strict=True):
        mask = P.BroadcastTo(param.shape)(touched)
        assign(param, P.Select()(mask, box(param._array), old))
