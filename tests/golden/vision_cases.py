"""Deterministic transforms of 2.x on one picture, for MindSpore (make_vision.py) and msnb (test_vision.py)."""

import numpy as np


def picture():
    """Return a uint8 RGB picture with edges, slopes and noise; the same with every version of numpy."""
    y, x = np.mgrid[0:120, 0:160]
    noise = np.random.RandomState(7).randint(0, 40, (120, 160, 3))
    base = np.stack([x * 255 // 160, y * 255 // 120, (x + y) * 255 // 280], -1)
    base[30:70, 40:90] = (220, 30, 60)
    base[(x - 110) ** 2 + (y - 60) ** 2 < 900] = (10, 200, 240)
    return np.clip(base + noise - 20, 0, 255).astype(np.uint8)


def digit():
    """Return a uint8 picture of shape (28, 28, 1)."""
    return picture()[20:48, 40:68, :1].copy()


def cases(vision, jpeg):
    """Name to a function that makes the result.

    Args:
        vision (module): ``mindspore.dataset.vision`` of either.
        jpeg (np.ndarray): Bytes of a JPEG file.
    """
    image, small = picture(), digit()
    floats = image.astype(np.float32) / np.float32(255)
    inter, border, mode = vision.Inter, vision.Border, vision.ConvertMode
    out = {"decode": lambda: vision.Decode()(jpeg)}

    def add(name, op, value=image):
        out[name] = lambda: op()(value)

    for size in ((112, 112), (50, 166), (300, 250), 64):
        for name in ("NEAREST", "LINEAR", "CUBIC", "AREA", "PILCUBIC"):
            add(f"resize {name} {size}", lambda s=size, n=name: vision.Resize(s, getattr(inter, n)))
    add("resize digit", lambda: vision.Resize((32, 32)), small)
    add("resize float32", lambda: vision.Resize((96, 96)), floats)
    add("rescale", lambda: vision.Rescale(1 / 255.0, -0.5))
    add("rescale digit", lambda: vision.Rescale(1 / 0.3081, -0.1307 / 0.3081), small)
    add("normalize", lambda: vision.Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]))
    add("normalize float32", lambda: vision.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), floats)
    add("hwc2chw", lambda: vision.HWC2CHW())
    add("horizontal flip", lambda: vision.HorizontalFlip())
    add("vertical flip", lambda: vision.VerticalFlip())
    add("center crop", lambda: vision.CenterCrop((80, 80)))
    add("center crop odd", lambda: vision.CenterCrop((51, 37)))
    add("center crop larger", lambda: vision.CenterCrop((301, 300)))
    for name in ("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC"):
        add(f"pad {name}", lambda n=name: vision.Pad((3, 5, 7, 9), (10, 20, 30), getattr(border, n)))
    for name in ("NEAREST", "BILINEAR", "BICUBIC", "AREA"):
        add(f"rotate {name}", lambda n=name: vision.Rotate(30, getattr(inter, n)))
        corners = [[0, 0], [150, 0], [150, 100], [0, 100]], [[5, 2], [140, 10], [145, 105], [2, 95]]
        add(f"perspective {name}", lambda n=name, c=corners: vision.Perspective(*c, getattr(inter, n)))
    add("affine", lambda: vision.Affine(15, [0.1, 0.2], 1.1, [5, 3], inter.BILINEAR))
    add("auto contrast", lambda: vision.AutoContrast())
    add("auto contrast cutoff", lambda: vision.AutoContrast(10, [10, 20]))
    add("equalize", lambda: vision.Equalize())
    add("invert", lambda: vision.Invert())
    add("solarize", lambda: vision.Solarize((10, 200)))
    add("posterize", lambda: vision.Posterize(4))
    add("gamma", lambda: vision.AdjustGamma(0.7))
    add("brightness", lambda: vision.AdjustBrightness(1.4))
    add("contrast", lambda: vision.AdjustContrast(1.4))
    add("saturation", lambda: vision.AdjustSaturation(1.4))
    add("hue", lambda: vision.AdjustHue(0.2))
    add("sharpness", lambda: vision.AdjustSharpness(1.7))
    add("gaussian blur", lambda: vision.GaussianBlur(5, 1.5))
    add("gray", lambda: vision.ConvertColor(mode.COLOR_RGB2GRAY))
    add("crop", lambda: vision.Crop((10, 20), (50, 60)))
    add("erase", lambda: vision.Erase(10, 20, 30, 40, (1, 2, 3)))
    add("resized crop", lambda: vision.ResizedCrop(10, 10, 90, 120, (64, 64)))
    add("resized crop CUBIC", lambda: vision.ResizedCrop(10, 10, 90, 120, (64, 64), inter.CUBIC))
    return out


def digest(array):
    """Return type, shape and a checksum of the values, for comparison."""
    import hashlib

    array = np.ascontiguousarray(array)
    return f"{array.dtype} {list(array.shape)} {hashlib.md5(array.tobytes()).hexdigest()}"
