"""Loops over a data set that are left early leave no thread and no process behind."""

import gc
import multiprocessing
import threading
import time

import numpy as np
import pytest

import msnb.dataset as ds
from msnb import DatasetHelper
from msnb.dataset.callback import WaitedDSCallback
from msnb.dataset.engine.execution.workers import ClosableQueue, Prefetcher


class Slow:
    """Rows that take long enough to be made ahead, in a thread."""

    def __len__(self):
        return 400

    def __getitem__(self, number):
        time.sleep(0.001)
        return (np.array(number),)


def plain():
    return ds.GeneratorDataset(Slow(), ["x"], shuffle=False).batch(2)


def processes():
    data = ds.GeneratorDataset(Slow(), ["x"], shuffle=False, num_parallel_workers=2, python_multiprocessing=True)
    return data.map(lambda x: x + 1, num_parallel_workers=2, python_multiprocessing=True).batch(2)


def batches_in_processes():
    def same(rows, info):
        return (rows,)

    data = ds.GeneratorDataset(Slow(), ["x"], shuffle=False)
    return data.batch(2, per_batch_map=same, input_columns=["x"], python_multiprocessing=True)


def repeated_without_end():
    return plain().repeat()


def awaited():
    class Wait(WaitedDSCallback):
        def sync_step_begin(self, train_run_context, ds_run_context):
            pass

    # Two steps of the map are one of the training, whose end nobody tells: the map waits before the third.
    return plain().map(lambda x: x, callbacks=Wait(20))


def gated():
    return plain().sync_wait("gate", num_batch=20)


def leave_by_break(data):
    for number, _ in enumerate(data.create_dict_iterator(output_numpy=True)):
        time.sleep(0.002)
        if number == 15:
            break


def leave_by_error(data):
    try:
        for number, _ in enumerate(data.create_tuple_iterator(output_numpy=True)):
            time.sleep(0.002)
            if number == 15:
                raise ArithmeticError("planned")
    except ArithmeticError:
        pass


def leave_but_hold_rows(data):
    rows = iter(data.create_tuple_iterator(output_numpy=True))
    for _ in range(15):
        time.sleep(0.002)
        next(rows)
    rows.stop()
    return rows


def leave_monitored_loop(data):
    with data.monitor():
        leave_by_break(data)


def leave_by_release(data):
    helper = DatasetHelper(data, False, epoch_num=2)
    for number, _ in enumerate(helper):
        time.sleep(0.002)
        if number == 15:
            break
    helper.release()
    return helper


def threads():
    return {t for t in threading.enumerate() if t.name in ("msnb-prefetch", "msnb-to-device")}


def wait_for_end(left, seconds=60):
    """Return the result of `left` after all that ends has had time to end, on a busy machine too."""
    until = time.monotonic() + seconds
    while left() and time.monotonic() < until:
        time.sleep(0.01)
    return left()


LEAVING = [leave_by_break, leave_by_error, leave_but_hold_rows, leave_by_release, leave_monitored_loop]
PIPELINES = [plain, repeated_without_end, awaited, gated, processes, batches_in_processes]


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("leave", LEAVING, ids=lambda f: f.__name__)
def test_leaving_a_loop_ends_its_threads_and_processes(leave, pipeline):
    gc.collect()
    before, running = threads(), set(multiprocessing.active_children())
    data = pipeline()
    remaining = leave(data)
    assert not wait_for_end(lambda: threads() - before)
    assert not wait_for_end(lambda: set(multiprocessing.active_children()) - running)
    del remaining, data


def test_sending_to_a_device_ends_when_the_data_set_is_deleted():
    before = threads()
    data = plain().repeat().to_device()
    data.send()
    assert threads() - before
    del data
    gc.collect()
    assert not wait_for_end(lambda: threads() - before)


def test_deleting_a_prefetcher_ends_its_thread_and_iterator():
    ended = threading.Event()

    def items():
        try:
            while True:
                yield np.zeros(8)
        finally:
            ended.set()

    ahead = Prefetcher(items(), 2, always=True)
    next(ahead)
    del ahead
    assert ended.wait(30)


def test_closing_a_queue_wakes_producer_and_consumer():
    full, empty, answers = ClosableQueue(1), ClosableQueue(1), []
    full.put("one")
    waiting = [
        threading.Thread(target=lambda: answers.append(full.put("two"))),
        threading.Thread(target=lambda: answers.append(empty.get()[1])),
    ]
    for thread in waiting:
        thread.start()
    full.close()
    empty.close()
    for thread in waiting:
        thread.join(60)
    assert sorted(map(str, answers)) == ["False", "None"] and len(full) == 0


def test_worker_processes_end_while_a_thread_waits_for_them():
    from msnb.dataset.engine.execution.processes import ProcessPool

    pool, messages = ProcessPool([lambda: time.sleep(60)], 2), []

    def ask():
        try:
            pool.map([(), ()])
        except RuntimeError as error:
            messages.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    while pool._workers is None:
        time.sleep(0.001)
    workers = list(pool._workers)
    time.sleep(0.05)
    pool.close()
    asking.join(60)
    assert not asking.is_alive() and len(messages) == 1 and not any(w.process.is_alive() for w in workers)
    with pytest.raises(RuntimeError, match="stopped"):
        pool.map([()])
