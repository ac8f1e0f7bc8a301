"""Tiny data sets in the formats of public ones, and what is read of them: for make_sources.py and test_public_sets.py.

A tree is {path: content}; a case is the name of a class, the tree it reads and its arguments beside the folder.
"""

import io
import json
import struct
import wave

import numpy as np
from PIL import Image
from scipy.io import savemat
from scipy.sparse import csc_matrix


def image(number, kind="JPEG"):
    """Return a grey image that its size and its level tell from others."""
    file = io.BytesIO()
    Image.new("RGB", (number + 2, 3), (10 * number,) * 3).save(file, kind)
    return file.getvalue()


def images(*paths, first=1):
    return {p: image(n, "PNG" if p.endswith("png") else "JPEG") for n, p in enumerate(paths, first)}


def sound(*samples, rate=16000):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(np.array(samples, "<i2").tobytes())
    return file.getvalue()


def sphere(*samples, rate=16000):
    """Return a file of the format of NIST: a header of 1024 bytes, then 16-bit samples, the high byte first."""
    head = f"NIST_1A\n   1024\nchannel_count -i 1\nsample_rate -i {rate}\nsample_n_bytes -i 2\n"
    head += f"sample_byte_format -s2 10\nsample_coding -s3 pcm\nsample_count -i {len(samples)}\nend_head\n"
    return head.encode().ljust(1024) + np.array(samples, ">i2").tobytes()


def idx(array):
    code = {"uint8": 8, "int32": 12}[array.dtype.name]
    head = bytes((0, 0, code, array.ndim)) + struct.pack(f">{array.ndim}i", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def digits(count, first=0):
    return (np.arange(count * 784) + first).astype(np.uint8).reshape(count, 28, 28)


def mat(**arrays):
    file = io.BytesIO()
    savemat(file, arrays)
    return file.getvalue()


def mnist(names, label=lambda n: np.arange(n, dtype=np.uint8) % 10):
    """Return pairs of IDX files: {prefix of images: (prefix of labels, count)}."""
    out = {}
    for number, (pictures, (labels, count)) in enumerate(names.items()):
        out[pictures] = idx(digits(count, 7 * number))
        out[labels] = idx(label(count))
    return out


def qmnist_labels(count):
    return np.arange(count * 8, dtype=np.int32).reshape(count, 8)


def structure(**fields):
    """Return a struct of MATLAB with these fields."""
    return fields


def contours(number):
    labels = np.zeros((4, 5), np.uint8)
    labels[1:3, number : number + 2] = number
    cells = np.empty((20, 1), object)
    for i in range(20):
        cells[i, 0] = csc_matrix((np.arange(20).reshape(4, 5) % (i + 2) == 0).astype(np.uint8))
    return mat(GTcls=structure(Segmentation=labels, Boundaries=cells))


MNIST = mnist(
    {
        "train-images-idx3-ubyte": ("train-labels-idx1-ubyte", 3),
        "t10k-images-idx3-ubyte": ("t10k-labels-idx1-ubyte", 2),
    }
)
EMNIST = mnist(
    {
        f"emnist-{name}-{part}-images-idx3-ubyte": (f"emnist-{name}-{part}-labels-idx1-ubyte", count)
        for name, count in (("mnist", 2), ("byclass", 3))
        for part in ("train", "test")
    }
)
QMNIST = mnist(
    {
        "qmnist-train-images-idx3-ubyte": ("qmnist-train-labels-idx2-int", 3),
        "qmnist-test-images-idx3-ubyte": ("qmnist-test-labels-idx2-int", 4),
        "xnist-images-idx3-ubyte": ("xnist-labels-idx2-int", 2),
    },
    qmnist_labels,
)
CSV = {
    "train.csv": '"3","A title","Some, text with ""quotes"" in it"\n"4","Second","More\\nlines"\n"1","",""\n',
    "test.csv": '"2","Of the test","the only row"\n',
    "classes.txt": "World\nSports\nBusiness\nScience\n",
    "readme.txt": "about\n",
}
CSV2 = {"train.csv": '"1","Good, ""very"" good"\n"2","bad"\n', "test.csv": '"2","worse"\n'}
CSV4 = {"train.csv": '"5","why doesn\'t it?","no idea","42"\n"6","a","","c"\n', "test.csv": '"1","t","u","v"\n'}
BLOCKS = {
    "train.txt": "Confidence NN B-NP\nin IN B-PP\nthe DT B-NP\n\nHe PRP B-NP\n. . O\n\n",
    "test.txt": "Rockwell NNP B-NP\nsaid VBD B-VP\n\n",
    "readme.txt": "about\n",
}
UDPOS = {
    "en-ud-tag.v2.train.txt": "Al\tPROPN\tNNP\n-\tPUNCT\tHYPH\n\nWhat\tPRON\tWP\n?\tPUNCT\t.\n\n",
    "en-ud-tag.v2.dev.txt": "From\tADP\tIN\n\n",
    "en-ud-tag.v2.test.txt": "this\tDET\tDT\nis\tAUX\tVBZ\n\n",
}
WIKI = {
    "wiki.train.tokens": " \n = Robert = \n \n Robert is an English film . \n",
    "wiki.test.tokens": " = Test = \n of the test\n",
    "wiki.valid.tokens": " = Valid = \n",
}
PTB = {
    "ptb.train.txt": " aer banknote berlitz \n pierre <unk> N years old \n",
    "ptb.test.txt": " no it was n't black monday \n",
    "ptb.valid.txt": " consumers may want \n to move \n",
}
MULTI30K = {
    "training/train.en": "Two young men .\nSeveral men in hats .\n",
    "training/train.de": "Zwei junge Männer .\nMehrere Männer mit Helmen .\n",
    "validation/val.en": "A group of men .\n",
    "validation/val.de": "Eine Gruppe von Männern .\n",
    "mmt16_task1_test/test.en": "A man in an orange hat .\n",
    "mmt16_task1_test/test.de": "Ein Mann mit einem orangefarbenen Hut .\n",
    "mmt16_task1_test/val.en": "A man of val .\n",
    "mmt16_task1_test/val.de": "Ein Mann von val .\n",
}


def talks(language, *lines):
    head = f"<url>http://www.ted.com</url>\n<keywords>talks</keywords>\n<talkid>1</talkid>\n<title>{language}</title>\n"
    return head + "<description>about</description>\n" + "".join(f" {line}\n" for line in lines) + "</doc>\n"


def segments(language, *lines):
    body = "".join(f'<seg id="{n}"> {line} </seg>\n' for n, line in enumerate(lines, 1))
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<srcset setid="x" srclang="{language}">\n'
    return head + f'<doc docid="1" genre="lectures">\n<title>T</title>\n{body}</doc>\n</srcset>\n</mteval>\n'


def iwslt(folder, year, parts, pair=("de", "en")):
    name = "-".join(pair)
    out = {}
    for language in pair:
        out[f"{folder}/train.tags.{name}.{language}"] = talks(language, f"{language} one", f"{language} two .")
        for part in parts:
            path = f"{folder}/IWSLT{year}.TED.{part}.{name}.{language}.xml"
            out[path] = segments(language, f"{language} of {part}", "next & last")
    return out


IWSLT2016 = iwslt("texts/de/en/de-en", 16, ("dev2010", "tst2013", "tst2014"))
IWSLT2017 = iwslt("texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo", 17, ("dev2010", "tst2010"))
QUESTIONS = {
    "data": [
        {
            "title": "Notre_Dame",
            "paragraphs": [
                {
                    "context": "Architecturally, the school has a Catholic character.",
                    "qas": [
                        {
                            "answers": [{"answer_start": 34, "text": "Catholic"}, {"answer_start": 4, "text": "it"}],
                            "question": "What character?",
                            "id": "1",
                        },
                        {"answers": [], "question": "Unanswerable?", "id": "2", "is_impossible": True},
                    ],
                }
            ],
        }
    ],
    "version": "1.1",
}
SQUAD = {f"{part}-v1.1.json": json.dumps(QUESTIONS).replace("What", part) for part in ("train", "dev")}
SST2 = {
    "train.tsv": "sentence\tlabel\nhide new secretions\t0 \ncontains no wit\t1\n",
    "dev.tsv": "sentence\tlabel\nit 's a charming journey\t1\n",
    "test.tsv": "index\tsentence\n0\tuneasy mishmash of styles\n1\tthis film 's relationship\n",
}
IMDB = {
    f"{part}/{kind}/{name}.txt": f"{part} {kind} {name}"
    for part in ("train", "test")
    for kind in ("neg", "pos")
    for name in ("0_9", "10_7", "2_1")
}
LEAVES = ("a/abbey/sun_1.jpg", "a/abbey/sun_2.jpg", "a/apartment/outdoor/sun_3.jpg", "b/badlands/sun_4.jpg")
KITTI = {
    **images(*(f"data_object_image_2/training/image_2/00000{n}.png" for n in range(2))),
    **images("data_object_image_2/testing/image_2/000000.png", first=7),
    "data_object_label_2/training/label_2/000000.txt": "Truck 0.00 1 -1.57 599.41 156.40 629.75 189.25 2.85 2.63 12.34 "
    "0.47 1.49 69.44 -1.56\nCar 0.50 0 1.85 387.63 181.54 423.81 203.12 1.67 1.87 3.69 -16.53 2.39 58.49 1.57\n",
    "data_object_label_2/training/label_2/000001.txt": "DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 "
    "-1000 -1000 -10\n",
}
FACES = {
    f"{folder}/{name}/{name}_000{n}.jpg": image(n + 3 * i)
    for folder in ("lfw", "lfw_funneled", "lfw-deepfunneled")
    for i, name in enumerate(("Aaron_Eckhart", "Abbas_Kiarostami"))
    for n in (1, 2)
}
LFW = {
    **FACES,
    "lfw-names.txt": "Aaron_Eckhart\t2\nAbbas_Kiarostami\t2\n",
    "people.txt": "2\n1\nAaron_Eckhart\t2\n1\nAbbas_Kiarostami\t1\n",
    "peopleDevTrain.txt": "1\nAaron_Eckhart\t2\n",
    "peopleDevTest.txt": "1\nAbbas_Kiarostami\t2\n",
    "pairs.txt": "1\t1\nAaron_Eckhart\t1\t2\nAaron_Eckhart\t1\tAbbas_Kiarostami\t2\n",
    "pairsDevTrain.txt": "1\nAaron_Eckhart\t1\t2\nAaron_Eckhart\t2\tAbbas_Kiarostami\t1\n",
    "pairsDevTest.txt": "1\nAbbas_Kiarostami\t1\t2\nAbbas_Kiarostami\t2\tAaron_Eckhart\t1\n",
}
PLACES = {
    "categories_places365.txt": "/a/airfield 0\n/a/alley 1\n/b/bar 2\n",
    "places365_train_standard.txt": "/a/airfield/1.jpg 0\n/b/bar/2.jpg 2\n",
    "places365_train_challenge.txt": "/a/alley/3.jpg 1\n",
    "places365_val.txt": "Places365_val_00000001.jpg 2\nPlaces365_val_00000002.jpg 0\n",
    **images("data_256_standard/a/airfield/1.jpg", "data_256_standard/b/bar/2.jpg"),
    **images("data_256_challenge/a/alley/3.jpg", first=3),
    **images("data_large_standard/a/airfield/1.jpg", "data_large_standard/b/bar/2.jpg", first=4),
    **images("val_256/Places365_val_00000001.jpg", "val_256/Places365_val_00000002.jpg", first=6),
}


def patches(first):
    """16 x 16 patches of 64 x 64 pixels, of which each has a grey level of its own."""
    levels = (np.arange(256) + first).astype(np.uint8).reshape(16, 16)
    file = io.BytesIO()
    Image.fromarray(np.kron(levels, np.ones((64, 64), np.uint8))).save(file, "BMP")
    return file.getvalue()


PHOTOTOUR = {
    "liberty/patches0000.bmp": patches(0),
    "liberty/patches0001.bmp": patches(5),
    "liberty/m50_100000_100000_0.txt": "0 0 0 1 0 0 0\n2 1 0 260 130 0 0\n",
}
WIDER = {
    **images("WIDER_train/images/0--Parade/a.jpg", "WIDER_train/images/0--Parade/b.jpg"),
    **images("WIDER_val/images/0--Parade/c.jpg", first=3),
    **images("WIDER_test/images/0--Parade/d.jpg", "WIDER_test/images/0--Parade/e.jpg", first=4),
    "wider_face_split/wider_face_train_bbx_gt.txt": "0--Parade/a.jpg\n1\n449 330 122 149 0 0 0 0 0 0 \n"
    "0--Parade/b.jpg\n2\n361 98 263 339 2 1 0 1 0 1 \n78 221 7 8 2 0 1 0 0 0 \n",
    "wider_face_split/wider_face_val_bbx_gt.txt": "0--Parade/c.jpg\n1\n1 2 3 4 1 0 0 2 1 0 \n",
    "wider_face_split/wider_face_test_filelist.txt": "0--Parade/d.jpg\n0--Parade/e.jpg\n",
}
CITYSCAPES = {
    path: content
    for city, number in (("aachen", 1), ("bochum", 4))
    for part in ("train", "val", "test")
    for path, content in (
        (f"leftImg8bit/{part}/{city}/{city}_000000_leftImg8bit.png", image(number, "PNG")),
        (f"gtFine/{part}/{city}/{city}_000000_gtFine_instanceIds.png", image(number + 1, "PNG")),
        (f"gtFine/{part}/{city}/{city}_000000_gtFine_labelIds.png", image(number + 2, "PNG")),
        (f"gtFine/{part}/{city}/{city}_000000_gtFine_color.png", image(number + 3, "PNG")),
        (f"gtFine/{part}/{city}/{city}_000000_gtFine_polygons.json", f'{{"imgHeight": {number}, "objects": []}}'),
    )
}
DIV2K = {
    **images("DIV2K_train_HR/0001.png", "DIV2K_train_HR/0002.png"),
    **images("DIV2K_valid_HR/0801.png", first=3),
    **images("DIV2K_train_LR_bicubic/X2/0001x2.png", "DIV2K_train_LR_bicubic/X2/0002x2.png", first=4),
    **images("DIV2K_valid_LR_bicubic/X2/0801x2.png", first=6),
    **images("DIV2K_train_LR_mild/0001x4m.png", "DIV2K_train_LR_mild/0002x4m.png", first=7),
    **images("DIV2K_train_LR_x8/0001x8.png", "DIV2K_train_LR_x8/0002x8.png", first=9),
}
FLICKR = {
    **images("images/a.jpg", "images/b.jpg"),
    "token.txt": "".join(f"{name}.jpg#{n}\tSentence {n} of {name} .\n" for name in "ab" for n in range(5)),
}
SBU = {
    "SBU_captioned_photo_dataset_captions.txt": "A first caption\nNot here\nThe last one.\n",
    "SBU_captioned_photo_dataset_urls.txt": "http://static.flickr.com/3326/359_1.jpg\n"
    "http://static.flickr.com/1/2_missing.jpg\nhttp://static.flickr.com/2522/418_c.jpg\n",
    **images("sbu_images/m_3326_359_1.jpg", "sbu_images/m_2522_418_c.jpg"),
}
SVHN = {
    f"{part}_32x32.mat": mat(
        X=(np.arange(32 * 32 * 3 * 2) + shift).astype(np.uint8).reshape(32, 32, 3, 2),
        y=np.array([[10], [shift]], np.uint8),
    )
    for part, shift in (("train", 1), ("test", 2), ("extra", 3))
}
STL10 = {
    "train_X.bin": (np.arange(2 * 27648) % 251).astype(np.uint8).tobytes(),
    "train_y.bin": bytes([1, 10]),
    "test_X.bin": (np.arange(27648) % 249).astype(np.uint8).tobytes(),
    "test_y.bin": bytes([5]),
    "unlabeled_X.bin": (np.arange(27648) % 247).astype(np.uint8).tobytes(),
}
SEMEION = {
    "semeion.data": "".join(
        " ".join(f"{float(n % (k + 2) == 0):.4f}" for n in range(256))
        + " "
        + " ".join("01"[c == d] for c in range(10))
        + " \n"
        for k, d in enumerate((0, 9, 4))
    )
}
USPS = {
    "usps": "".join(f"{d} " + " ".join(f"{n + 1}:{(n % 9) / 4 - 1:.6g}" for n in range(256)) + " \n" for d in (7, 10)),
    "usps.t": "1 " + " ".join(f"{n + 1}:{(n % 5) / 2 - 1:.6g}" for n in range(256)) + " \n",
}
FLOWERS = {
    "imagelabels.mat": mat(labels=np.array([[77, 3, 102]], np.uint8)),
    "setid.mat": mat(trnid=np.array([[2]]), valid=np.array([[1]]), tstid=np.array([[3]])),
    **images(*(f"jpg/image_0000{n}.jpg" for n in (1, 2, 3))),
    **images(*(f"segmim/segmim_0000{n}.jpg" for n in (1, 2, 3)), first=4),
}
CALTECH101 = {
    **images(
        "101_ObjectCategories/airplanes/image_0001.jpg",
        "101_ObjectCategories/Faces/image_0001.jpg",
        "101_ObjectCategories/yin_yang/image_0001.jpg",
    ),
    **{
        f"Annotations/{name}/annotation_0001.mat": mat(obj_contour=np.arange(6.0).reshape(2, 3) + n)
        for n, name in enumerate(("Airplanes_Side_2", "Faces_2", "yin_yang"))
    },
}
SBD = {
    **images(*(f"img/2008_00000{n}.jpg" for n in (2, 3))),
    **{f"cls/2008_00000{n}.mat": contours(n) for n in (2, 3)},
    "train.txt": "2008_000002\n",
    "val.txt": "2008_000003\n",
    "train_noval.txt": "2008_000002\n2008_000003\n",
}
SPEECH = {
    **{
        f"{word}/{who}_nohash_{n}.wav": sound(n, -8 * n, 32767)
        for word in ("cat", "dog")
        for who in ("b433", "5a33")
        for n in (0, 1)
    },
    "_background_noise_/noise.wav": sound(1, 2),
    "validation_list.txt": "cat/b433_nohash_0.wav\n",
    "testing_list.txt": "dog/5a33_nohash_1.wav\ndog/b433_nohash_0.wav\n",
}
GTZAN = {f"{kind}/{kind}.0000{n}.wav": sound(n, 5, rate=22050) for kind in ("blues", "disco") for n in range(2)}
LIBRI = {
    f"{part}/{speaker}/{chapter}/{speaker}_{chapter}{rest}": content
    for part in ("dev-clean", "test-other")
    for speaker, chapter in ((116, 288045), (116, 288046), (1255, 74899))
    for rest, content in (
        (
            ".trans.tsv",
            f"{speaker}_{chapter}_000003_000000\tPART {chapter}\tPart, {chapter}.\n"
            f"{speaker}_{chapter}_000003_000001\tSecond\tsecond\n",
        ),
        ("_000003_000000.wav", sound(speaker, 2, rate=24000)),
        ("_000003_000001.wav", sound(3, speaker, rate=24000)),
    )
}
LJ = {
    "metadata.csv": 'LJ001-0001|Printing, 3 "copies"|Printing, three "copies"\nLJ001-0002|in being|in being\n',
    "wavs/LJ001-0001.wav": sound(1, 2, 3, rate=22050),
    "wavs/LJ001-0002.wav": sound(-32768, rate=22050),
}
ARCTIC = {
    f"cmu_us_{name}_arctic/{path}": content
    for name in ("aew", "slt")
    for path, content in (
        (
            "etc/txt.done.data",
            '( arctic_a0001 "Author of the danger trail, etc." )\n( arctic_a0002 "Not at this case." )\n',
        ),
        ("wav/arctic_a0001.wav", sound(1, 2)),
        ("wav/arctic_a0002.wav", sound(3)),
    )
}
YESNO = {"1_1_0_0_1_1_0_0.wav": sound(1, 2, rate=8000), "0_0_0_1_0_0_0_1.wav": sound(3, rate=8000)}


def talk(name):
    return (
        f"{name} 1 {name} 0.0 0.0001 <o,f0,male> first words\n"
        f"{name} 1 {name} 0.0001 0.0003 <o,f0,male> second (2) words\n"
    )


TED = {
    f"{part}/{kind}/{name}_2009.{kind}": content
    for part in ("train", "test", "dev")
    for name in ("AlGore", "Barry")
    for kind, content in (("sph", sphere(*range(1, 9))), ("stm", talk(f"{name}_2009")))
}
TED3 = {path.replace("train", "data"): content for path, content in TED.items() if path.startswith("train")}

# class: (tree, the arguments of each case)
SETS = {
    "FashionMnistDataset": (MNIST, [{}, {"usage": "train"}, {"usage": "test", "num_samples": 1}]),
    "KMnistDataset": (MNIST, [{}, {"usage": "test"}, {"num_shards": 2, "shard_id": 1}]),
    "EMnistDataset": (EMNIST, [{"name": "mnist"}, {"name": "byclass", "usage": "test"}, {"name": "letters"}]),
    "QMnistDataset": (
        QMNIST,
        [{}, {"compat": False}, *({"usage": u} for u in ("train", "test", "nist"))],
    ),
    "SVHNDataset": (SVHN, [{}, {"usage": "train"}, {"usage": "extra", "num_samples": 1}]),
    "USPSDataset": (USPS, [{}, {"usage": "train"}, {"usage": "test"}]),
    "FakeImageDataset": (
        {},
        [{"num_images": 3, "image_size": (2, 3, 3), "num_classes": 4}, {"base_seed": 5, "num_samples": 1}],
    ),
    "STL10Dataset": (STL10, [{}, *({"usage": u} for u in ("train", "test", "unlabeled", "train+unlabeled"))]),
    "SemeionDataset": (SEMEION, [{}, {"num_samples": 2}]),
    "SBUDataset": (SBU, [{}, {"decode": True}]),
    "PhotoTourDataset": (PHOTOTOUR, [{"name": "liberty", "usage": "test"}]),
    "Places365Dataset": (
        PLACES,
        [{}, {"small": False}, {"usage": "train-challenge"}, {"usage": "val", "decode": True}],
    ),
    "LSUNDataset": (
        {
            **images("bedroom_train/1_1.jpg", "bedroom_train/1_2.jpg", "bedroom_val/2.jpg", "classroom_train/3.jpg"),
            **images("classroom_val/4.jpg", "test/5.jpg", first=5),
        },
        [
            {},
            {"usage": "train"},
            {"usage": "valid"},
            {"usage": "test"},
            {"classes": ["bedroom"]},
            {"usage": "train", "classes": ["classroom"], "decode": True},
        ],
    ),
    "WIDERFaceDataset": (
        WIDER,
        [{}, {"usage": "train"}, {"usage": "valid", "decode": True}, {"usage": "test"}, {"usage": "all"}],
    ),
    "FlickrDataset": (FLICKR, [{"annotation_file": "token.txt"}, {"annotation_file": "token.txt", "decode": True}]),
    "Flowers102Dataset": (
        FLOWERS,
        [{}, {"usage": "train"}, {"usage": "valid", "decode": True}, {"task": "Segmentation", "usage": "test"}],
    ),
    "Food101Dataset": (
        {
            **images("images/apple_pie/1.jpg", "images/apple_pie/2.jpg", "images/bibimbap/3.jpg"),
            "meta/train.txt": "apple_pie/1\nbibimbap/3\n",
            "meta/test.txt": "apple_pie/2\n",
            "meta/classes.txt": "apple_pie\nbibimbap\n",
        },
        [{}, {"usage": "train"}, {"usage": "test", "decode": True}],
    ),
    "Caltech101Dataset": (
        CALTECH101,
        [{}, {"target_type": "annotation"}, {"target_type": "all", "decode": True}],
    ),
    "Caltech256Dataset": (
        images("001.ak47/001_0001.jpg", "001.ak47/001_0002.jpg", "002.american-flag/002_0001.jpg"),
        [{}, {"decode": True, "num_samples": 1}],
    ),
    "CityscapesDataset": (
        CITYSCAPES,
        [
            {},
            {"task": "semantic"},
            {"task": "color", "decode": True},
            {"task": "polygon", "usage": "val"},
            {"usage": "all"},
            {"quality_mode": "coarse"},
        ],
    ),
    "DIV2KDataset": (
        DIV2K,
        [
            {},
            {"usage": "valid"},
            {"usage": "all"},
            {"downgrade": "mild", "scale": 4, "decode": True},
            {"scale": 8},
            {"downgrade": "mild", "scale": 2},
        ],
    ),
    "KITTIDataset": (KITTI, [{}, {"usage": "test"}, {"usage": "train", "decode": True}]),
    "LFWDataset": (
        LFW,
        [
            {"task": task, **usage}
            for task in ("people", "pairs")
            for usage in ({}, {"usage": "train"}, {"usage": "test"}, {"usage": "10fold"}, {"usage": "all"})
        ]
        + [{"image_set": "original", "usage": "test"}, {"image_set": "deepfunneled", "usage": "test", "decode": True}],
    ),
    "OmniglotDataset": (
        images(
            "images_background/Greek/character01/1.png",
            "images_background/Greek/character02/2.png",
            "images_background/Latin/character01/3.png",
            "images_evaluation/Tibetan/character01/4.png",
        ),
        [{}, {"background": False, "decode": True}],
    ),
    "RenderedSST2Dataset": (
        images(*(f"{part}/{kind}/1.png" for part in ("train", "valid", "test") for kind in ("negative", "positive"))),
        [{}, {"usage": "train"}, {"usage": "val", "decode": True}, {"usage": "test"}],
    ),
    "SBDataset": (
        SBD,
        [{}, {"task": "Segmentation", "usage": "train"}, {"usage": "val", "decode": True}, {"usage": "train_noval"}],
    ),
    "SUN397Dataset": (
        {"ClassName.txt": "/a/abbey\n/a/apartment/outdoor\n/b/badlands\n", "README.txt": "about\n", **images(*LEAVES)},
        [{}, {"decode": True, "num_samples": 2}],
    ),
    "IMDBDataset": (IMDB, [{}, {"usage": "train"}, {"usage": "test"}]),
    "AGNewsDataset": (CSV, [{}, {"usage": "train"}, {"usage": "test"}]),
    "AmazonReviewDataset": (CSV, [{}, {"usage": "train", "num_samples": 2}]),
    "DBpediaDataset": (CSV, [{}, {"usage": "test"}]),
    "SogouNewsDataset": (CSV, [{}, {"usage": "test"}]),
    "YahooAnswersDataset": (CSV4, [{}, {"usage": "train"}]),
    "YelpReviewDataset": (CSV2, [{}, {"usage": "train"}, {"usage": "all", "num_shards": 2, "shard_id": 1}]),
    "CoNLL2000Dataset": (BLOCKS, [{}, {"usage": "train"}]),
    "UDPOSDataset": (UDPOS, [{}, {"usage": "train"}, {"usage": "valid"}]),
    "WikiTextDataset": (WIKI, [{}, {"usage": "train"}, {"usage": "valid"}]),
    "PennTreebankDataset": (PTB, [{}, {"usage": "train"}, {"usage": "valid"}]),
    "EnWik9Dataset": ({"enwik9": "<mediawiki>\n\n  <siteinfo>\n    <x/>\nÄ end"}, [{}, {"num_samples": 2}]),
    "Multi30kDataset": (
        MULTI30K,
        [{}, {"usage": "train", "language_pair": ["de", "en"]}, {"usage": "test"}, {"usage": "valid"}],
    ),
    "IWSLT2016Dataset": (
        IWSLT2016,
        [
            {},
            {"usage": "train"},
            {"usage": "valid"},
            {"usage": "test"},
            {"usage": "valid", "valid_set": "dev2010", "language_pair": ["de", "en"]},
        ],
    ),
    "IWSLT2017Dataset": (
        IWSLT2017,
        [{}, {"usage": "train", "language_pair": ["de", "en"]}, {"usage": "valid"}, {"usage": "test"}],
    ),
    "SQuADDataset": (SQUAD, [{}, {"usage": "train"}, {"usage": "dev"}]),
    "SST2Dataset": (SST2, [{}, {"usage": "dev"}, {"usage": "test"}]),
    "SpeechCommandsDataset": (SPEECH, [{}, {"usage": "train"}, {"usage": "valid"}, {"usage": "test"}]),
    "YesNoDataset": (YESNO, [{}]),
    "GTZANDataset": (GTZAN, [{}, {"usage": "train"}]),
    "CMUArcticDataset": (ARCTIC, [{}, {"name": "slt"}]),
    "LJSpeechDataset": (LJ, [{}, {"num_samples": 1}]),
    "LibriTTSDataset": (LIBRI, [{}, {"usage": "dev-clean"}, {"usage": "train-clean-100"}]),
    "TedliumDataset": (TED, [{"release": "release1"}, {"release": "release2", "usage": "dev"}]),
}


def cases(cls):
    """Yield (name, case) of a class: those of the table, an empty folder, and a part that no data set has."""
    yield from ((f"{cls} {number}", case) for number, case in enumerate(SETS[cls][1]))
    if cls != "FakeImageDataset":
        yield f"{cls} of an empty folder", EMPTY
        yield f"{cls} of no part", {"usage": "nonsense"}


EMPTY = {"empty": True}


def write(folder, cls, case):
    """The tree of a class in a folder; for the empty one the folder alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in SETS[cls][0].items() if case != EMPTY else ():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())


def cell(value, names):
    """Return the data of a value that a test compares: type and shape, and its file or its elements."""
    value = np.asarray(value)
    kind = value.dtype.name if value.dtype.kind not in "SU" else "str"
    if value.dtype == np.uint8 and value.tobytes() in names:
        return [kind, "file", sorted(names[value.tobytes()])]
    if value.dtype.kind == "S":
        value = np.char.decode(value, "utf-8")
    if value.size > 64:
        weights = np.arange(1, value.size + 1) % 65521
        return [kind, list(value.shape), "sum", float((value.astype(np.float64).ravel() * weights).sum())]
    return [kind, list(value.shape), np.round(value, 6).tolist() if value.dtype.kind == "f" else value.tolist()]


# MindSpore reads these in the order in which the system lists the files of a folder.
UNORDERED = ("IMDBDataset", "LibriTTSDataset", "TedliumDataset", "WIDERFaceDataset", "YesNoDataset")
# Arguments of a class beside a folder.
NEEDED = {
    "EMnistDataset": {"name": "mnist"},
    "PhotoTourDataset": {"name": "liberty"},
    "TedliumDataset": {"release": "release1"},
    "FlickrDataset": {"annotation_file": "token.txt"},
}


def answer(ds, folder, cls, case):
    """Return the columns, sizes and rows of a data set, or the class of its error."""
    names = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            names.setdefault(path.read_bytes(), set()).add(path.relative_to(folder).as_posix())
    arguments = {**NEEDED.get(cls, {}), **(case if case != EMPTY else {})}
    where = () if cls == "FakeImageDataset" else (str(folder),)
    if cls == "FlickrDataset":
        arguments["annotation_file"] = str(folder / arguments["annotation_file"])
        where = (str(folder / "images" if case != EMPTY else folder),)
    try:
        dataset = getattr(ds, cls)(*where, shuffle=False, **arguments)
        columns = dataset.get_col_names()
        if cls == "TedliumDataset":
            columns.remove("waveform")  # MindSpore makes zeros of every recording
        rows = [[cell(row[c], names) for c in columns] for row in dataset.create_dict_iterator(1, True)]
        if cls in UNORDERED:
            rows.sort(key=json.dumps)
        classes = dataset.num_classes() if callable(dataset.num_classes) else None
        return {"columns": columns, "size": dataset.get_dataset_size(), "classes": classes, "rows": rows}
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        error_classes = (OSError, RuntimeError, TypeError, ValueError)
        return {"error": "any" if case == EMPTY else next(t.__name__ for t in error_classes if isinstance(error, t))}
