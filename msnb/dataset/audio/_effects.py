"""Effects of a delay whose length swings: flanger and phaser."""

from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.audio._base import AudioOp
from msnb.dataset.audio.utils import Interpolation, Modulation
from msnb.dataset.core.kinds import Flag, NonZeroInt32, PositiveInt32, of_type, within


def _make_oscillation(is_sinusoidal, count, low, high, quarter):
    """Return one period of a sine or triangle wave between `low` and `high`, with `count` samples.

    The period starts `quarter` quarters after the rising zero of the wave.
    """
    position = (np.arange(count) + int(quarter / 4 * count + 0.5)) % count
    if is_sinusoidal:
        level = (np.sin(2 * np.pi * position / count) + 1) / 2
    else:
        level = 0.5 - abs((2 * position / count + 0.5) % 2 - 1) + 0.5
    return level * (high - low) + low


class Phaser(AudioOp):
    """Add a short delayed copy to a waveform <..., time>; the delay swings, and the sum is fed back.

    Args:
        sample_rate (int): Sampling rate in Hz, positive.
        gain_in (float, optional): Gain of the input, from 0 to 1. Default: 0.4.
        gain_out (float, optional): Gain of the output, from 0 to 1e9. Default: 0.74.
        delay_ms (float, optional): Longest delay in milliseconds, from 0 to 5. Default: 3.0.
        decay (float, optional): Gain of what is fed back, from 0 to 0.99. Default: 0.4.
        mod_speed (float, optional): Frequency of the swing in Hz, from 0.1 to 2. Default: 0.5.
        sinusoidal (bool, optional): True for a sine wave, False for a triangle. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range, or the delay is shorter than a sample.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Phaser(44100)
    """

    @checked
    def __init__(
        self,
        sample_rate: PositiveInt32,
        gain_in: Annotated[float, within(0, 1, float, int)] = 0.4,
        gain_out: Annotated[float, within(0, 1e9, float, int)] = 0.74,
        delay_ms: Annotated[float, within(0, 5.0, float, int)] = 3.0,
        decay: Annotated[float, within(0, 0.99, float, int)] = 0.4,
        mod_speed: Annotated[float, within(0.1, 2, float, int)] = 0.5,
        sinusoidal: Flag = True,
    ):
        self.sample_rate = sample_rate
        self.gain_in: float = gain_in
        self.gain_out: float = gain_out
        self.delay_ms: float = delay_ms
        self.decay: float = decay
        self.mod_speed: float = mod_speed
        self.sinusoidal = sinusoidal
        self._length = int(delay_ms / 1000 * sample_rate + 0.5)
        if self._length == 0:
            raise ValueError(f"Phaser: a delay of {delay_ms} ms is shorter than a sample at {sample_rate} Hz.")

    def _transform_row(self, array):
        wave = self._to_float(array, "<..., time>", 1)
        period = int(self.sample_rate / self.mod_speed + 0.5)
        swing = _make_oscillation(self.sinusoidal, period, 1.0, self._length, 1)
        delays = (swing + 0.5).astype(int)
        line = np.zeros((self._length, *wave.shape[:-1]))
        output = np.empty(wave.shape)
        for i in range(wave.shape[-1]):
            total = wave[..., i] * float(self.gain_in) + line[(i + delays[i % period]) % self._length]
            line[(i + 1) % self._length] = total * self.decay
            output[..., i] = total
        return np.clip(output * self.gain_out, -1, 1).astype(wave.dtype)


class Flanger(AudioOp):
    """Add a delayed copy to each channel of a waveform <..., channel, time>; the delay swings.

    Args:
        sample_rate (int): Sampling rate in Hz, positive.
        delay (float, optional): Shortest delay in milliseconds, from 0 to 30. Default: 0.0.
        depth (float, optional): Width of the swing in milliseconds, from 0 to 10. Default: 2.0.
        regen (float, optional): Percentage of the delayed copy that is fed back, from -95 to 95. Default: 0.0.
        width (float, optional): Percentage of the delayed copy in the output, from 0 to 100. Default: 71.0.
        speed (float, optional): Frequency of the swing in Hz, from 0.1 to 10. Default: 0.5.
        phase (float, optional): Percentage of a period by which the swing of one channel lags the next, from 0 to 100.
            Default: 25.0.
        modulation (Modulation, optional): Shape of the swing. Default: Modulation.SINUSOIDAL.
        interpolation (Interpolation, optional): Interpolation between samples. Default: Interpolation.LINEAR.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument is out of its range.
        RuntimeError: If the input has fewer than two dimensions, or more than four channels.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.Flanger(44100)
    """

    @checked
    def __init__(
        self,
        sample_rate: NonZeroInt32,
        delay: Annotated[float, within(0, 30, float, int)] = 0.0,
        depth: Annotated[float, within(0, 10, float, int)] = 2.0,
        regen: Annotated[float, within(-95, 95, float, int)] = 0.0,
        width: Annotated[float, within(0, 100, float, int)] = 71.0,
        speed: Annotated[float, within(0.1, 10, float, int)] = 0.5,
        phase: Annotated[float, within(0, 100, float, int)] = 25.0,
        modulation: Annotated[Modulation, of_type(Modulation)] = Modulation.SINUSOIDAL,
        interpolation: Annotated[Interpolation, of_type(Interpolation)] = Interpolation.LINEAR,
    ):
        if sample_rate < 0:
            raise ValueError(f"Flanger: sample_rate should be positive, but is {sample_rate}.")
        self.sample_rate = sample_rate
        self.delay: float = delay
        self.depth: float = depth
        self.regen: float = regen
        self.width: float = width
        self.speed: float = speed
        self.phase: float = phase
        self.modulation = modulation
        self.interpolation = interpolation

    def _transform_row(self, array):
        wave = self._to_float(array, "<..., channel, time>", 2)
        n_channels = wave.shape[-2]
        if n_channels > 4:
            raise RuntimeError(
                f"Flanger takes at most 4 channels, but the input of shape {wave.shape} has {n_channels}."
            )
        feedback, share = self.regen / 100, self.width / 100
        dry = 1 / (1 + share)
        wet = share * dry * (1 - abs(feedback))
        size = int((self.delay + self.depth) / 1000 * self.sample_rate + 0.5) + 2
        period = int(self.sample_rate / self.speed)
        shortest = np.floor(self.delay / 1000 * self.sample_rate + 0.5)
        swing = _make_oscillation(self.modulation == Modulation.SINUSOIDAL, period, shortest, size - 2.0, 3)
        channels = np.arange(n_channels)
        lag = (channels * period * self.phase / 100 + 0.5).astype(int)
        line = np.zeros((*wave.shape[:-1], size))
        delayed = np.zeros(wave.shape[:-1])
        output = np.empty(wave.shape)
        for i in range(wave.shape[-1]):
            now = -(i + 1) % size
            line[..., now] = wave[..., i] + delayed * feedback
            lengths = swing[(i + lag) % period]
            samples = lengths.astype(int)
            between = lengths - samples
            near, far = (line[..., channels, (now + samples + k) % size] for k in (0, 1))
            if self.interpolation == Interpolation.LINEAR:
                delayed = near + (far - near) * between
            else:
                farther = line[..., channels, (now + samples + 2) % size]
                bend = (farther - near) / 2 - (far - near)
                delayed = near + ((far - near - bend) + bend * between) * between
            output[..., i] = wave[..., i] * dry + delayed * wet
        return np.clip(output, -1, 1).astype(array.dtype)
