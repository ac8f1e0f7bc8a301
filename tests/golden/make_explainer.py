"""Golden values of explainers and benchmarks, computed by Captum 0.9 and Quantus 0.6: run it with a Python that has
torch, captum and quantus.

    python tests/golden/make_explainer.py       writes tests/golden/explainer.npz

The network is a convolution, a ReLU, the mean over the image, a dense layer and a softmax. `make_inputs` computes its
weights and the images from a seed, here and in `tests/insight/test_explanation.py`. Quantus sees the first channel of
the image only: it flips the channels of a pixel one after the other, and msnb flips them together.
"""

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("explainer.npz")
TARGETS = (3, 0)
DRAWS = 10


def make_inputs():
    """Return (weights, images by size, a map (12, 12), a mask (12, 12), noise (DRAWS, 1, 12, 12)) in float32."""
    random = np.random.default_rng(7)
    weights = {
        "conv": random.normal(0, 0.5, (4, 3, 3, 3)),
        "bias": random.normal(0, 0.5, (4,)),
        "dense": random.normal(0, 2, (5, 4)),
    }
    images = {size: random.random((2, 3, size, size)) for size in (12, 40, 64)}
    saliency = random.random((12, 12))
    mask = np.zeros((12, 12))
    mask[3:7, 2:9] = 1
    noise = random.uniform(-0.2, 0.2, (DRAWS, 1, 12, 12))
    as_float32 = {name: value.astype(np.float32) for name, value in weights.items()}
    images = {size: image.astype(np.float32) for size, image in images.items()}
    return as_float32, images, saliency.astype(np.float32), mask, noise.astype(np.float32)


def main():
    import quantus
    import torch
    from captum.attr import Occlusion, Saliency

    weights, images, saliency, mask, noise = make_inputs()
    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}

    class Network(torch.nn.Module):
        def forward(self, x):
            kernel = tensors["conv"][:, : x.shape[1]]
            x = torch.nn.functional.conv2d(x, kernel, tensors["bias"], padding=1)
            return torch.softmax(torch.relu(x).mean((2, 3)) @ tensors["dense"].T, 1)

    network, golden = Network().eval(), {}
    for size, image in images.items():
        window, stride = (size // 32,) * 2 if size > 32 else (3, 1)
        occluded = Occlusion(network).attribute(
            torch.from_numpy(image), (3, window, window), (3, stride, stride), target=list(TARGETS)
        )
        golden[f"occlusion_{size}"] = occluded.abs().amax(1, keepdim=True).numpy()

    image = images[12][:1, :1]
    target = np.array([TARGETS[0]])
    maps = saliency[None, None]
    common = {"abs": False, "normalise": False, "disable_warnings": True, "display_progressbar": False}
    call = {
        "model": network,
        "x_batch": image,
        "y_batch": target,
        "device": "cpu",
        "softmax": False,
        "channel_first": True,
    }
    steps = {"features_in_step": 12, "perturb_baseline": 0.0}
    golden["faithfulness_estimate"] = np.array(quantus.FaithfulnessEstimate(**steps, **common)(**call, a_batch=maps))
    flipping = quantus.PixelFlipping(**steps, return_auc_per_sample=False, **common)
    golden["pixel_flipping"] = np.array(flipping(**call, a_batch=maps))
    golden["pointing_game"] = np.array(
        [
            quantus.PointingGame(**common)(**call, a_batch=each, s_batch=mask[None, None].astype(bool))[0]
            for each in (maps, maps * mask.astype(np.float32))
        ],
        np.float64,
    )

    draws = iter(noise)

    def add_noise(arr, **kwargs):
        return (arr + next(draws).reshape(arr.shape)).astype(np.float32)

    def explain(model, inputs, targets, **kwargs):
        inputs = torch.tensor(np.asarray(inputs), dtype=torch.float32)
        return Saliency(model).attribute(inputs, torch.tensor(targets)).amax(1, keepdim=True).numpy()

    sensitivity = quantus.MaxSensitivity(
        nr_samples=DRAWS, perturb_func=add_noise, similarity_func=quantus.similarity_func.difference, **common
    )
    golden["max_sensitivity"] = np.array(sensitivity(**call, a_batch=None, explain_func=explain))
    assert next(draws, None) is None, "Quantus drew another number of samples."
    for name, value in golden.items():
        print(name, value.shape, value.reshape(-1)[:6])
    np.savez_compressed(FILE, **golden)


if __name__ == "__main__":
    main()
