"""Inputs of the audio transforms, for both MindSpore and msnb."""

import numpy as np


def waveform():
    """Return two channels of noise between -0.5 and 0.5, 64 samples."""
    return np.random.default_rng(0).uniform(-0.5, 0.5, (2, 64)).astype(np.float32)


def cases(audio, wave):
    """Name -> a function that gives the case's arrays.

    Args:
        audio (module): MindSpore's or msnb's ``dataset.audio``.
        wave (numpy.ndarray): :func:`waveform`.
    """
    A = audio
    pairs, bins, frames = wave.reshape(2, 32, 2), wave[:, :63].reshape(2, 9, 7), wave.reshape(2, 16, 4)
    spectrum, loud = np.abs(bins) * 9, wave * 4
    a, b = [1.0, 0.1, 0.2], [0.1, 0.2, 0.3]
    small = {"n_fft": 16, "win_length": 12, "hop_length": 8, "n_mels": 4}
    mfcc = small | {"f_min": 0.0, "f_max": 4000.0, "pad": 0, "power": 2.0, "normalized": False, "center": True}
    mfcc |= {"onesided": True, "window": A.WindowType.HANN, "pad_mode": A.BorderType.REFLECT}
    mfcc |= {"norm": A.NormType.NONE, "mel_scale": A.MelType.HTK}

    levels = {
        "amplitude_to_db": (A.AmplitudeToDB(), spectrum),
        "amplitude_to_db_magnitude": (A.AmplitudeToDB(A.ScaleType.MAGNITUDE, 2.0, 0.01, 12.0), spectrum),
        "amplitude_to_db_4d": (A.AmplitudeToDB(top_db=3.0), spectrum.reshape(2, 3, 3, 7)),
        "contrast": (A.Contrast(), wave),
        "contrast_0": (A.Contrast(0), wave),
        "db_to_amplitude": (A.DBToAmplitude(2.0, 0.5), loud),
        "dc_shift": (A.DCShift(0.2), loud),
        "dc_shift_limited": (A.DCShift(0.3, 0.05), loud),
        "dc_shift_down": (A.DCShift(-0.3, 0.05), loud),
        "dc_shift_0": (A.DCShift(0.0, 0.05), loud),
        "gain": (A.Gain(), wave),
        "mu_law_decoding": (A.MuLawDecoding(), np.arange(64, dtype=np.int32) * 4),
        "mu_law_encoding": (A.MuLawEncoding(), wave),
        "resample_half": (A.Resample(16000, 8000), wave),
        "resample_up": (A.Resample(3, 5), wave),
        "resample_down": (A.Resample(48, 44.1, lowpass_filter_width=4, rolloff=0.9), wave),
        "resample_kaiser": (A.Resample(2, 3, A.ResampleMethod.KAISER_WINDOW), wave),
        "resample_kaiser_5": (A.Resample(3, 2, A.ResampleMethod.KAISER_WINDOW, beta=5.0), wave),
        "resample_same": (A.Resample(2, 2), wave),
        "mu_law_encoding_64": (A.MuLawEncoding(64), wave),
        "overdrive": (A.Overdrive(), wave),
        "overdrive_loud": (A.Overdrive(40.0, 90.0), wave),
        "vol": (A.Vol(2.5), wave),
        "vol_power": (A.Vol(2.5, A.GainType.POWER), wave),
        "vol_db": (A.Vol(-3, A.GainType.DB), wave),
        "angle": (A.Angle(), pairs),
        "complex_norm": (A.ComplexNorm(), pairs),
        "complex_norm_3": (A.ComplexNorm(3.0), pairs),
        "magphase": (A.Magphase(2.0), pairs),
    }
    for shape in A.FadeShape:
        levels[f"fade_{shape.value}"] = (A.Fade(9, 12, shape), wave)
    levels |= {"fade_overlap": (A.Fade(50, 40), wave), "fade_1": (A.Fade(1, 1), wave)}

    filters = {
        "biquad": (A.Biquad(0.1, 0.2, 0.1, 2.0, 0.1, 0.1), loud),
        "lfilter": (A.LFilter(a, b), wave),
        "lfilter_free": (A.LFilter([2.0, 0.1], [9.0, 1.0], clamp=False), wave),
        "lfilter_clamped": (A.LFilter([1.0, -0.9], [2.0, 1.0]), wave),
        "filtfilt": (A.Filtfilt(a, b), wave),
        "filtfilt_loud": (A.Filtfilt([1.0, -0.5], [2.0, 1.0]), wave),
        "filtfilt_free": (A.Filtfilt([1.0, -0.5], [2.0, 1.0], False), wave),
        "allpass": (A.AllpassBiquad(8000, 500.0), wave),
        "band": (A.BandBiquad(8000, 500.0), wave),
        "band_noise": (A.BandBiquad(8000, 500.0, 0.5, noise=True), wave),
        "bandpass": (A.BandpassBiquad(8000, 500.0), wave),
        "bandpass_skirt": (A.BandpassBiquad(8000, 500.0, 0.3, const_skirt_gain=True), wave),
        "bandreject": (A.BandrejectBiquad(8000, 500.0), wave),
        "bass": (A.BassBiquad(44100, 6.0), wave),
        "bass_cut": (A.BassBiquad(8000, -12.0, 300.0, 0.5), wave),
        "treble": (A.TrebleBiquad(44100, 6.0), wave),
        "treble_cut": (A.TrebleBiquad(8000, -12.0, 1500.0, 0.5), wave),
        "equalizer": (A.EqualizerBiquad(8000, 700.0, 5.5), wave),
        "highpass": (A.HighpassBiquad(8000, 700.0), wave),
        "lowpass": (A.LowpassBiquad(8000, 700.0, 1.0), wave),
    }
    filters |= {f"deemph_{rate}": (A.DeemphBiquad(rate), wave) for rate in (44100, 48000)}
    filters |= {f"riaa_{rate}": (A.RiaaBiquad(rate), wave) for rate in (44100, 48000, 88200, 96000)}

    spectra = {
        "spectrogram": (A.Spectrogram(16), wave),
        "spectrogram_complex": (A.Spectrogram(16, 12, 5, power=0.0, normalized=True), wave),
        "spectrogram_two_sided": (A.Spectrogram(15, power=1.0, onesided=False, center=False), wave),
        "spectrogram_pad": (A.Spectrogram(16, pad=5, power=0.5), wave),
        "spectral_centroid": (A.SpectralCentroid(8001, 16), wave),
        "spectral_centroid_pad": (A.SpectralCentroid(8001, 15, 11, 4, 3, A.WindowType.HAMMING), wave),
        "mel_scale": (A.MelScale(4, 8000, n_stft=9), spectrum),
        "mel_scale_slaney": (A.MelScale(5, 8000, 50.0, 3900.0, 9, A.NormType.SLANEY, A.MelType.SLANEY), spectrum),
        "mel_spectrogram": (A.MelSpectrogram(8000, **small), wave),
        "mel_spectrogram_slaney": (
            A.MelSpectrogram(8000, 32, n_mels=6, power=1.0, norm=A.NormType.SLANEY, mel_scale=A.MelType.SLANEY),
            wave,
        ),
        "mfcc": (A.MFCC(8000, 3, melkwargs=dict(mfcc)), wave),
        "mfcc_log": (A.MFCC(8000, 4, norm=A.NormMode.NONE, log_mels=True, melkwargs=dict(mfcc)), wave),
        "mfcc_default": (A.MFCC(16000, 13), np.tile(wave[0], 10)),
        "deltas_4": (A.ComputeDeltas(4), frames),
        "cmn": (A.SlidingWindowCmn(5, 3), frames),
        "cmn_center": (A.SlidingWindowCmn(5, 3, True, True), frames),
        "cmn_variance": (A.SlidingWindowCmn(6, 4, False, True), frames),
        "cmn_1": (A.SlidingWindowCmn(1, 1, True, True), frames),
        "cmn_default": (A.SlidingWindowCmn(), frames),
        "frequency_masking": (A.FrequencyMasking(False, 3, 2, 0.5), bins),
        "time_masking": (A.TimeMasking(False, 3, 2, 0.5), bins),
        "mask_along_axis": (A.MaskAlongAxis(1, 4, -1.0, 1), bins),
        "mask_along_axis_2d": (A.MaskAlongAxis(1, 4, -1.0, 2), bins[0]),
    }
    spectra |= {f"window_{w.value}": (A.Spectrogram(16, 11, window=w), wave) for w in A.WindowType}
    for border in A.BorderType:
        spectra[f"border_{border.value}"] = (A.Spectrogram(16, pad_mode=border), wave)
        spectra[f"deltas_{border.value}"] = (A.ComputeDeltas(5, border), frames)

    two_sided = A.Spectrogram(16, 12, 4, power=0.0, onesided=False, normalized=True)
    amplitudes = A.Spectrogram(16, power=0.0)(wave)
    advance = np.linspace(0, np.pi * 8, 9)[:, None].astype(np.float32)
    speck = {"n_fft": 16, "win_length": 12, "hop_length": 8, "pad": 2, "window": A.WindowType.HANN, "power": 2.0}
    speck |= {"normalized": False, "center": True, "pad_mode": A.BorderType.REFLECT, "onesided": True}
    phases = {
        "inverse": (A.InverseSpectrogram(64, 16), amplitudes),
        "inverse_all": (A.InverseSpectrogram(n_fft=16), amplitudes),
        "inverse_long": (A.InverseSpectrogram(100, 16), amplitudes),
        "inverse_pad": (A.InverseSpectrogram(40, 16, pad=3), amplitudes),
        "inverse_two_sided": (A.InverseSpectrogram(60, 16, 12, 4, normalized=True, onesided=False), two_sided(wave)),
        "phase_vocoder": (A.PhaseVocoder(1.3, advance), amplitudes),
        "phase_vocoder_slow": (A.PhaseVocoder(0.7, advance), amplitudes),
        "time_stretch": (A.TimeStretch(8, 9, 1.3), amplitudes),
        "time_stretch_default": (A.TimeStretch(n_freq=9, fixed_rate=0.6), amplitudes),
        "griffin_lim": (A.GriffinLim(16, 4, rand_init=False), np.abs(amplitudes[..., 0])),
        "griffin_lim_plain": (
            A.GriffinLim(16, 3, 12, 6, A.WindowType.HAMMING, 1.0, 0.0, 50, False),
            np.abs(amplitudes[..., 0]),
        ),
        "pitch_shift": (A.PitchShift(8000, 4, n_fft=16), wave),
        "pitch_shift_down": (A.PitchShift(8000, -5, 24, 16, 12, 4), wave),
        "lfcc": (A.LFCC(8000, 12, 5, speckwargs=dict(speck)), wave),
        "lfcc_log": (A.LFCC(8000, 6, 4, 100.0, 3000.0, 2, A.NormMode.NONE, True, dict(speck)), wave),
        "phaser": (A.Phaser(44100), wave),
        "phaser_triangle": (A.Phaser(8000, 0.9, 1.5, 1.0, 0.8, 2.0, False), wave),
        "flanger": (A.Flanger(44100), wave),
        "flanger_all": (
            A.Flanger(8000, 1.5, 3.0, 40.0, 90.0, 9.0, 30.0, A.Modulation.TRIANGULAR, A.Interpolation.QUADRATIC),
            wave,
        ),
        "flanger_3d": (A.Flanger(8000, speed=10.0), wave.reshape(2, 2, 32)),
    }
    ops = levels | filters | spectra | phases
    for name in ("gain", "contrast", "spectrogram", "angle", "cmn", "mask_along_axis", "amplitude_to_db"):
        op, array = ops[name]
        ops |= {f"{name}:{kind}": (op, array.astype(kind)) for kind in ("float16", "float64")}
        ops |= {f"{name}:{kind}": (op, (array * 20).astype(kind)) for kind in ("int16", "bool")}
        ops[f"{name}:uint8"] = (op, np.abs(array * 20).astype(np.uint8))
    for name in ("biquad", "lowpass", "filtfilt", "riaa_44100", "deemph_44100", "bass", "deltas_edge", "mel_scale"):
        op, array = ops[name]
        ops |= {f"{name}:{kind}": (op, array.astype(kind)) for kind in ("float16", "float64")}
    for name in ("inverse", "time_stretch", "griffin_lim", "pitch_shift", "phaser", "flanger"):
        op, array = ops[name]
        ops[f"{name}:float64"] = (op, array.astype(np.float64))
    del ops["bass:float16"]  # its pole is too near the unit circle for half precision
    ops["lowpass:1d"] = (ops["lowpass"][0], wave[0])
    ops["spectrogram:3d"] = (ops["spectrogram"][0], wave.reshape(2, 2, 32))

    runs = {name: lambda op=op, array=array: op(array) for name, (op, array) in ops.items()}
    runs |= {
        "create_dct": lambda: A.create_dct(4, 6),
        "create_dct_ortho": lambda: A.create_dct(8, 4, A.NormMode.ORTHO),
        "linear_fbanks": lambda: A.linear_fbanks(9, 100.0, 3900.0, 5, 8001),
        "melscale_fbanks": lambda: A.melscale_fbanks(33, 0, 4000, 6, 8001),
        "melscale_fbanks_slaney": lambda: A.melscale_fbanks(
            33, 100.0, 4000.0, 6, 8000, A.NormType.SLANEY, A.MelType.SLANEY
        ),
        "melscale_fbanks_narrow": lambda: A.melscale_fbanks(9, 0.0, 4000.0, 20, 8000),
        "melscale_fbanks_empty": lambda: A.melscale_fbanks(9, 4000.0, 4000.0, 4, 8000),
    }
    return runs


def masks(ds, audio, seed):
    """Return (length, first place) of the random masks of five rows, per transform, in a pipeline."""
    ds.config.set_seed(seed)
    results = []
    ops = [audio.MaskAlongAxisIID(6, 0.0, 2), audio.TimeMasking(True, 6), audio.FrequencyMasking(True, 6)]
    for op, axis in zip(ops, (1, 1, 0), strict=True):
        data = ds.NumpySlicesDataset(np.ones((5, 12, 12), np.float32), ["a"], shuffle=False)
        data = data.map(op, ["a"], num_parallel_workers=1)
        for row in data.create_dict_iterator(num_epochs=1, output_numpy=True):
            positions = np.flatnonzero(row["a"].take(0, 1 - axis) == 0)
            results.append([len(positions), positions[0] if len(positions) else -1])
    return np.array(results, np.int64)
