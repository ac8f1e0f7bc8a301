"""Answered items as a Dataset, and as files: CSV, ImageFolder, COCO, MindRecord."""

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from msnb import dataset as ds
from msnb._util.atomic_file import writing
from msnb.labelling.kinds import LabelKind
from msnb.labelling.pool import Pool, encode_png
from msnb.mindrecord import FileWriter

_SUFFIXES = {".csv": "csv", ".json": "coco", ".mindrecord": "mindrecord", "": "imagefolder"}
_UNREDUCED = 1 << 30  # pixels of a side
_ROWS = 1000  # rows of a MindRecord file that are written at once


class _Answered:
    """Random access to answered items, as `GeneratorDataset` reads it."""

    def __init__(self, read: Callable[[int], tuple[Any, ...]], items: list[int]) -> None:
        self._read, self._items = read, items

    def __getitem__(self, position: int) -> tuple[Any, ...]:
        return self._read(self._items[position])

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return map(self._read, self._items)


def to_dataset(pool: Pool, kind: LabelKind, labels: dict[int, Any]) -> Any:
    """Return answered items as a Dataset, see `Session.dataset`.

    Args:
        pool (Pool): the items.
        kind (LabelKind): the kind of the labels.
        labels (dict): index of the item -> label.
    """

    def read(index):
        label = labels[index]
        if kind.kind == "boxes":
            boxes = np.array([box[1:] for box in label], np.float32).reshape(-1, 4)
            return pool.net_input(index), boxes, np.array([kind.classes.index(box[0]) for box in label], np.int32)
        if kind.is_multilabel:
            return pool.net_input(index), kind.to_targets([label])[0].astype(np.float32)
        item = np.array(pool.raw(index)) if pool.kind == "texts" else pool.net_input(index)
        return item, np.int32(kind.classes.index(label))

    columns = {"boxes": ["image", "boxes", "label"], "text": ["text", "label"]}.get(kind.kind, ["image", "label"])
    return ds.GeneratorDataset(_Answered(read, list(labels)), columns, shuffle=False)


def export(pool: Pool, kind: LabelKind, labels: dict[int, Any], path: Path, format: str | None = None) -> Path:
    """Write answered items to a file or folder and return its path, see `Session.export`."""
    if format is None:
        format = _SUFFIXES.get(path.suffix.lower())
    if format is None or format not in _WRITERS:
        raise ValueError(
            f"For 'export', 'path' should end in .csv, .json, .mindrecord or be a folder, or 'format' should be one of "
            f"{', '.join(_WRITERS)}, but got {path if format is None else format!r}."
        )
    _WRITERS[format](pool, kind, labels, path)
    return path


def _write_csv(pool, kind, labels, path):
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    name = "text" if pool.kind == "texts" else "name"
    writer.writerow([name, "class", "left", "top", "width", "height"] if kind.kind == "boxes" else [name, "label"])
    for index, label in labels.items():
        item = pool.raw(index) if pool.kind == "texts" else pool.names[index]
        if kind.kind == "boxes":
            writer.writerows([item, *box] for box in label)
        else:
            writer.writerow([item, ";".join(label) if kind.is_multilabel else label])
    with writing(path, "w", encoding="utf-8", newline="") as file:
        file.write(text.getvalue())


def _write_folder(pool, kind, labels, path):
    if kind.kind != "class":
        raise ValueError(
            f"For 'export', the format 'imagefolder' has one class per picture, but the kind is '{kind.kind}'. Use "
            "'csv' or 'mindrecord'."
        )
    unsafe = [name for name in kind.classes if name in (".", "..") or any(c in name for c in '/\\\0:*?"<>|')]
    if unsafe:
        raise ValueError(f"For 'export', the class {unsafe[0]!r} can't be the name of a folder.")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"For 'export', '{path}' should be a new or an empty folder.")
    for name in kind.classes:
        (path / name).mkdir(parents=True, exist_ok=True)
    for index, label in labels.items():
        if pool.kind == "files":
            flat = pool.names[index].lstrip("/").replace("../", "").replace("/", "_")
            shutil.copyfile(pool.raw(index), path / label / flat)
        else:
            with writing(path / label / f"{index:06d}.png", "wb") as file:
                file.write(encode_png(pool.picture(index), _UNREDUCED))


def _write_coco(pool, kind, labels, path):
    if kind.kind != "boxes":
        raise ValueError(f"For 'export', the format 'coco' has boxes, but the kind is '{kind.kind}'. Use 'csv'.")
    images, annotations = [], []
    for index, boxes in labels.items():
        height, width = pool.picture(index).shape[:2]
        file_name = pool.names[index] if pool.kind == "files" else f"{index:06d}.png"
        images.append({"id": index, "file_name": file_name, "width": width, "height": height})
        for name, left, top, box_width, box_height in boxes:
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": index,
                    "category_id": kind.classes.index(name) + 1,
                    "bbox": [left, top, box_width, box_height],
                    "area": box_width * box_height,
                    "iscrowd": 0,
                }
            )
    categories = [{"id": number, "name": name} for number, name in enumerate(kind.classes, 1)]
    content = {"images": images, "annotations": annotations, "categories": categories}
    with writing(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


def _write_mindrecord(pool, kind, labels, path):
    """Write the encoded picture or the text, the name, and the label. Boxes have a column of their own."""
    content = {"text": {"type": "string"}} if pool.kind == "texts" else {"image": {"type": "bytes"}}
    label_schema = {"type": "int32"} if kind.kind in ("class", "text") else {"type": "int32", "shape": [-1]}
    boxes = {"boxes": {"type": "float32", "shape": [-1, 4]}} if kind.kind == "boxes" else {}
    writer = FileWriter(str(path), overwrite=True)
    writer.add_schema({"name": {"type": "string"}, **content, "label": label_schema, **boxes}, "labels of msnb.label")
    rows = []
    for index, label in labels.items():
        row = {"name": pool.names[index]}
        if pool.kind == "texts":
            row["text"] = pool.raw(index)
        else:
            row["image"] = pool.raw(index).read_bytes() if pool.kind == "files" else _encode(pool, index)
        if kind.kind == "boxes":
            row["boxes"] = np.array([box[1:] for box in label], np.float32).reshape(-1, 4)
            row["label"] = np.array([kind.classes.index(box[0]) for box in label], np.int32)
        elif kind.is_multilabel:
            row["label"] = kind.to_targets([label])[0].astype(np.int32)
        else:
            row["label"] = kind.classes.index(label)
        rows.append(row)
        if len(rows) == _ROWS:
            writer.write_raw_data(rows)
            rows = []
    if rows:
        writer.write_raw_data(rows)
    writer.commit()


def _encode(pool, index):
    return encode_png(pool.picture(index), _UNREDUCED)


_WRITERS: dict[str, Callable[..., None]] = {
    "csv": _write_csv,
    "coco": _write_coco,
    "mindrecord": _write_mindrecord,
    "imagefolder": _write_folder,
}
