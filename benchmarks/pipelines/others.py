"""The pipelines of `programs.py` for torch and grain, as far as these have a counterpart."""

import numpy as np

from pipelines.programs import MEAN, STD, Rows


class NumpyPipelines:
    """Random access data sets whose samples are computed with numpy and OpenCV."""

    def __init__(self, folder):
        import cv2

        cv2.setNumThreads(0)
        self.cv2 = cv2
        self.folder = folder
        self.rng = np.random.default_rng(0)

    def tables(self):
        """Return {name: function that returns (length, function from a number to a sample)}."""
        return {
            "MNIST, LeNet's": self.mnist,
            "CIFAR-10, crop flip norm": self.cifar,
            "JPEG train, ResNet-50's": self.jpeg_train,
            "JPEG eval, ResNet-50's": self.jpeg_eval,
            "random access, function": self.function,
            "NumpySlicesDataset": self.slices,
        }

    def mnist(self):
        x = np.fromfile(f"{self.folder}/mnist/train-images-idx3-ubyte", np.uint8, offset=16).reshape(-1, 28, 28)
        y = np.fromfile(f"{self.folder}/mnist/train-labels-idx1-ubyte", np.uint8, offset=8).astype(np.int32)
        a, b = np.float32(1 / 0.3081 / 255), np.float32(-0.4242)

        def sample(i):
            return (self.cv2.resize(x[i], (32, 32)).astype(np.float32) * a + b)[None], y[i]

        return len(x), sample

    def cifar(self):
        rows = np.concatenate([np.fromfile(f"{self.folder}/cifar/data_batch_{i}.bin", np.uint8) for i in (1, 2)])
        rows = rows.reshape(-1, 3073)
        x = np.ascontiguousarray(rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        y = rows[:, 0].astype(np.int32)
        mean, std = np.float32([0.4914, 0.4822, 0.4465]), np.float32([0.2023, 0.1994, 0.2010])

        def sample(i):
            padded = self.cv2.copyMakeBorder(x[i], 4, 4, 4, 4, self.cv2.BORDER_CONSTANT)
            row, column = self.rng.integers(0, 9, 2)
            image = padded[row : row + 32, column : column + 32]
            if self.rng.random() < 0.5:
                image = image[:, ::-1]
            image = (image.astype(np.float32) / np.float32(255) - mean) / std
            return np.ascontiguousarray(image.transpose(2, 0, 1)), y[i]

        return len(x), sample

    def _list_files(self):
        return [(f"{self.folder}/images/{i % 4}/{i}.jpg", np.int32(i % 4)) for i in range(300)]

    def _read_image(self, path):
        with open(path, "rb") as file:
            data = np.frombuffer(file.read(), np.uint8)
        return self.cv2.cvtColor(self.cv2.imdecode(data, self.cv2.IMREAD_COLOR), self.cv2.COLOR_BGR2RGB)

    @staticmethod
    def _normalise(image):
        image = (image.astype(np.float32) - np.float32(MEAN)) / np.float32(STD)
        return np.ascontiguousarray(image.transpose(2, 0, 1))

    def jpeg_train(self):
        files = self._list_files()

        def sample(i):
            image = self._read_image(files[i][0])
            h, w = image.shape[:2]
            for _ in range(10):
                area = h * w * self.rng.uniform(0.08, 1)
                ratio = np.exp(self.rng.uniform(np.log(3 / 4), np.log(4 / 3)))
                wide, high = int(round((area * ratio) ** 0.5)), int(round((area / ratio) ** 0.5))
                if wide <= w and high <= h:
                    break
            else:
                wide, high = w, h
            row, column = self.rng.integers(0, h - high + 1), self.rng.integers(0, w - wide + 1)
            image = self.cv2.resize(image[row : row + high, column : column + wide], (224, 224))
            return self._normalise(image[:, ::-1] if self.rng.random() < 0.5 else image), files[i][1]

        return len(files), sample

    def jpeg_eval(self):
        files = self._list_files()

        def sample(i):
            image = self._read_image(files[i][0])
            h, w = image.shape[:2]
            size = (int(256 * w / h), 256) if h < w else (256, int(256 * h / w))
            image = self.cv2.resize(image, size)
            row, column = (image.shape[0] - 224) // 2, (image.shape[1] - 224) // 2
            return self._normalise(image[row : row + 224, column : column + 224]), files[i][1]

        return len(files), sample

    def function(self):
        rows = Rows()

        def sample(i):
            x, y = rows[i]
            return x * 2 + 1, y

        return len(rows), sample

    def slices(self):
        rows = Rows()
        return len(rows), lambda i: (rows.data[i], np.int32(i))


class SampleTable:
    """A map-style data set of torch and grain."""

    def __init__(self, length, sample):
        self.length = length
        self.sample = sample

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.sample(int(index))


def make_torch_pipelines(folder):
    """Return the pipelines of a DataLoader in the calling process, which needs the least CPU time."""
    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)

    def make_opener(make, name):
        def start():
            table = SampleTable(*make())
            return DataLoader(table, 32, shuffle="eval" not in name, num_workers=0), len(table)

        return start

    return {name: make_opener(make, name) for name, make in NumpyPipelines(folder).tables().items()}


def make_grain_pipelines(folder):
    """Return the pipelines of grain.MapDataset: shuffle, map, batch, read by its own threads."""
    import grain

    def make_opener(make, name):
        def start():
            length, sample = make()
            d = grain.MapDataset.source(SampleTable(length, sample))
            if "eval" not in name:
                d = d.shuffle(seed=0)
            return d.batch(32).to_iter_dataset(), length

        return start

    return {name: make_opener(make, name) for name, make in NumpyPipelines(folder).tables().items()}
