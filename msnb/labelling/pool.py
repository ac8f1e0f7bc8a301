"""The items of a session: pictures or texts, with a name, a digest and the network's input for each."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, UnidentifiedImageError

from msnb.core.tensor.tensor import Tensor
from msnb.dataset.engine.dataset import Dataset

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")


class Pool:
    """The items of a session.

    Args:
        items (Sequence): paths, arrays or texts.
        names (Sequence[str]): the name of each item in the file of answers.
        transform (Callable): function of a picture that returns the network's input. Default: None, `to_net_input`.

    Attributes:
        kind (str): "files", "arrays" or "texts".
    """

    def __init__(
        self, kind: str, items: Sequence[Any], names: Sequence[str], transform: Callable[..., Any] | None = None
    ) -> None:
        self.kind, self.items, self.names = kind, items, list(names)
        self.transform = transform
        self.index_by_name = {name: index for index, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def raw(self, index: int) -> Any:
        """Return the item: the path, the array as it was passed, or the text."""
        return self.items[index]

    def picture(self, index: int) -> np.ndarray:
        """Return the picture, uint8 of (height, width) or (height, width, 3).

        Raises:
            ValueError: If the file can't be decoded.
        """
        return _read_picture(self.items[index]) if self.kind == "files" else to_picture(self.items[index])

    def net_input(self, index: int) -> np.ndarray:
        """Return the network's input for one picture."""
        if self.transform is not None:
            return np.asarray(_as_array(self.transform(self.picture(index))))
        return to_net_input(self.picture(index) if self.kind == "files" else self.items[index])

    def digest(self, index: int) -> str:
        """Return a digest of the content, "" for a file. It detects answers that belong to other items."""
        if self.kind == "files":
            return ""
        item = self.items[index]
        content = item.encode() if isinstance(item, str) else np.ascontiguousarray(item).tobytes()
        return hashlib.blake2b(content, digest_size=6).hexdigest()


def open_pool(items: Any, is_text: bool, transform: Callable[..., Any] | None = None) -> Pool:
    """Return the items of a session as a Pool.

    Args:
        items (Any): a folder of pictures, a list of their paths, an array (items, height, width), (items, height,
            width, channels) or (items, channels, height, width), a list of arrays, a Dataset, or texts.
        is_text (bool): True if the items are texts.
        transform (Callable): function of a picture that returns the network's input. Default: None.

    Raises:
        TypeError: If `items` has another type, or an item has no picture.
        ValueError: If there is no item.
        FileNotFoundError: If a folder or a picture is missing.
    """
    if isinstance(items, Dataset):
        items = _read_dataset(items, is_text)
    if isinstance(items, (str, Path)) and not is_text:
        return _of_files(_list_pictures(Path(items)), transform, Path(items))
    items = _as_array(items)
    if isinstance(items, (str, Path)) or not isinstance(items, (Sequence, np.ndarray)):
        raise TypeError(
            f"For 'label', 'images' should be a folder, a list of paths, arrays, texts or a Dataset, but got "
            f"{type(items).__name__}."
        )
    if not len(items):
        raise ValueError("For 'label', 'images' should have at least one item, but it is empty.")
    if is_text:
        return _of_texts(items)
    if all(isinstance(item, (str, Path)) for item in items):
        return _of_files([Path(item) for item in items], transform)
    arrays = [_as_array(item) for item in items]
    for index, array in enumerate(arrays):
        _check_picture(array, index)
    return Pool("arrays", arrays, [str(index) for index in range(len(arrays))], transform)


def to_picture(array: np.ndarray) -> np.ndarray:
    """Return an array as a picture, uint8 of (height, width) or (height, width, 3).

    Floats from 0 to 1 are multiplied by 255. Other ranges are mapped linearly from their minimum and maximum.
    """
    array = _put_channels_last(array)
    if array.dtype != np.uint8:
        values = np.nan_to_num(array.astype(np.float32))
        low, high = float(values.min()), float(values.max())
        if low < 0 or high > (255 if np.issubdtype(array.dtype, np.integer) else 1):
            values = (values - low) / max(high - low, 1e-12)
            array = np.round(values * 255).astype(np.uint8)
        else:
            array = np.round(values * (1 if np.issubdtype(array.dtype, np.integer) else 255)).astype(np.uint8)
    if array.ndim == 3 and array.shape[2] == 1:
        return array[:, :, 0]
    return array[:, :, :3] if array.ndim == 3 else array


def to_net_input(array: np.ndarray) -> np.ndarray:
    """Return a picture as float32 (channels, height, width). uint8 is divided by 255; floats keep their range."""
    array = np.asarray(array)
    scale = np.float32(1 / 255) if array.dtype == np.uint8 else np.float32(1)
    array = _put_channels_last(array).astype(np.float32) * scale
    return np.ascontiguousarray(array[None] if array.ndim == 2 else array.transpose(2, 0, 1))


def encode_png(picture: np.ndarray, largest: int = 640) -> bytes:
    """Return a picture as PNG, reduced so that neither side exceeds `largest` pixels."""
    scale = largest / max(picture.shape[:2])
    if scale < 1:
        size = [max(1, round(side * scale)) for side in picture.shape[1::-1]]
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    done, data = cv2.imencode(".png", picture if picture.ndim == 2 else picture[:, :, ::-1])
    assert done
    return data.tobytes()


def _put_channels_last(array):
    if array.ndim == 3 and array.shape[2] not in (1, 3, 4) and array.shape[0] in (1, 3, 4):
        return array.transpose(1, 2, 0)
    return array


def _as_array(value):
    return value.asnumpy() if isinstance(value, Tensor) else value


def _check_picture(array, index):
    is_picture = (
        isinstance(array, np.ndarray)
        and array.ndim in (2, 3)
        and array.size > 0
        and (np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_)
        and (array.ndim == 2 or 1 in array.shape[::2] or {3, 4} & {*array.shape[::2]})
    )
    if not is_picture:
        form = f"shape {array.shape} of {array.dtype}" if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(
            f"For 'label', each item should be a picture (height, width), (height, width, channels) or (channels, "
            f"height, width) with 1, 3 or 4 channels, but item {index} has {form}."
        )


def _of_texts(items):
    for index, item in enumerate(items):
        if not isinstance(item, str):
            raise TypeError(
                f"For 'label' with kind 'text', item {index} should be a str, but got {type(item).__name__}."
            )
    texts = [str(item) for item in items]
    return Pool("texts", texts, [str(index) for index in range(len(texts))])


def _list_pictures(folder):
    if not folder.is_dir():
        raise FileNotFoundError(f"For 'label', there is no folder '{folder}'.")
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)
    if not paths:
        raise ValueError(f"For 'label', the folder '{folder}' has no pictures ({', '.join(_SUFFIXES)}).")
    return paths


def _of_files(paths, transform, folder=None):
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"For 'label', there is no picture '{path}'.")
        try:
            Image.open(path).close()  # reads the header only
        except (UnidentifiedImageError, OSError) as error:
            raise TypeError(f"For 'label', the file '{path}' has no picture: {error}") from None
    names = [(path.relative_to(folder) if folder else path).as_posix() for path in paths]
    if len({*names}) < len(names):
        raise ValueError("For 'label', a path of 'images' should occur once, but one occurs twice.")
    return Pool("files", paths, names, transform)


def _read_picture(path):
    try:
        with Image.open(path) as image:
            grey = image.mode in ("1", "L", "I;16", "I", "F")
            return np.asarray(image.convert("L" if grey else "RGB"))
    except (UnidentifiedImageError, OSError) as error:
        raise ValueError(f"The picture '{path}' can't be decoded: {error}") from None


def _read_dataset(dataset, is_text):
    """Return the first column with pictures or texts, as a list."""
    rows: Iterable[Any] = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    items, column = [], None
    for row in rows:
        if column is None:
            column = _find_column(row, is_text)
        items.append(_decode_text(row[column]) if is_text else row[column])
    return items


def _decode_text(value):
    text = value.item()
    return text.decode() if isinstance(text, bytes) else text


def _find_column(row, is_text):
    for name, value in row.items():
        if is_text and value.dtype.kind in "US" and value.ndim == 0:
            return name
        if not is_text and value.ndim in (2, 3) and value.dtype.kind not in "US":
            return name
    forms = ", ".join(f"'{name}' {value.shape} {value.dtype}" for name, value in row.items())
    raise TypeError(
        f"For 'label', the dataset should have a column with one {'text' if is_text else 'picture'} per row, without "
        f"'batch' and decoded, but its columns are {forms}."
    )
