"""Data sets of images with further data from lists or other files: captions, boxes, pairs, other images."""

import json
import os
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import File, Flag, Folder, Int, NumSamples, Text, Workers, one_of
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources.mappable import Sampling, Shuffled
from msnb.dataset.engine.sources.public import (
    Files,
    ImageSet,
    PublicSet,
    UndividedImageSet,
    folders,
    listing,
    pictures,
    string,
    texts,
)
from msnb.formats import text_files


def _read_non_blank_lines(path):
    return [line for line in text_files.text(path).split("\n") if line.strip()]


class SBUDataset(UndividedImageSet):
    """SBU, photos with captions: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``caption`` (string).

    Args:
        dataset_dir (str): Folder with ``SBU_captioned_photo_dataset_captions.txt``,
            ``SBU_captioned_photo_dataset_urls.txt`` and ``sbu_images``. There is a row for each existing image.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "caption")
    needed: tuple[str, ...] = ("SBU_captioned_photo_dataset_urls.txt", "SBU_captioned_photo_dataset_captions.txt")

    def _read_columns(self):
        urls, captions = (
            _read_non_blank_lines(self._join_path(f"SBU_captioned_photo_dataset_{kind}.txt"))
            for kind in ("urls", "captions")
        )
        if len(urls) != len(captions):
            raise RuntimeError(
                f"Invalid data, {self.dataset_dir!r} has {len(urls)} addresses, but {len(captions)} captions."
            )
        paths = [self._join_path("sbu_images", _url_to_file_name(url)) for url in urls]
        present = [(path, caption) for path, caption in zip(paths, captions, strict=True) if os.path.isfile(path)]
        paths, captions = zip(*present, strict=True) if present else ((), ())
        return pictures(paths, self.decode), texts(captions)


def _url_to_file_name(url):
    """Return the name of SBU's file for a URL: last letter of the host, then the path, such as "m_2723_438.jpg"."""
    host, _, rest = url.strip().partition("://")[2].partition("/")
    return f"{host[-1:]}_{rest.replace('/', '_')}"


class FlickrDataset(PublicSet):
    """Flickr8k and Flickr30k, photos with five captions each: columns ``image`` (uint8: the file's bytes, or RGB
    pixels) and ``annotation`` (strings).

    Args:
        dataset_dir (str): Folder with the images.
        annotation_file (str): The list of captions, ``name.jpg#0``, a tab and the caption on each line.
        decode (bool, optional): True to decode images. Default: None, which means False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a line is of another form, or arguments exclude each other.
        ValueError: If the folder or the list does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "annotation")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        annotation_file: File,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, decode=decode)
        self.annotation_file: str = annotation_file

    def _read_columns(self):
        captions = {}
        for number, line in enumerate(_read_non_blank_lines(self.annotation_file), 1):
            name, sign, caption = line.partition("\t")
            if not sign or "#" not in name:
                raise RuntimeError(
                    f"Invalid file, {self.annotation_file!r}: line {number} should be a name, '#', a number, a tab and "
                    f"a caption, but is {line[:80]!r}."
                )
            captions.setdefault(name.rpartition("#")[0], []).append(caption)
        return pictures([self._join_path(n) for n in captions], self.decode), list(map(texts, captions.values()))


class KITTIDataset(ImageSet):
    """KITTI, street scenes with objects: columns ``image`` (uint8: the file's bytes, or RGB pixels), ``label``
    (uint32, the number of its class among those that occur), ``truncated`` (float32), ``occluded`` (uint32), ``alpha``
    (float32), ``bbox`` (float32, (n, 4)), ``dimensions``, ``location`` (float32, (n, 3)), ``rotation_y`` (float32). All
    columns but ``image`` have a row for each object. With usage 'test', ``image`` is the only column.

    Args:
        dataset_dir (str): Folder with ``data_object_image_2`` and ``data_object_label_2``.
        usage (str, optional): 'train' or 'test'. Default: None, which means 'train'.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or wrong, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "test")
    usual = "train"

    @property
    def columns(self):
        """Names of the columns, which depend on `usage`."""
        if self.usage == "test":
            return ("image",)
        objects = ("label", "truncated", "occluded", "alpha", "bbox", "dimensions", "location", "rotation_y")
        return ("image", *objects)

    def _read_columns(self):
        folder = "testing" if self.usage == "test" else "training"
        paths = listing(self._join_path("data_object_image_2", folder, "image_2"))
        images = pictures(paths, self.decode)
        if self.usage == "test":
            return (images,)
        labels = self._join_path("data_object_label_2", folder, "label_2")
        stems = [os.path.splitext(os.path.basename(path))[0] for path in paths]
        files = [os.path.join(labels, f"{stem}.txt") for stem in stems]
        lines = [[line.split() for line in _read_non_blank_lines(file)] for file in files]
        classes = {name: n for n, name in enumerate(sorted({line[0] for rows in lines for line in rows}))}
        objects = [self._parse_objects(rows, classes, file) for rows, file in zip(lines, files, strict=True)]
        return images, *([row[i] for row in objects] for i in range(8))

    @staticmethod
    def _parse_objects(lines, classes, path):
        try:
            numbers = np.array([line[1:15] for line in lines], np.float32).reshape(-1, 14)
        except ValueError as error:
            raise RuntimeError(f"Invalid file, {path!r} is not of the form of KITTI: {error}.") from None
        truncated, occluded, alpha, box, size, location, rotation = np.split(numbers, (1, 2, 3, 7, 10, 13), axis=1)
        occluded = occluded.astype(np.int64).astype(np.uint32)
        labels = np.array([classes[line[0]] for line in lines], np.uint32)[:, None]
        return labels, truncated, occluded, alpha, box, size, location, rotation


class LFWDataset(PublicSet):
    """LFW, faces of named people: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``label`` (uint32, the
    number of the person); for pairs ``image1``, ``image2`` and ``label`` (uint32, 1 for the same person).

    Args:
        dataset_dir (str): Folder with ``lfw``, ``lfw_funneled`` or ``lfw-deepfunneled`` and the lists.
        task (str, optional): 'people' or 'pairs'. Default: None, which means 'people'.
        usage (str, optional): '10fold', 'train', 'test' or 'all', which is train and test. Default: None, 'all'.
        image_set (str, optional): 'original', 'funneled' or 'deepfunneled'. Default: None, which means 'funneled'.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a list is missing or wrong, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("10fold", "train", "test", "all")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        task: Annotated[str, one_of("people", "pairs")] | None = None,
        usage: Text | None = None,
        image_set: Annotated[str, one_of("original", "funneled", "deepfunneled")] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, usage, decode)
        self.task: str = task or "people"
        self.image_set: str = image_set or "funneled"
        self.columns: tuple[str, ...] = ("image", "label") if self.task == "people" else ("image1", "image2", "label")

    def _make_image_path(self, name, number):
        folder = {"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}[self.image_set]
        return self._join_path(folder, name, f"{name}_{int(number):04d}.jpg")

    def _read_list_entries(self):
        """Read the lists of this usage. Return the fields of each line, without the lines that contain only counts."""
        ends = {"10fold": ("",), "train": ("DevTrain",), "test": ("DevTest",), "all": ("DevTrain", "DevTest")}
        lines = [
            line.split()
            for end in ends[self.usage]
            for line in _read_non_blank_lines(self._join_path(f"{self.task}{end}.txt"))
        ]
        return [line for line in lines if not line[0].isdigit()]

    def _read_columns(self):
        lines = self._read_list_entries()
        if self.task == "pairs":
            firsts = [self._make_image_path(line[0], line[1]) for line in lines]
            seconds = [
                self._make_image_path(*line[-2:]) if len(line) == 4 else self._make_image_path(line[0], line[2])
                for line in lines
            ]
            is_same_person = np.array([len(line) == 3 for line in lines], np.uint32)
            return pictures(firsts, self.decode), pictures(seconds, self.decode), is_same_person
        people = {line.split()[0]: n for n, line in enumerate(_read_non_blank_lines(self._join_path("lfw-names.txt")))}
        images = [(name, n) for name, count in lines for n in range(1, int(count) + 1)]
        labels = np.array([people[name] for name, _ in images], np.uint32)
        return pictures([self._make_image_path(*one) for one in images], self.decode), labels


class WIDERFaceDataset(ImageSet):
    """WIDER FACE, photos with faces: columns ``image`` (uint8: the file's bytes, or RGB pixels), ``bbox`` (int32,
    (n, 4)), ``blur``, ``expression``, ``illumination``, ``occlusion``, ``pose``, ``invalid`` (int32, one for each
    face). With usage 'test', ``image`` is the only column.

    Args:
        dataset_dir (str): Folder with ``WIDER_train``, ``WIDER_val``, ``WIDER_test`` and ``wider_face_split``.
        usage (str, optional): 'train', 'valid', 'test' or 'all', which is train and valid. Default: None, 'all'.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a list is missing or wrong, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "test", "valid", "all")

    @property
    def columns(self):
        """Names of the columns, which depend on `usage`."""
        if self.usage == "test":
            return ("image",)
        return ("image", "bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid")

    def _read_columns(self):
        if self.usage == "test":
            names = _read_non_blank_lines(self._join_path("wider_face_split", "wider_face_test_filelist.txt"))
            return (pictures([self._join_path("WIDER_test", "images", n.strip()) for n in names], self.decode),)
        usages = ("train", "val") if self.usage == "all" else ("val" if self.usage == "valid" else self.usage,)
        paths, faces = [], []
        for usage in usages:
            lines = iter(_read_non_blank_lines(self._join_path("wider_face_split", f"wider_face_{usage}_bbx_gt.txt")))
            for name in lines:
                paths.append(self._join_path(f"WIDER_{usage}", "images", name.strip()))
                count = max(int(next(lines)), 1)  # a photo without faces has a line of zeros
                faces.append(np.array([next(lines).split()[:10] for _ in range(count)], np.int32))
        columns = [[face[:, :4] for face in faces], *([face[:, i] for face in faces] for i in range(4, 10))]
        return pictures(paths, self.decode), *columns


class CityscapesDataset(PublicSet):
    """Cityscapes, streets with labels of pixels: columns ``image`` and ``task`` (uint8: the file's bytes, or RGB
    pixels; for polygons a string of JSON).

    Args:
        dataset_dir (str): Folder with ``leftImg8bit`` and ``gtFine`` or ``gtCoarse``.
        usage (str, optional): 'train', 'val', 'test' or 'all' if `quality_mode` is 'fine'; 'train', 'train_extra',
            'val' or 'all' if it is 'coarse'. Default: 'train'.
        quality_mode (str, optional): 'fine' or 'coarse'. Default: 'fine'.
        task (str, optional): 'instance', 'semantic', 'polygon' or 'color'. Default: 'instance'.
        decode (bool, optional): True to decode images. Default: None, which means False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "task")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text = "train",
        quality_mode: Annotated[str, one_of("fine", "coarse")] = "fine",
        task: Annotated[str, one_of("instance", "semantic", "polygon", "color")] = "instance",
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        fine = quality_mode == "fine"
        self.usages: tuple[str, ...] = (
            ("train", "test", "val", "all") if fine else ("train", "train_extra", "val", "all")
        )
        self._set_folder_and_usage(dataset_dir, usage, decode)
        self.quality_mode: str = quality_mode
        self.task: str = task

    def _read_columns(self):
        quality = "gtFine" if self.quality_mode == "fine" else "gtCoarse"
        ends = {
            "instance": "instanceIds.png",
            "semantic": "labelIds.png",
            "color": "color.png",
            "polygon": "polygons.json",
        }
        paths, targets = [], []
        for usage in self.usages[:-1] if self.usage == "all" else (self.usage,):
            image_folder = self._join_path("leftImg8bit", usage)
            for city in folders(image_folder):
                for path in listing(os.path.join(image_folder, city), "_leftImg8bit.png"):
                    stem = os.path.basename(path).removesuffix("_leftImg8bit.png")
                    paths.append(path)
                    targets.append(self._join_path(quality, usage, city, f"{stem}_{quality}_{ends[self.task]}"))
        if self.task == "polygon":
            return pictures(paths, self.decode), Files(targets, _read_compact_json)
        return pictures(paths, self.decode), pictures(targets, self.decode)


def _read_compact_json(path):
    """Return the content of a JSON file, reformatted without blanks and with sorted keys."""
    return string(json.dumps(text_files.json_file(path), ensure_ascii=False, separators=(",", ":"), sort_keys=True))


class DIV2KDataset(PublicSet):
    """DIV2K, photos with downscaled copies: columns ``hr_image``, ``lr_image`` (uint8: the file's bytes, or RGB
    pixels).

    Args:
        dataset_dir (str): Folder with ``DIV2K_train_HR``, ``DIV2K_train_LR_bicubic`` and the like.
        usage (str, optional): 'train', 'valid' or 'all'. Default: 'train'.
        downgrade (str, optional): Kind of downscaling: 'bicubic', 'unknown', or for a simulated camera 'mild',
            'difficult' or 'wild'. Default: 'bicubic'.
        scale (int, optional): Factor of downscaling. 'bicubic' has 2, 3, 4 and 8; 'unknown' has 2, 3 and 4; a camera
            has 4. Default: 2.
        decode (bool, optional): True to decode images. Default: None, which means False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing, or arguments exclude each other.
        ValueError: If the folder does not exist, `downgrade` has no such scale, or an argument is out of range.
    """

    columns: tuple[str, ...] = ("hr_image", "lr_image")
    usages: tuple[str, ...] = ("train", "valid", "all")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text = "train",
        downgrade: Annotated[str, one_of("bicubic", "unknown", "mild", "difficult", "wild")] = "bicubic",
        scale: Int = 2,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        scales = {"bicubic": (2, 3, 4, 8), "unknown": (2, 3, 4)}.get(downgrade, (4,))
        if scale not in scales:
            where = f" of downgrade {downgrade!r}" if scale in (2, 3, 4, 8) else ""
            valid = list(scales) if where else [2, 3, 4, 8]
            raise ValueError(f"Input scale is not within the valid set of {valid}{where}.")
        self._set_folder_and_usage(dataset_dir, usage, decode)
        self.downgrade: str = downgrade
        self.scale: int = scale

    def _get_low_resolution_names(self, usage):
        """Return (folder of the downscaled images, suffix of their file names)."""
        if self.downgrade in ("mild", "difficult", "wild"):
            return f"DIV2K_{usage}_LR_{self.downgrade}", f"x4{self.downgrade[0]}"
        if self.scale == 8:
            return f"DIV2K_{usage}_LR_x8", "x8"
        return os.path.join(f"DIV2K_{usage}_LR_{self.downgrade}", f"X{self.scale}"), f"x{self.scale}"

    def _read_columns(self):
        large, small = [], []
        for usage in ("train", "valid") if self.usage == "all" else (self.usage,):
            paths = listing(self._join_path(f"DIV2K_{usage}_HR"), ".png")
            folder, end = self._get_low_resolution_names(usage)
            stems = [os.path.basename(path).removesuffix(".png") for path in paths]
            large += paths
            small += [self._join_path(folder, f"{stem}{end}.png") for stem in stems]
        return pictures(large, self.decode), pictures(small, self.decode)
