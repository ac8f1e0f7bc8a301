"""Write attributions.npz: attributions of PyTorch networks by Captum and pytorch-grad-cam.

    python tests/golden/make_attributions.py

It needs torch, captum (0.9) and grad-cam (1.5.7), which the tests do not.
"""

from pathlib import Path

import captum.attr as captum
import numpy as np
import pytorch_grad_cam
import torch
from captum.attr._utils.custom_modules import Addition_Module
from captum.attr._utils.lrp_rules import Alpha1_Beta0_Rule, EpsilonRule
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torch import nn

FILE = Path(__file__).parent / "attributions.npz"
STEPS, SAMPLES, NOISE, PAD = 20, 6, 0.15, 0


class Plain(nn.Module):
    """Convolutions without a bias, dense layers with one."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3, bias=False), nn.Conv2d(4, 6, 3, bias=False)
        self.fc1, self.fc2 = nn.Linear(54, 12), nn.Linear(12, 5)
        self.relu1, self.relu2, self.relu3 = nn.ReLU(), nn.ReLU(), nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.pool(self.relu1(self.conv1(x)))
        x = self.relu2(self.conv2(x))
        return self.fc2(self.relu3(self.fc1(torch.flatten(x, 1))))


class Residual(nn.Module):
    """A residual block with batch normalization and average pooling."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.relu1, self.relu2 = nn.ReLU(), nn.ReLU()
        self.add, self.pool, self.fc = Addition_Module(), nn.AvgPool2d(2), nn.Linear(64, 3)

    def forward(self, x):
        x = self.relu1(self.bn1(self.conv1(x)))
        x = self.relu2(self.add(self.bn2(self.conv2(x)), x))
        return self.fc(torch.flatten(self.pool(x), 1))


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.fc1, self.fc2 = nn.Embedding(20, 6), nn.Linear(6, 8), nn.Linear(8, 2)
        self.tanh = nn.Tanh()

    def forward(self, ids):
        return self.fc2(self.tanh(self.fc1(self.embedding(ids))).mean(1))


def initialize(net, generator):
    """Draw all weights and statistics."""
    for name, value in net.state_dict().items():
        if value.dtype.is_floating_point:
            drawn = torch.randn(value.shape, generator=generator)
            value.copy_(0.5 + drawn.abs() if name.endswith(("running_var", "bn1.weight")) else 0.4 * drawn)
    return net.eval()


def set_rules(net, rule_of_convolutions):
    """Set Captum's rules of LRP."""
    for module in net.modules():
        if not list(module.children()) and not isinstance(module, (nn.ReLU, nn.Tanh)):
            is_convolution = isinstance(module, nn.Conv2d)
            module.rule = rule_of_convolutions() if is_convolution else EpsilonRule()


def explain_plain(net, x, targets, stored):
    """Store all methods for the network without normalization."""
    saved = {"saliency": captum.Saliency(net).attribute(x, targets, abs=False)}
    saved["guided"] = captum.GuidedBackprop(net).attribute(x, targets)
    saved["deconvolution"] = captum.Deconvolution(net).attribute(x, targets)
    saved["layer_grad_cam"] = captum.LayerGradCam(net, net.relu2).attribute(x, targets, relu_attributions=True)
    saved["integrated"] = captum.IntegratedGradients(net).attribute(x, 0.1, targets, n_steps=STEPS)
    set_rules(net, EpsilonRule)
    saved["lrp_epsilon"] = captum.LRP(net).attribute(x, targets)
    set_rules(net, Alpha1_Beta0_Rule)
    saved["lrp_composite"] = captum.LRP(net).attribute(x, targets)
    noise = torch.randn(SAMPLES, *x[:1].shape, generator=torch.Generator().manual_seed(5))
    std = float(NOISE * (x[0].max() - x[0].min()))
    draw, torch.normal = torch.normal, lambda mean, deviation: noise.reshape(-1, *x.shape[1:]) * deviation
    try:
        tunnel = captum.NoiseTunnel(captum.Saliency(net))
        saved["smooth"] = tunnel.attribute(x[:1], nt_samples=SAMPLES, stdevs=std, target=targets[:1], abs=False)
    finally:
        torch.normal = draw
    saved["noise"] = noise
    classes = [ClassifierOutputTarget(int(target)) for target in targets]
    for name, method in (("cam", "GradCAM"), ("cam_plus_plus", "GradCAMPlusPlus")):
        with getattr(pytorch_grad_cam, method)(net, [net.relu2]) as cam:
            stored[f"plain/{name}"] = cam(x.clone(), classes)
    stored.update({f"plain/{name}": value.detach().numpy() for name, value in saved.items()})


def main():
    generator = torch.Generator().manual_seed(20)
    plain, residual, text = (initialize(kind(), generator) for kind in (Plain, Residual, Text))
    stored = {}
    x, targets = torch.rand(3, 1, 12, 12, generator=generator), torch.tensor([0, 3, 4])
    stored |= {"plain/x": x.numpy(), "plain/targets": targets.numpy()}
    explain_plain(plain, x, targets, stored)

    x, targets = torch.randn(2, 3, 8, 8, generator=generator), torch.tensor([2, 1])
    stored |= {"residual/x": x.numpy(), "residual/targets": targets.numpy()}
    stored["residual/guided"] = captum.GuidedBackprop(residual).attribute(x, targets).detach().numpy()
    set_rules(residual, EpsilonRule)
    stored["residual/lrp_epsilon"] = captum.LRP(residual).attribute(x, targets).detach().numpy()

    ids, targets = torch.randint(1, 20, (2, 7), generator=generator), torch.tensor([1, 0])
    method = captum.LayerIntegratedGradients(text, text.embedding)
    integrated = method.attribute(ids, torch.full_like(ids, PAD), targets, n_steps=STEPS)
    stored |= {"text/ids": ids.numpy(), "text/targets": targets.numpy(), "text/integrated": integrated.detach().numpy()}

    for name, net in (("plain", plain), ("residual", residual), ("text", text)):
        for key, value in net.state_dict().items():
            if value.dtype.is_floating_point:
                stored[f"{name}/weights/{key}"] = value.numpy()
    np.savez_compressed(
        FILE,
        **{key: value.astype(np.float32 if value.dtype.kind == "f" else np.int32) for key, value in stored.items()},
    )


if __name__ == "__main__":
    main()
