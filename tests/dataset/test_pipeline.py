"""Operators: what they do to rows, what they say about the pipeline, and that nothing runs before it has to."""

import threading

import numpy as np
import pytest

import msnb
import msnb.dataset as ds


def numbers(n=10, **kwargs):
    return ds.NumpySlicesDataset(np.arange(n, dtype=np.int32), ["x"], shuffle=False, **kwargs)


def rows(dataset, name="x"):
    return [r[name].tolist() for r in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]


def test_take_skip_repeat_and_concat_keep_the_order():
    d = numbers().skip(2).take(3).repeat(2) + numbers(2)
    assert rows(d) == [2, 3, 4, 2, 3, 4, 0, 1]
    assert d.get_dataset_size() == 8


def test_batches_hold_consecutive_rows_and_the_last_is_dropped_on_request():
    assert rows(numbers().batch(4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    d = numbers().batch(4, drop_remainder=True)
    assert rows(d) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert (d.get_dataset_size(), d.get_batch_size(), d.output_shapes(), d.output_types()) == (
        2,
        4,
        [[4]],
        [np.dtype("int32")],
    )


def test_a_batch_size_may_be_a_function_of_the_batch_number():
    assert rows(numbers(6).batch(lambda info: info.get_batch_num() + 1)) == [[0], [1, 2], [3, 4, 5]]


def test_per_batch_map_gets_a_list_of_rows_per_column_and_the_batch_info():
    def sums(column, info):
        return ([x + 100 * info.get_batch_num() for x in column],)

    assert rows(numbers(4).batch(2, per_batch_map=sums, input_columns=["x"])) == [[0, 1], [102, 103]]


def test_padded_batches_take_the_longest_row_or_the_given_shape():
    def source():
        for n in (1, 3, 2):
            yield (np.ones(n, np.int64),)

    d = ds.GeneratorDataset(source, ["x"])
    assert rows(d.batch(3, pad_info={"x": ([None], -1)})) == [[[1, -1, -1], [1, 1, 1], [1, 1, -1]]]
    assert rows(d.batch(3, pad_info={"x": ([4], 0)})) == [[[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0]]]


def test_bucket_batch_by_length_batches_rows_of_similar_length():
    def source():
        for n in (1, 5, 2, 6, 3):
            yield (np.full(n, n, np.int64),)

    d = ds.GeneratorDataset(source, ["x"]).bucket_batch_by_length(["x"], [4], [3, 2], pad_info={"x": ([None], 0)})
    assert sorted(rows(d)) == sorted([[[1, 0, 0], [2, 2, 0], [3, 3, 3]], [[5, 5, 5, 5, 5, 0], [6, 6, 6, 6, 6, 6]]])


def test_lengths_and_sizes_of_buckets_are_refused_in_words_of_their_own():
    d = numbers(3)
    with pytest.raises(ValueError, match="bucket_boundaries must only contain positive numbers"):
        d.bucket_batch_by_length(["x"], [0, 4], [3, 2, 1])
    with pytest.raises(ValueError, match="bucket_batch_sizes should be a list of positive numbers"):
        d.bucket_batch_by_length(["x"], [4], [3, -2])


def test_map_renames_reorders_and_adds_columns():
    d = numbers(2).map(lambda x: (x, x * 2), ["x"], ["a", "b"], column_order=["b", "a"])
    assert d.get_col_names() == ["b", "a"]
    assert [list(r) for r in d.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [[0, 0], [2, 1]]


def test_map_without_input_columns_takes_the_first():
    d = ds.NumpySlicesDataset(([1, 2], [3, 4]), ["a", "b"], shuffle=False).map(lambda x: x + 1)
    assert rows(d, "a") == [2, 3] and rows(d, "b") == [3, 4]


def test_operations_of_one_map_run_one_after_the_other():
    assert rows(numbers(3).map([lambda x: x + 1, lambda x: x * 10], ["x"])) == [10, 20, 30]


def test_zip_ends_with_the_shorter_and_project_and_rename_choose_columns():
    d = ds.zip((numbers(3), numbers(5).rename("x", "y")))
    assert d.get_dataset_size() == 3 and d.get_col_names() == ["x", "y"]
    assert rows(d.project("y"), "y") == [0, 1, 2]


def test_filter_keeps_rows_for_which_the_function_is_true():
    assert rows(numbers().filter(lambda x: bool(x % 3 == 0), ["x"])) == [0, 3, 6, 9]


def test_split_gives_disjoint_subsets_that_cover_everything():
    one, two = numbers().split([0.7, 0.3])
    assert (one.get_dataset_size(), two.get_dataset_size()) == (7, 3)
    assert sorted(rows(one) + rows(two)) == list(range(10))
    assert [rows(d) for d in numbers().split([3, 7], randomize=False)] == [[0, 1, 2], [3, 4, 5, 6, 7, 8, 9]]


def test_apply_takes_a_function_from_data_set_to_data_set():
    assert rows(numbers(3).apply(lambda d: d.repeat(2))) == [0, 1, 2, 0, 1, 2]


def test_shuffle_gives_every_row_once_and_the_same_order_for_the_same_seed():
    ds.config.set_seed(4)
    d = numbers(50).shuffle(10)
    first = rows(d)
    assert sorted(first) == list(range(50)) and first != list(range(50))
    assert rows(d) == first


def test_each_epoch_is_shuffled_anew():
    it = numbers(50).shuffle(50).create_tuple_iterator(num_epochs=2, output_numpy=True)
    one, two = [[int(r[0]) for r in it] for _ in range(2)]
    assert one != two and sorted(one) == sorted(two)


def test_asking_for_more_epochs_than_announced_is_an_error():
    it = numbers(2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert len(list(it)) == 2
    with pytest.raises(RuntimeError, match="beyond the specified number of epochs"):
        next(it)


def test_rows_are_tensors_unless_numpy_is_asked_for():
    row = next(numbers().create_dict_iterator())
    assert isinstance(row["x"], msnb.Tensor) and row["x"].dtype == msnb.int32 and row["x"].asnumpy() == 0
    assert isinstance(next(numbers().create_dict_iterator(output_numpy=True))["x"], np.ndarray)


def test_rows_belong_to_the_caller():
    d = numbers(3)
    for row in d.create_dict_iterator(num_epochs=1, output_numpy=True):
        row["x"][...] = 99
    assert rows(d) == [0, 1, 2]


def test_nothing_runs_before_an_iterator_is_asked_for_its_first_row():
    calls = []
    d = numbers(3).map(lambda x: calls.append(1) or x, ["x"]).batch(2)
    assert d.get_dataset_size() == 2 and not calls
    it = d.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert not calls
    next(it)
    assert calls


def test_two_iterators_of_one_pipeline_do_not_disturb_each_other():
    d = numbers(4)
    a, b = (d.create_tuple_iterator(num_epochs=1, output_numpy=True) for _ in range(2))
    next(a), next(a)
    assert [int(r[0]) for r in b] == [0, 1, 2, 3]
    assert [int(r[0]) for r in a] == [2, 3]


def test_an_iterator_left_early_leaves_no_thread_behind():
    before = threading.active_count()
    for _ in range(5):
        it = numbers(10000).map(lambda x: x, ["x"]).create_tuple_iterator(output_numpy=True)
        next(it)
        it.stop()
    assert threading.active_count() <= before + 8  # the shared pool may have started


def test_sync_wait_lets_rows_pass_as_the_training_allows():
    seen = []
    d = numbers(4).sync_wait("policy", num_batch=1, callback=seen.append)
    got = []
    for row in d.create_dict_iterator(num_epochs=1, output_numpy=True):
        got.append(int(row["x"]))
        d.sync_update("policy", data=len(got))
    assert got == [0, 1, 2, 3] and seen[:3] == [1, 2, 3]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda d: d.batch(0), ValueError),
        (lambda d: d.batch("4"), TypeError),
        (lambda d: d.shuffle(1), ValueError),
        (lambda d: d.repeat(0), ValueError),
        (lambda d: d.take(0), ValueError),
        (lambda d: d.skip(-2), ValueError),
        (lambda d: d.map(3), TypeError),
        (lambda d: d.map(lambda x: x, ["x"], num_parallel_workers=0), ValueError),
        (lambda d: d.split([0.5, 0.6]), ValueError),
        (lambda d: d.zip(3), TypeError),
        (lambda d: d.create_dict_iterator(output_numpy=1), TypeError),
    ],
)
def test_wrong_arguments_are_refused_when_the_pipeline_is_described(call, error):
    with pytest.raises(error):
        call(numbers())


def test_an_unknown_column_is_named():
    with pytest.raises(RuntimeError, match="'y'|y"):
        rows(numbers().map(lambda x: x, ["y"]))


def test_len_is_the_number_of_rows_or_batches():
    data = ds.NumpySlicesDataset(np.arange(10))
    assert (len(data), len(data.batch(4)), len(data.batch(4, True)), len(data.repeat(2))) == (10, 3, 2, 20)
    assert len(data.filter(lambda x: x > 3)) == 6 and len(data.skip(20)) == 0


def test_asking_whether_there_is_a_data_set_runs_nothing():
    def rows():
        raise AssertionError("the pipeline ran")
        yield

    assert ds.GeneratorDataset(rows, ["x"]) and ds.NumpySlicesDataset(np.arange(3)).skip(5)


def test_an_iterator_has_no_len_and_is_not_used_up_by_list():
    data = ds.GeneratorDataset(iter([(np.array([i]),) for i in range(3)]), ["x"])
    with pytest.raises(TypeError, match="can be read only once"):
        len(data.batch(2))
    assert len(list(data)) == 3
