"""Write the files that the pipelines read, in the formats of the data sets."""

import os
import struct

import numpy as np


def make_files(folder):
    """Write MNIST (20000 images), CIFAR-10 (20000), 300 JPEGs, 40000 lines of text and two MindRecords."""
    rng = np.random.default_rng(0)
    make_mnist(folder, rng)
    os.makedirs(f"{folder}/cifar")
    for i in (1, 2):
        rows = rng.integers(0, 256, (10000, 3073), np.uint8)
        rows[:, 0] %= 10
        rows.tofile(f"{folder}/cifar/data_batch_{i}.bin")
    jpegs = make_jpegs(folder, rng)
    make_text(folder, rng)
    make_records(folder, jpegs, rng)


def make_mnist(folder, rng):
    """Write 20000 images of 28 x 28, and their labels."""
    os.makedirs(f"{folder}/mnist")
    images = rng.integers(0, 256, (20000, 28, 28), np.uint8)
    with open(f"{folder}/mnist/train-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4i", 2051, *images.shape) + images.tobytes())
    with open(f"{folder}/mnist/train-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2i", 2049, len(images)) + rng.integers(0, 10, len(images), np.uint8).tobytes())


def make_text(folder, rng):
    """Write 40000 lines of English."""
    phrases = [
        "the quick brown fox jumps over the lazy dog",
        "hello world , mindspore notebook kit",
        "data engine",
        "unbelievable tokenization !",
        "it's 2026 , x = 3",
        "Tokenization of hello World",
    ]
    with open(f"{folder}/text.txt", "w", encoding="utf-8") as file:
        for _ in range(40000):
            file.write(" ".join(phrases[i] for i in rng.integers(0, len(phrases), 3)) + "\n")


def make_jpegs(folder, rng):
    """Write 300 pictures of 500 x 375 with edges, colours and noise, 30 to 110 KB each. Return their bytes."""
    from PIL import Image

    jpegs = []
    y, x = np.mgrid[:375, :500].astype(np.float32)
    for i in range(300):
        os.makedirs(f"{folder}/images/{i % 4}", exist_ok=True)
        coarse = Image.fromarray(rng.integers(0, 256, (12, 16, 3), np.uint8)).resize((500, 375), Image.BICUBIC)
        picture = np.asarray(coarse, np.float32)
        for _ in range(12):
            cx, cy, r = rng.uniform(0, 500), rng.uniform(0, 375), rng.uniform(10, 90)
            picture[(x - cx) ** 2 + (y - cy) ** 2 < r * r] = rng.integers(0, 256, 3)
        picture += rng.normal(0, rng.uniform(2, 14), picture.shape)
        path = f"{folder}/images/{i % 4}/{i}.jpg"
        Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)).save(path, quality=90)
        with open(path, "rb") as file:
            jpegs.append(file.read())
    return jpegs


def make_records(folder, jpegs, rng):
    """Write a MindRecord of BERT's pre-training features and one of JPEGs with labels."""
    from msnb.mindrecord import FileWriter

    writer = FileWriter(f"{folder}/bert.mindrecord")
    lengths = {"input_ids": 128, "input_mask": 128, "segment_ids": 128, "masked_lm_positions": 20, "masked_lm_ids": 20}
    schema = {name: {"type": "int32", "shape": [n]} for name, n in lengths.items()}
    writer.add_schema({**schema, "next_sentence_labels": {"type": "int32"}}, "features")
    writer.write_raw_data(
        [
            {
                "input_ids": rng.integers(0, 30000, 128, np.int32),
                "input_mask": (np.arange(128) < rng.integers(20, 128)).astype(np.int32),
                "segment_ids": (np.arange(128) > 60).astype(np.int32),
                "masked_lm_positions": np.sort(rng.integers(0, 128, 20, np.int32)),
                "masked_lm_ids": rng.integers(0, 30000, 20, np.int32),
                "next_sentence_labels": int(rng.integers(0, 2)),
            }
            for _ in range(8000)
        ]
    )
    writer.commit()
    writer = FileWriter(f"{folder}/images.mindrecord")
    writer.add_schema({"data": {"type": "bytes"}, "label": {"type": "int32"}, "name": {"type": "string"}}, "images")
    writer.write_raw_data(
        [{"data": jpegs[i % 300][: 3000 + i], "label": i % 10, "name": f"{i}.jpg"} for i in range(6000)]
    )
    writer.commit()
