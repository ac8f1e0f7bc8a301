"""Recordings of speech and music in WAV and SPHERE files, with transcripts."""

import os
import re
import wave
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Folder, Int, NumSamples, Text, Workers, one_of
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources import gtzan_parts
from msnb.dataset.engine.sources.mappable import Sampling, Shuffled
from msnb.dataset.engine.sources.public import Files, PublicSet, UndividedSet, UsageSet, folders, listing, texts
from msnb.formats import text_files


def _open_wav(path):
    try:
        return wave.open(path, "rb")
    except (OSError, EOFError, wave.Error) as error:
        raise RuntimeError(f"Invalid file, failed to open {path} as a WAV file: {error}.") from None


def _read_waveform(path):
    """Return the samples of a WAV file as float32 from -1 to 1, shape (1, frames)."""
    with _open_wav(path) as file:
        width, data = file.getsampwidth(), file.readframes(file.getnframes())
    if width != 2:
        raise RuntimeError(f"Invalid file, {path} has samples of {8 * width} bits; only 16 can be read.")
    return (np.frombuffer(data, "<i2").astype(np.float32) / 32767)[None]


def _read_sample_rate(path):
    with _open_wav(path) as file:
        return np.array(file.getframerate(), np.uint32)


def _read_int32_sample_rate(path):
    return _read_sample_rate(path).astype(np.int32)


def _make_sound_columns(paths, rate=_read_sample_rate):
    return Files(paths, _read_waveform), Files(paths, rate)


class SpeechCommandsDataset(UsageSet):
    """Single words, spoken by many people: columns ``waveform`` (float32), ``sample_rate`` (int32), ``label`` (string),
    ``speaker_id`` (string), ``utterance_number`` (int32).

    Args:
        dataset_dir (str): Folder with a folder for each word, ``testing_list.txt`` and ``validation_list.txt``.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or is not a 16-bit WAV file, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "test", "valid", "all")
    columns: tuple[str, ...] = ("waveform", "sample_rate", "label", "speaker_id", "utterance_number")

    def _read_listed_paths(self, name):
        return {self._join_path(line) for line in text_files.text(self._join_path(name)).split() if line}

    def _read_columns(self):
        if self.usage in ("test", "valid"):
            paths = self._read_listed_paths("testing_list.txt" if self.usage == "test" else "validation_list.txt")
        else:
            words = [word for word in folders(self.dataset_dir) if word != "_background_noise_"]
            paths = {path for word in words for path in listing(self._join_path(word), ".wav")}
            if self.usage == "train":
                paths -= self._read_listed_paths("testing_list.txt") | self._read_listed_paths("validation_list.txt")
        paths = sorted(paths)
        stems = [os.path.splitext(os.path.basename(path))[0] for path in paths]
        speakers, numbers = zip(*(stem.split("_nohash_") for stem in stems), strict=True) if stems else ((), ())
        labels = [os.path.basename(os.path.dirname(path)) for path in paths]
        return (
            *_make_sound_columns(paths, _read_int32_sample_rate),
            texts(labels),
            texts(speakers),
            np.array([int(n) for n in numbers], np.int32),
        )


class YesNoDataset(UndividedSet):
    """Recordings of eight words, yes or no in Hebrew: columns ``waveform`` (float32), ``sample_rate`` (int32),
    ``label`` (int32, (8,), 1 for yes).

    Args:
        dataset_dir (str): Folder with files such as ``1_1_0_0_1_1_0_0.wav``.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If there is no file, or a file is not a 16-bit WAV file, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("waveform", "sample_rate", "label")

    def _read_columns(self):
        paths = listing(self.dataset_dir, ".wav")
        names = [os.path.splitext(os.path.basename(path))[0] for path in paths]
        labels = [np.array(list(map(int, name.split("_"))), np.int32) for name in names]
        return *_make_sound_columns(paths, _read_int32_sample_rate), labels


class LJSpeechDataset(UndividedSet):
    """Passages of seven books, read by one speaker: columns ``waveform`` (float32), ``sample_rate`` (int32),
    ``transcription``, ``normalized_transcription`` (strings).

    Args:
        dataset_dir (str): Folder with ``metadata.csv`` and ``wavs``.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or is not a 16-bit WAV file, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("waveform", "sample_rate", "transcription", "normalized_transcription")

    def _read_columns(self):
        rows = [line.split("|") for line in text_files.text(self._join_path("metadata.csv")).splitlines() if line]
        names, original, normalized = zip(*rows, strict=True) if rows else ((), (), ())
        return (
            *_make_sound_columns([self._join_path("wavs", f"{name}.wav") for name in names], _read_int32_sample_rate),
            texts(original),
            texts(normalized),
        )


class GTZANDataset(UsageSet):
    """Music of ten genres, 30 seconds each: columns ``waveform`` (float32), ``sample_rate`` (uint32), ``label``
    (string).

    Args:
        dataset_dir (str): Folder with a folder for each genre.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If there is no file, or a file is not a 16-bit WAV file, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "valid", "test", "all")
    columns: tuple[str, ...] = ("waveform", "sample_rate", "label")

    def _read_columns(self):
        genres = folders(self.dataset_dir)
        paths = [path for genre in genres for path in listing(self._join_path(genre), ".wav")]
        if self.usage != "all":
            recordings = gtzan_parts.recording_names(self.usage)
            paths = [path for path in paths if os.path.basename(path).removesuffix(".wav") in recordings]
        return *_make_sound_columns(paths), texts([os.path.basename(os.path.dirname(path)) for path in paths])


class LibriTTSDataset(UsageSet):
    """English books, read by many speakers: columns ``waveform`` (float32), ``sample_rate`` (uint32),
    ``original_text``,
    ``normalized_text`` (strings), ``speaker_id``, ``chapter_id`` (uint32), ``utterance_id`` (string).

    Args:
        dataset_dir (str): Folder with ``dev-clean/116/288045`` and the like.
        usage (str, optional): The name of a folder, such as 'train-clean-100', or 'all'. Default: None,
            'all'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or is not a 16-bit WAV file, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = (
        *("dev-clean", "dev-other", "test-clean", "test-other"),
        *("train-clean-100", "train-clean-360", "train-other-500", "all"),
    )
    columns: tuple[str, ...] = (
        *("waveform", "sample_rate", "original_text", "normalized_text"),
        *("speaker_id", "chapter_id", "utterance_id"),
    )

    def _read_columns(self):
        usages = self.usages[:-1] if self.usage == "all" else (self.usage,)
        rows = []
        for usage in (p for p in usages if os.path.isdir(self._join_path(p))):
            for speaker in folders(self._join_path(usage)):
                for chapter in folders(self._join_path(usage, speaker)):
                    folder = self._join_path(usage, speaker, chapter)
                    for line in text_files.text(os.path.join(folder, f"{speaker}_{chapter}.trans.tsv")).splitlines():
                        name, original, normal = line.split("\t")
                        rows.append((os.path.join(folder, f"{name}.wav"), original, normal, speaker, chapter, name))
        paths, original, normal, speakers, chapters, names = zip(*rows, strict=True) if rows else ((),) * 6
        numbers = [np.array([int(v) for v in column], np.uint32) for column in (speakers, chapters)]
        return *_make_sound_columns(paths), texts(original), texts(normal), *numbers, texts(names)


_VOICES = "aew ahw aup awb axb bdl clb eey fem gka jmk ksp ljm lnh rms rxr slp slt".split()
_PROMPT = re.compile(r'\(\s*arctic_(\w+)\s+"(.*)"\s*\)')


class CMUArcticDataset(PublicSet):
    """About 1200 English sentences, read by one speaker: columns ``waveform`` (float32), ``sample_rate`` (uint32),
    ``transcript``, ``utterance_id`` (strings).

    Args:
        dataset_dir (str): Folder with ``cmu_us_aew_arctic`` and the like.
        name (str, optional): The speaker, such as 'aew', 'bdl' or 'slt'. Default: None, which means 'aew'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or is not a 16-bit WAV file, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("waveform", "sample_rate", "transcript", "utterance_id")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        name: Annotated[str, one_of(*_VOICES)] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir)
        self.name: str = name or "aew"

    def _read_columns(self):
        folder = f"cmu_us_{self.name}_arctic"
        prompts = _PROMPT.findall(text_files.text(self._join_path(folder, "etc", "txt.done.data")))
        names, transcripts = zip(*prompts, strict=True) if prompts else ((), ())
        return (
            *_make_sound_columns([self._join_path(folder, "wav", f"arctic_{n}.wav") for n in names]),
            texts(transcripts),
            texts(names),
        )


def _parse_sphere_header(data, path):
    """Parse the header of a SPHERE file. Return (size of the header, dict of its fields)."""
    lines = data[:1024].decode("latin-1").split("\n")
    if lines[0] != "NIST_1A":
        raise RuntimeError(f"Invalid file, {path} is no SPHERE file: it should begin with NIST_1A.")
    fields = dict(line.split(" ", 2)[::2] for line in lines[2:] if line.count(" ") >= 2)
    return int(lines[1]), fields


class TedliumDataset(PublicSet):
    """TED-LIUM, segments of talks with transcripts: columns ``waveform`` (float32), ``sample_rate`` (int32),
    ``transcript``, ``talk_id``, ``speaker_id``, ``identifier`` (strings).

    Args:
        dataset_dir (str): Folder with ``train``, ``test`` and ``dev``. For release 3, a folder with ``data``.
        release (str): 'release1', 'release2' or 'release3'.
        usage (str, optional): 'train', 'test', 'dev' or 'all'; for release 3 only 'all'. Default: None, 'all'.
        extensions (str, optional): The extension of the recordings, which is '.sph'. Default: None, '.sph'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or is not a SPHERE file, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("waveform", "sample_rate", "transcript", "talk_id", "speaker_id", "identifier")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        release: Annotated[str, one_of("release1", "release2", "release3")],
        usage: Text | None = None,
        extensions: Annotated[str, one_of(".sph")] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.usages: tuple[str, ...] = ("all",) if release == "release3" else ("train", "test", "dev", "all")
        self._set_folder_and_usage(dataset_dir, usage)
        self.release: str = release
        self.extensions: str = extensions or ".sph"

    def _read_columns(self):
        all_folders = ("data",) if self.release == "release3" else ("train", "test", "dev")
        rows = []
        for folder in all_folders if self.usage == "all" else (self.usage,):
            for path in listing(self._join_path(folder, "stm"), ".stm"):
                talk = os.path.join(self._join_path(folder, "sph"), os.path.basename(path)[:-4] + self.extensions)
                for line in text_files.text(path).splitlines():
                    name, _, speaker, start, end, identifier, transcript = line.split(" ", 6)
                    rows.append((talk, float(start), float(end), transcript, name, speaker, identifier))
        talks, starts, ends, *text_columns = zip(*rows, strict=True) if rows else ((),) * 7
        cuts = list(zip(talks, starts, ends, strict=True))
        return Files(cuts, _read_sphere_segment), Files(cuts, _read_sphere_sample_rate), *map(texts, text_columns)


def _read_sphere_segment(segment):
    path, start, end = segment
    data = _read_bytes(path)
    size, fields = _parse_sphere_header(data, path)
    samples = np.frombuffer(data, ">i2", offset=size)
    rate = int(fields["sample_rate"])
    return (samples[int(start * rate) : int(end * rate)].astype(np.float32) / 32767)[None]


def _read_sphere_sample_rate(segment):
    path = segment[0]
    return np.array(int(_parse_sphere_header(_read_bytes(path), path)[1]["sample_rate"]), np.int32)


def _read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise RuntimeError(f"Invalid file, failed to open {path}: {error.strerror}.") from None
