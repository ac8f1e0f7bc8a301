"""Images with more pixels than ``config.set_max_pixels`` allows are refused before memory is allocated."""

import io
import struct
import zlib

import cv2
import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.vision as vision
import msnb.dataset.vision.c_transforms as c_vision
import msnb.dataset.vision.py_transforms as py_vision
from msnb.dataset.vision import _headers, kernels

HEIGHT, WIDTH = 37, 53
PICTURE = (np.arange(HEIGHT * WIDTH * 3) % 251).astype(np.uint8).reshape(HEIGHT, WIDTH, 3)
FORMATS = "jpg png bmp gif webp tiff pbm pgm ppm pam pfm sr hdr jp2 avif".split()


def encoded(kind):
    """Return the picture in a format. Skip the test if this build of OpenCV cannot write it."""
    picture = PICTURE.astype(np.float32) / 255 if kind in ("pfm", "hdr") else PICTURE
    try:
        return cv2.imencode("." + kind, picture[..., 0] if kind in ("pgm", "pbm") else picture)[1].reshape(-1)
    except cv2.error:
        pytest.skip(f"OpenCV writes no {kind} here")


@pytest.fixture
def limit():
    before = ds.config.get_max_pixels()
    yield ds.config.set_max_pixels
    ds.config.set_max_pixels(before)


@pytest.mark.parametrize("kind", FORMATS)
def test_header_of_each_format_gives_the_size(kind):
    data = encoded(kind)
    assert _headers.read_size(data) == _headers.read_size(data.tobytes()) == (HEIGHT, WIDTH)


@pytest.mark.parametrize(
    "kind, options",
    [
        ("JPEG", {"progressive": True}),
        ("JPEG", {"comment": b"x" * 3000}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0ab"}),
        ("TIFF", {"big_tiff": True}),
        ("JPEG2000", {"no_jp2": True}),
    ],
)
def test_header_of_each_variant_gives_the_size(kind, options):
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.fromarray(PICTURE).save(file, kind, **options)
    assert _headers.read_size(file.getvalue()) == (HEIGHT, WIDTH)


@pytest.mark.parametrize("kind", FORMATS)
def test_pixel_limit_is_exact_in_each_format(kind, limit):
    data = encoded(kind)
    limit(HEIGHT * WIDTH)
    assert kernels.decode(data).shape == PICTURE.shape
    limit(HEIGHT * WIDTH - 1)
    with pytest.raises(RuntimeError, match=r"53 x 37 = 1961 pixels, but at most 1960 .*config\.set_max_pixels"):
        kernels.decode(data)


def huge_jpeg():
    data = bytearray(encoded("jpg").tobytes())
    place = data.index(b"\xff\xc0") + 5
    data[place : place + 4] = struct.pack(">HH", 60000, 60000)
    return bytes(data)


def huge_png():
    data = bytearray(encoded("png").tobytes())
    data[16:24] = struct.pack(">II", 30000, 30000)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    return bytes(data)


def huge_bmp():
    data = bytearray(encoded("bmp").tobytes())
    data[18:26] = struct.pack("<ii", 1 << 15, -(1 << 14))
    return bytes(data)


def in_folder(data, folder):
    (folder / "a").mkdir()
    (folder / "a" / "huge.jpg").write_bytes(data.tobytes())
    dataset = ds.ImageFolderDataset(str(folder), decode=True, shuffle=False)
    return list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))


def from_file(data, folder):
    (folder / "huge.jpg").write_bytes(data.tobytes())
    return vision.read_image(str(folder / "huge.jpg"))


@pytest.mark.parametrize(
    "decode, error",
    [
        (lambda data, folder: c_vision.Decode()(data), RuntimeError),
        (lambda data, folder: vision.Decode(to_pil=True)(data), ValueError),
        (lambda data, folder: py_vision.Decode()(data.tobytes()), ValueError),
        (lambda data, folder: c_vision.RandomCropDecodeResize(8)(data), RuntimeError),
        (in_folder, RuntimeError),
        (from_file, RuntimeError),
    ],
)
@pytest.mark.parametrize("make", [huge_jpeg, huge_png, huge_bmp])
def test_gigapixel_header_is_refused_before_decoding(make, decode, error, tmp_path, monkeypatch):
    data = np.frombuffer(make(), np.uint8)
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("memory would be taken"))
    with pytest.raises(error, match="pixels, but at most 30000000") as message:
        decode(data, tmp_path)
    assert decode not in (in_folder, from_file) or "huge.jpg" in str(message.value)


@pytest.mark.parametrize("number, error", [(0, ValueError), (-1, ValueError), (True, TypeError), (1e9, TypeError)])
def test_set_max_pixels_requires_a_positive_int(number, error, limit):
    with pytest.raises(error, match="Max pixels"):
        limit(number)


def test_bytes_that_are_no_image_have_no_size():
    starts = [b"", b"\xff\xd8", b"\x89P", b"BM", b"GI", b"RI", b"II*\0", b"P6 x", b"P7", b"#?", b"\0\0", b"\x59\xa6"]
    filled = [start + b"x" * 99 for start in (b"\xff\xd8", b"\xff\x4f", b"\x76\x2f", b"MM", b"P7", b"#?", b"\0\0")]
    for data in (*starts, *filled, b"\xff\xd8\xff\xd9", b"nothing"):
        assert _headers.read_size(data) is None
