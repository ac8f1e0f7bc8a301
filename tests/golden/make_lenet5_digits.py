"""Train LeNet-5 on the digits of msnb and write its weights to msnb/_data.

Run ``python tests/golden/make_lenet5_digits.py``. Images are enlarged to 32 x 32 and scaled as in notebook 01.
"""

from pathlib import Path

import numpy as np

import msnb
from msnb import Tensor, model_zoo, nn
from msnb import dataset as ds
from msnb.dataset.vision import Inter
from msnb.dataset.vision import c_transforms as vision

FILE = Path(msnb.__file__).parent / "_data" / "lenet5_digits.ckpt"


def read_digits(part):
    """Return images (N, 1, 32, 32) and labels of "train" or "test"."""
    dataset = ds.MnistDataset(f"{msnb.samples.digits()}/{part}", shuffle=False)
    steps = [vision.Resize((32, 32), Inter.LINEAR), vision.Rescale(1 / 255, 0)]
    steps += [vision.Rescale(1 / 0.3081, -0.1307 / 0.3081), vision.HWC2CHW()]
    rows = list(dataset.map(steps, "image").create_dict_iterator(num_epochs=1, output_numpy=True))
    images, labels = (np.stack([row[name] for row in rows]) for name in ("image", "label"))
    return images.astype(np.float32), labels.astype(np.int32)


def shift(images, rng):
    """Return images that are moved by up to two pixels."""
    moves = rng.randint(-2, 3, (len(images), 2))
    return np.stack([np.roll(image, tuple(move), (1, 2)) for image, move in zip(images, moves, strict=True)])


def main():
    msnb.set_seed(1)
    msnb.set_context(mode=msnb.GRAPH_MODE)
    (images, labels), (test_images, test_labels) = read_digits("train"), read_digits("test")
    net, rng = model_zoo.lenet5(), np.random.RandomState(0)
    steps = [range(at, at + 50) for at in range(0, len(labels), 50)]
    rates = nn.cosine_decay_lr(1e-5, 2e-3, 60 * len(steps), len(steps), 60)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), rates))
    for _ in range(60):
        order = rng.permutation(len(labels))
        for rows in steps:
            chosen = order[list(rows)]
            step.set_train()(Tensor(shift(images[chosen], rng)), Tensor(labels[chosen]))
    for name, x, y in (("train", images, labels), ("test", test_images, test_labels)):
        print(name, (net.set_train(False)(Tensor(x)).asnumpy().argmax(1) == y).mean())
    msnb.save_weights(net, FILE)
    print(FILE, FILE.stat().st_size)


if __name__ == "__main__":
    main()
