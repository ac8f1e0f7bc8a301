"""Saliency explanations. Only the names of MindSpore's classes exist; the feature comes in a later version."""

from msnb._util.placeholders import fill, submodules

_WHY = "explanations of image classifiers come in a later version."
fill(globals(), "ImageClassificationRunner", _WHY)
submodules(
    globals(),
    {
        "benchmark": "ClassSensitivity Faithfulness Localization Robustness",
        "explanation": "Gradient Deconvolution GuidedBackprop GradCAM Occlusion RISE",
    },
    _WHY,
)
