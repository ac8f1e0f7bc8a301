"""Communication operators among eight devices and in groups of them."""

import numpy as np
from eight_devices import RANDOM, refused

import msnb as ms
from msnb import Tensor, context, ops
from msnb.communication import create_group, release
from msnb.ops import operations as P


def check_communication_operators():
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=8)
    x = RANDOM.uniform(0.5, 1.5, (16, 3)).astype(np.float32)
    parts = x.reshape(8, 2, 3)
    expected = {
        P.AllReduce(): np.tile(parts.sum(0), (8, 1)),
        P.AllReduce("max"): np.tile(parts.max(0), (8, 1)),
        P.AllReduce("min"): np.tile(parts.min(0), (8, 1)),
        P.AllReduce("prod"): np.tile(parts.prod(0), (8, 1)),
        P.AllGather(): np.tile(x, (8, 1)),
    }
    for operator, value in expected.items():
        got = ms.ms_function(lambda a: operator(a))(Tensor(x))  # noqa: B023 - called at once
        np.testing.assert_allclose(got.asnumpy(), value, rtol=1e-5, err_msg=str(operator))
    wide = RANDOM.uniform(0.5, 1.5, (64, 3)).astype(np.float32)
    for operator, joined in ((P.ReduceScatter(), np.sum), (P.ReduceScatter("max"), np.max)):
        got = ms.ms_function(lambda a: operator(a))(Tensor(wide))  # noqa: B023 - called at once
        np.testing.assert_allclose(got.asnumpy(), joined(wide.reshape(8, 8, 3), axis=0), rtol=1e-5)
    broadcast = P.Broadcast(3)
    got = ms.ms_function(lambda a: broadcast((a,))[0])(Tensor(x))
    np.testing.assert_array_equal(got.asnumpy(), np.tile(parts[3], (8, 1)))
    reduce = P.AllReduce()
    gradient = ms.ms_function(lambda a: ops.grad(lambda b: (reduce(b) * b).sum())(a))(Tensor(x))
    np.testing.assert_allclose(gradient.asnumpy(), np.tile(2 * parts.sum(0), (8, 1)), rtol=1e-5)


def check_communication_in_groups():
    """Values and gradients, compared with r1.1's definitions in numpy."""
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=8)
    create_group("half", [3, 2, 1, 0])
    x = RANDOM.uniform(0.5, 1.5, (64, 3)).astype(np.float32)
    each = x.reshape(8, 8, 3)
    order = np.array([[3, 2, 1, 0], [7, 6, 5, 4]])  # the other half is one, too
    sums, largest = each[order].sum(1), each[order].max(1)
    mine, place = np.arange(8) // 4, 3 - np.arange(8) % 4
    has_it = each == largest[mine]
    weights = RANDOM.uniform(0.5, 1.5, each.shape).astype(np.float32)
    sent = weights[order].sum(1)[mine]
    rows = [slice(2 * p, 2 * p + 2) for p in place]
    cases = {
        P.AllReduce(group="half"): (sums[mine], sent),
        P.AllReduce("max", group="half"): (largest[mine], sent * has_it),
        P.Broadcast(1, group="half"): (each[np.where(mine, 5, 1)], weights),
    }
    for operator, (value, gradient) in cases.items():

        def run(a, operator=operator):
            return operator((a,))[0] if isinstance(operator, P.Broadcast) else operator(a)

        compare_with_reference(run, x, weights, value, gradient)
    few = each[:, :2]
    compare_with_reference(
        P.ReduceScatter(group="half"), x, few, select_own_rows(sums[mine], rows), few[order].reshape(2, 8, 3)[mine]
    )
    back = select_own_rows(np.stack([weights[o].sum(0) for o in order])[mine], rows)
    compare_with_reference(P.AllGather(group="half"), few, weights, few[order].reshape(2, 8, 3)[mine], back)
    to_all = weights[order].reshape(2, 4, 4, 2, 3)  # half, from, to, rows
    to_all = np.stack([to_all[m, :, 3 - r % 4] for m, r in zip(mine, range(8), strict=True)]).reshape(8, 8, 3)
    exchange = P.AlltoAll(4, 0, 0, group="half")
    compare_with_reference(exchange, weights, to_all, to_all, weights)  # which goes back as it came
    across = P.AlltoAll(4, 0, 1, group="half")
    np.testing.assert_array_equal(
        ms.ms_function(lambda a: across(a))(Tensor(weights.reshape(-1, 3))).asnumpy(),
        to_all.reshape(8, 4, 2, 3).transpose(0, 2, 1, 3).reshape(16, 12),
    )
    of_two = weights[np.where(mine, 6, 2)]
    compare_with_reference(
        P.Reduce(1, group="half"), x, weights, sums[mine], of_two
    )  # member 1 of the halves is 2 and 6
    compare_with_reference(
        P.CollectiveGather(2, group="half"),
        few,
        weights,
        few[order].reshape(2, 8, 3)[mine],
        select_own_rows(of_two, rows),
    )
    only_two = np.where((np.arange(8) % 4 == 2)[:, None, None], few[order].reshape(2, 8, 3)[mine], 0)
    compare_with_reference(
        P.CollectiveScatter(2, group="half"), x, few, select_own_rows(each[np.where(mine, 6, 2)], rows), only_two
    )
    create_group("odd", [0, 1, 2])
    odd = P.AllReduce(group="odd")
    refused(lambda: ms.ms_function(lambda a: odd(a))(Tensor(x)), "without a group, and all run one program")
    release()


def select_own_rows(each, rows):
    """Return the rows of each device from the values of all devices."""
    return np.stack([values[own] for values, own in zip(each, rows, strict=True)])


def compare_with_reference(run, x, weights, value, gradient):
    """Compare each device's result, and the gradient for `weights`, with a reference."""
    x, weights = (Tensor(a.reshape(-1, 3)) for a in (x, weights))
    np.testing.assert_allclose(ms.ms_function(lambda a: run(a))(x).asnumpy(), value.reshape(-1, 3), rtol=1e-5)
    got = ms.ms_function(lambda a, w: ops.grad(lambda b: (run(b) * w).sum())(a))(x, weights)
    np.testing.assert_allclose(got.asnumpy(), gradient.reshape(-1, 3), rtol=1e-5)
