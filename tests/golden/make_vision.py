"""Writes vision.json with MindSpore's results: ``python make_vision.py`` in an environment with MindSpore 2.7.1."""

import base64
import io
import json
from pathlib import Path

import numpy as np
from PIL import Image
from vision_cases import cases, digest, picture

import mindspore.dataset.vision as vision

if __name__ == "__main__":
    file = io.BytesIO()
    Image.fromarray(picture()).save(file, "JPEG", quality=90)
    jpeg = np.frombuffer(file.getvalue(), np.uint8)
    results = {}
    for name, run in cases(vision, jpeg).items():
        try:
            results[name] = digest(run())
        except (RuntimeError, TypeError, ValueError, AttributeError) as error:
            print(f"{name}: {type(error).__name__}: {error}")
    content = {"jpeg": base64.b64encode(jpeg.tobytes()).decode(), "results": results}
    Path(__file__).with_name("vision.json").write_text(json.dumps(content, indent=1) + "\n")
    print(len(results), "cases")
