"""Pipelines as MindSpore programs, which run on msnb and on MindSpore."""

from importlib import import_module

import numpy as np

WORDS = "the quick brown fox jumps over lazy dog hello world mind ##spore note ##book kit data engine un ##believ \
##able token ##ization it ' s 2026 x = 3 , !".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def make_pipelines(base, folder):
    """Return {name: function that returns (iterable over an epoch, samples per epoch)}.

    `base` is "mindspore" or "msnb".
    """
    ms = import_module(base)
    ds = import_module(f"{base}.dataset")
    V, C, T = (import_module(f"{base}.dataset.{m}") for m in ("vision", "transforms", "text"))

    def lenet():
        d = ds.MnistDataset(f"{folder}/mnist", usage="train", shuffle=True)
        d = d.map(C.TypeCast(ms.int32), "label", num_parallel_workers=2)
        for op in [V.Resize((32, 32)), V.Rescale(1 / 255, 0), V.Rescale(1 / 0.3081, -0.4242), V.HWC2CHW()]:
            d = d.map(op, "image", num_parallel_workers=2)
        return d.shuffle(10000).batch(32, drop_remainder=True), 20000

    def cifar():
        d = ds.Cifar10Dataset(f"{folder}/cifar", usage="train", shuffle=True)
        ops = [
            V.RandomCrop((32, 32), (4, 4, 4, 4)),
            V.RandomHorizontalFlip(0.5),
            V.Rescale(1 / 255, 0),
            V.Normalize([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]),
            V.HWC2CHW(),
        ]
        d = d.map(ops, "image", num_parallel_workers=2).map(C.TypeCast(ms.int32), "label", num_parallel_workers=2)
        return d.batch(32, drop_remainder=True), 20000

    def jpeg_train():
        d = ds.ImageFolderDataset(f"{folder}/images", shuffle=True)
        ops = [V.RandomCropDecodeResize(224), V.RandomHorizontalFlip(0.5), V.Normalize(MEAN, STD), V.HWC2CHW()]
        return d.map(ops, "image", num_parallel_workers=2).batch(32), 300

    def jpeg_eval():
        d = ds.ImageFolderDataset(f"{folder}/images", shuffle=False)
        ops = [V.Decode(), V.Resize(256), V.CenterCrop(224), V.Normalize(MEAN, STD), V.HWC2CHW()]
        return d.map(ops, "image", num_parallel_workers=2).batch(32), 300

    def generator():
        data = np.random.default_rng(0).normal(size=(20000, 16)).astype(np.float32)

        def rows():
            for i in range(len(data)):
                yield data[i], np.int32(i)

        return ds.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(32), 20000

    def random_access():
        d = ds.GeneratorDataset(Rows(), ["x", "y"], shuffle=True)
        return d.map(lambda x: x * 2 + 1, ["x"]).batch(32), 20000

    def slices():
        data = np.random.default_rng(0).normal(size=(20000, 16)).astype(np.float32)
        return ds.NumpySlicesDataset({"x": data, "y": np.arange(20000, dtype=np.int32)}, shuffle=True).batch(32), 20000

    def whitespace():
        d = ds.TextFileDataset(f"{folder}/text.txt", shuffle=False)
        return d.map(T.WhitespaceTokenizer(), "text", num_parallel_workers=2), 40000

    def bert():
        d = ds.TextFileDataset(f"{folder}/text.txt", shuffle=False)
        vocabulary = T.Vocab.from_list(VOCABULARY)
        d = d.map(T.BertTokenizer(vocabulary, lower_case=True), "text", num_parallel_workers=2)
        return d.map(T.Lookup(vocabulary, "[UNK]"), "text", num_parallel_workers=2), 40000

    def records():
        return ds.MindDataset(f"{folder}/bert.mindrecord", shuffle=True).batch(32), 8000

    def record_images():
        return ds.MindDataset(f"{folder}/images.mindrecord", ["data", "label"], shuffle=True), 6000

    makers = {
        "MNIST, LeNet's": lenet,
        "CIFAR-10, crop flip norm": cifar,
        "JPEG train, ResNet-50's": jpeg_train,
        "JPEG eval, ResNet-50's": jpeg_eval,
        "GeneratorDataset": generator,
        "random access, function": random_access,
        "NumpySlicesDataset": slices,
        "text, white space": whitespace,
        "text, BERT and Lookup": bert,
        "MindRecord, BERT features": records,
        "MindRecord, JPEG bytes": record_images,
    }

    def make_opener(make):
        def start():
            pipeline, samples = make()
            iterator = pipeline.create_tuple_iterator(num_epochs=-1, output_numpy=True)
            return iterator, samples

        start.pipeline = make
        return start

    return {name: make_opener(make) for name, make in makers.items()}


class Rows:
    """A random access data set in Python."""

    def __init__(self):
        self.data = np.random.default_rng(0).normal(size=(20000, 16)).astype(np.float32)

    def __getitem__(self, index):
        return self.data[index], np.int32(index)

    def __len__(self):
        return len(self.data)
