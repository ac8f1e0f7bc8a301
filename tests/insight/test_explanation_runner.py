"""`ImageClassificationRunner`: its files, its order, its checks, and r1.1's tutorial."""

import textwrap
from pathlib import Path

import explained_networks as networks
import numpy as np
import pytest
from PIL import Image

import msnb
from msnb import Tensor, context, nn
from msnb import dataset as ds
from msnb.explainer import ImageClassificationRunner
from msnb.explainer.benchmark import ClassSensitivity, Faithfulness, Localization, Robustness
from msnb.explainer.explanation import RISE, Deconvolution, GradCAM, Gradient, GuidedBackprop, Occlusion
from msnb.formats.explanation_records import read_explanations

NAMES = ["cat", "dog", "fox"]
SHAPE = (3, 8, 8)
# Smooth images, which survive JPEG.
IMAGES = np.stack([np.outer(np.linspace(0, 1, 8), np.linspace(k, 3, 8)) for k in range(15)]).reshape(5, *SHAPE)
IMAGES = IMAGES.astype(np.float32)
LABELS = np.array([[0, -1], [1, 2], [2, 2], [-1, -1], [1, 0]], np.int32)
BOXES = np.tile(np.array([[1, 2, 3, 4], [5, 0, 2, 2]], np.int32), (5, 1, 1))  # left, top, width, height


def network():
    return networks.Linear(3, shape=SHAPE)


def dataset(n_columns=3, batch=2, shuffle=False, labels=LABELS):
    columns = (IMAGES, labels, BOXES)[:n_columns]
    pipeline = ds.NumpySlicesDataset(columns, ["image", "label", "bbox"][:n_columns], shuffle=shuffle)
    return pipeline.batch(batch) if batch else pipeline


def make_runner(folder, net, **options):
    return ImageClassificationRunner(str(folder), (dataset(**options), NAMES), net, nn.Softmax())


def short_rise(net):
    rise = RISE(net, nn.Softmax())
    rise._num_masks = 64
    return rise


def all_explainers(net):
    return [
        Gradient(net),
        GuidedBackprop(net),
        Deconvolution(net),
        GradCAM(net, "relu"),
        Occlusion(net, nn.Softmax()),
        short_rise(net),
    ]


def all_benchmarks():
    softmax = nn.Softmax()
    return [ClassSensitivity(), Faithfulness(3, softmax), Localization(3, "IoSR"), Robustness(3, softmax)]


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_a_run_writes_images_maps_and_scores(tmp_path, mode, capfd):
    context.set_context(mode=mode)
    net = network()
    runner = make_runner(tmp_path, net)
    explainers, benchmarks = all_explainers(net), all_benchmarks()
    runner.register_saliency(explainers, benchmarks)
    runner.run()
    captured = capfd.readouterr()
    assert f"5 images are explained in {tmp_path}." in captured.out
    assert "1 of 5 images have neither a true label nor a probability above 0.5" in captured.err
    explained = read_explanations(tmp_path)
    names = ["Gradient", "GuidedBackprop", "Deconvolution", "GradCAM", "Occlusion", "RISE"]
    assert explained.metadata.label == tuple(NAMES)
    assert explained.metadata.explain_method == tuple(names)
    assert explained.metadata.benchmark_method == ("ClassSensitivity", "Faithfulness", "Localization", "Robustness")
    assert list(explained.samples) == [0, 1, 2, 3, 4]
    probabilities = nn.Softmax()(net(Tensor(IMAGES))).asnumpy()
    for sample, labels in zip(explained.samples.values(), ([0], [1, 2], [2], [], [0, 1]), strict=True):
        assert sample.ground_truth_label == tuple(labels)
        expected = probabilities[sample.sample_id][labels]
        np.testing.assert_allclose(sample.inference.ground_truth_prob, expected, atol=1e-6)
        assert set(sample.heatmap_paths) == {(name, label) for name in names for label in labels}
        image = np.asarray(Image.open(explained.resolve(sample.image_path)), np.float32)
        raw = IMAGES[sample.sample_id].transpose(1, 2, 0)
        assert np.abs(image / 255 - (raw - raw.min()) / np.ptp(raw)).mean() < 0.1  # JPEG
    for explainer in explainers:
        saliency = explainer(Tensor(IMAGES[1:2]), 2).asnumpy()[0, 0]
        path = explained.samples[1].heatmap_paths[type(explainer).__name__, 2]
        heatmap = np.asarray(Image.open(explained.resolve(path)), np.float32)
        assert heatmap.shape == (8, 8)
        assert np.abs(heatmap / 255 - (saliency - saliency.min()) / np.ptp(saliency)).mean() < 0.1
    assert set(explained.scores) == {(name, type(each).__name__) for name in names for each in benchmarks}
    assert len(explained.scores["RISE", "Faithfulness"].label_score) == 3
    last = explained.scores["RISE", "ClassSensitivity"]
    np.testing.assert_allclose(last.total_score, benchmarks[0].performance, rtol=1e-6)
    assert last.label_score == ()


def test_a_box_is_left_top_width_height(tmp_path):
    masks = []

    class Recorded(Localization):
        def evaluate(self, explainer, inputs, targets, saliency=None, mask=None):
            masks.append((targets, mask))
            return super().evaluate(explainer, inputs, targets, saliency, mask)

    net = network()
    runner = make_runner(tmp_path, net)
    runner.register_saliency([Gradient(net)], [Recorded(3)])
    runner.run()
    assert [label for label, _ in masks] == [0, 1, 2, 2, 0, 1]
    first = np.zeros((1, 1, 8, 8))
    first[..., 2:6, 1:4] = 1
    np.testing.assert_array_equal(masks[0][1], first)
    second = np.zeros((1, 1, 8, 8))
    second[..., 0:2, 5:7] = 1
    np.testing.assert_array_equal(masks[3][1], np.maximum(first, second))  # two boxes of label 2


def test_each_pass_has_the_same_random_order(tmp_path):
    net = network()
    np.random.seed(1)
    before, seed = np.random.get_state()[1].copy(), ds.config.get_seed()
    runner = make_runner(tmp_path, net, shuffle=True)
    runner.register_saliency([Gradient(net), Occlusion(net, nn.Softmax())])
    runner.run()
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    assert ds.config.get_seed() == seed
    explained = read_explanations(tmp_path)
    assert [sample.ground_truth_label for sample in explained.samples.values()] != [(0,), (1, 2), (2,), (), (0, 1)]
    for sample in explained.samples.values():
        labels = set(sample.ground_truth_label) | set(sample.inference.predicted_label)
        assert set(sample.heatmap_paths) == {(name, label) for name in ("Gradient", "Occlusion") for label in labels}


def test_rows_without_a_batch_and_without_labels(tmp_path):
    class Sure(networks.Linear):
        def construct(self, x):
            return super().construct(x) + Tensor([[0.0, 9.0, 0.0]], msnb.float32)

    net = Sure(3, shape=SHAPE)
    runner = make_runner(tmp_path, net, n_columns=1, batch=0)
    runner.register_saliency([Gradient(net), short_rise(net)])
    runner.run()
    explained = read_explanations(tmp_path)
    assert [sample.inference.predicted_label for sample in explained.samples.values()] == [(1,)] * 5
    assert {key for sample in explained.samples.values() for key in sample.heatmap_paths} == {
        ("Gradient", 1),
        ("RISE", 1),
    }


def test_a_second_run_traces_nothing(tmp_path):
    net = network()
    runner = make_runner(tmp_path, net)
    runner.register_saliency([Gradient(net), short_rise(net)])
    runner.run()
    with networks.counted_traces() as traces:
        runner.run()
    assert not traces


def test_a_shorter_last_batch_traces_nothing(tmp_path):
    counts = []
    for n_batches in (2, 3):
        net = network()
        data = dataset(batch=2).take(n_batches), NAMES
        runner = ImageClassificationRunner(str(tmp_path), data, net, nn.Softmax())
        runner.register_saliency([Gradient(net), short_rise(net)])
        with networks.counted_traces() as traces:
            runner.run()
        counts.append(len(traces))
    assert counts[0] == counts[1]


def test_a_stop_leaves_what_is_written(tmp_path):
    class Stopping(Gradient):
        def __call__(self, inputs, targets):
            raise KeyboardInterrupt

    net = network()
    runner = make_runner(tmp_path, net)
    runner.register_saliency([Gradient(net), Stopping(net)])
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    explained = read_explanations(tmp_path)
    assert len(explained.samples) == 5
    assert len(explained.samples[1].heatmap_paths) == 2
    assert explained.status == "interrupted"


def test_an_error_is_named_in_the_folder(tmp_path):
    class Failing(Gradient):
        def __call__(self, inputs, targets):
            raise ArithmeticError("no gradient")

    net = network()
    runner = make_runner(tmp_path, net)
    runner.register_saliency([Failing(net)])
    with pytest.raises(ArithmeticError):
        runner.run()
    assert read_explanations(tmp_path).status == "failed"


def test_a_runner_can_run_again(tmp_path):
    net = network()
    runner = make_runner(tmp_path, net)
    runner.register_saliency([Gradient(net)])
    runner.run()
    runner.run()
    assert len(list(tmp_path.glob("events*_explain"))) == 2


def test_the_line_counts_the_steps_of_long_explainers(tmp_path, monkeypatch):
    lines = []

    class Line:
        waits = False

        def show(self, parts, share=None, curve=()):
            lines.append(parts[0])

        def end(self, parts, curve=()):
            lines.append(parts[0])

    net = network()
    runner = make_runner(tmp_path, net)
    runner.register_saliency([Occlusion(net, nn.Softmax()), short_rise(net), Gradient(net)], [ClassSensitivity()])
    monkeypatch.setattr("msnb.common.progress.begin", Line)
    monkeypatch.setattr("msnb.common.progress._DELAY", 0)
    monkeypatch.setattr("msnb.common.progress.EVERY", 0)
    runner.run()
    steps = [line.partition(" in ")[0] for line in lines if " in " in line and not line.startswith("compiling")]
    # Occlusion: 36 windows and the image itself, 2 + 1 + 1 pairs of images; RISE: 64 masks, 3 batches
    assert steps[:1] == ["predictions: 5 images"]
    assert [step for step in steps if not step.startswith("predictions")] == [
        "Occlusion: 296 windows",
        "RISE: 192 masks",
        "Gradient: 5 images",
    ]


# ---------------------------------------------------------------------- errors
NET = network()
BATCHES = dataset()


def make(data=None, folder="never", net=NET, activation_fn=None):
    return ImageClassificationRunner(
        folder, (BATCHES, NAMES) if data is None else data, net, activation_fn or nn.Softmax()
    )


def register(*args, n_columns=3):
    make((dataset(n_columns), NAMES)).register_saliency(*args)


def register_twice():
    runner = make()
    runner.register_saliency([Gradient(NET)])
    runner.register_saliency([Gradient(NET)])


def with_columns(*columns):
    names = [f"c{index}" for index in range(len(columns))]
    return ds.NumpySlicesDataset(columns, names, shuffle=False).batch(5), NAMES


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make([BATCHES, NAMES]), TypeError, "'data' should be tuple"),
        (lambda: make((BATCHES,)), ValueError, "'data' should be .data set, labels., but has 1 elements"),
        (lambda: make((IMAGES, NAMES)), TypeError, r"'data\[0\]' should be Dataset"),
        (lambda: make((BATCHES, tuple(NAMES))), TypeError, r"'data\[1\]' should be list"),
        (lambda: make((BATCHES, ["a", "b", 3])), ValueError, "each label should be a str, but label 2 is int 3"),
        (lambda: make((BATCHES, ["a", "b", " "])), ValueError, "label 2 should be a name"),
        (lambda: make((BATCHES, ["a", "b", "a"])), ValueError, "the labels should be unique, but 'a' is repeated"),
        (lambda: make((BATCHES, ["a", "b"])), ValueError, "a label for each of the 3 outputs .* are 2 labels"),
        (lambda: make(folder=3), TypeError, "'summary_dir' should be str"),
        (lambda: make(net=nn.Softmax), TypeError, "'network' should be Cell"),
        (lambda: make(activation_fn=msnb.ops.Softmax()), TypeError, "'activation_fn' should be Cell"),
        (lambda: make(with_columns(IMAGES, LABELS, BOXES, LABELS)), ValueError, "it has 4 columns"),
        (lambda: make(with_columns(IMAGES[:, 0])), ValueError, "an image should be .C, H, W. or .N, C, H, W."),
        (lambda: make(with_columns(IMAGES, LABELS, LABELS)), ValueError, "the third column should be boxes"),
        (lambda: make(with_columns(IMAGES, LABELS[:, 0], BOXES)), ValueError, "1 labels and 2 boxes"),
        (lambda: make(with_columns(IMAGES, LABELS + 0.5)), ValueError, "the second column should be integers"),
        (lambda: make(with_columns(IMAGES, LABELS + 1)), ValueError, "should be from 0 to 2, but one is 3"),
        (lambda: make().run(), ValueError, "there is no explainer. Call register_saliency"),
        (register_twice, RuntimeError, "register_saliency was called before"),
        (lambda: register([]), ValueError, "'explainers' should have at least one explainer"),
        (lambda: register(Gradient(NET)), TypeError, "'explainers' should be list"),
        (lambda: register([NET]), TypeError, "'an element of explainers' should be Attribution"),
        (lambda: register([Gradient(NET)], ClassSensitivity()), TypeError, "'benchmarkers' should be list"),
        (lambda: register([Gradient(NET)], [Gradient(NET)]), TypeError, "should be AttributionMetric"),
        (lambda: register([Gradient(NET), Gradient(NET)]), ValueError, "but Gradient is repeated"),
        (lambda: register([Gradient(NET)], [Localization(3)] * 2), ValueError, "but Localization is repeated"),
        (lambda: register([Gradient(network())]), ValueError, "the network of Gradient should be the same object"),
        (lambda: register([Gradient(NET)], [Localization(4)]), ValueError, "'num_labels' of Localization should be 3"),
        (lambda: register([Gradient(NET)], [Localization(3)], n_columns=2), ValueError, "Localization needs boxes"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
    assert not Path("never").exists()


def test_explainers_can_be_registered_after_an_error():
    runner = make()
    with pytest.raises(ValueError, match="same object"):
        runner.register_saliency([Gradient(network())])
    runner.register_saliency([Gradient(NET)])


# ---------------------------------------------------------------------- r1.1's tutorial
def test_the_tutorial_of_r1_1_runs_under_the_alias(fresh, tmp_path):
    """`model_explaination`, with a small network and random images in place of its files."""
    done = fresh.run(
        textwrap.dedent(
            f"""
            import msnb.alias
            msnb.alias.install()
            import numpy as np
            import mindspore.nn as nn
            import mindspore.dataset as ds
            from mindspore import context
            from mindspore.explainer.explanation import GradCAM, GuidedBackprop
            from mindspore.explainer.benchmark import Faithfulness, Localization
            from mindspore.explainer import ImageClassificationRunner

            context.set_context(mode=context.PYNATIVE_MODE)
            num_classes = 4
            net = nn.SequentialCell([nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dense(4 * 16 * 16, num_classes)])

            gradcam = GradCAM(net, layer='1')
            guidedbackprop = GuidedBackprop(net)

            activation_fn = nn.Sigmoid()
            faithfulness = Faithfulness(num_labels=num_classes, metric='InsertionAUC', activation_fn=activation_fn)
            localization = Localization(num_labels=num_classes, metric='PointingGame')

            random = np.random.default_rng(0)
            columns = (random.random((4, 3, 16, 16), np.float32), np.arange(4), np.tile([[2, 2, 5, 5]], (4, 1, 1)))
            dataset = ds.NumpySlicesDataset(columns, ["image", "label", "bbox"], shuffle=False).batch(2)
            classes = ['aeroplane', 'bicycle', 'bird', 'boat']
            data = (dataset, classes)
            explainers = [gradcam, guidedbackprop]
            benchmarkers = [faithfulness, localization]

            runner = ImageClassificationRunner(
                summary_dir={str(tmp_path)!r}, network=net, activation_fn=activation_fn, data=data
            )
            runner.register_saliency(explainers, benchmarkers)
            runner.run()
            """
        ),
        tmp_path,
    )
    assert done.status == 0, done.err
    assert "4 images are explained in" in done.out
    explained = read_explanations(tmp_path)
    assert len(explained.samples) == 4
    assert set(explained.scores) == {
        (explainer, benchmark)
        for explainer in ("GradCAM", "GuidedBackprop")
        for benchmark in ("Faithfulness", "Localization")
    }
