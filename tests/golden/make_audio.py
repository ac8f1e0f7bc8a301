"""Writes audio.npz with MindSpore's results: ``python make_audio.py`` in an environment with MindSpore 2.7.1."""

from pathlib import Path

import numpy as np
from audio_cases import cases, masks, waveform

import mindspore.dataset as ds
import mindspore.dataset.audio as audio

if __name__ == "__main__":
    wave = waveform()
    content = {"wave": wave, "masks/1": masks(ds, audio, 1), "masks/7": masks(ds, audio, 7)}
    for name, run in cases(audio, wave).items():
        made = run()
        for i, array in enumerate(made if isinstance(made, tuple) else (made,)):
            content[f"case/{name}/{i}"] = array
    file = Path(__file__).with_name("audio.npz")
    np.savez_compressed(file, **content)
    print(len(content), "arrays,", file.stat().st_size, "bytes")
