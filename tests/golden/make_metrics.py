"""Golden values of the metrics that MindSpore 2 has and r1.1 has not. Run with a Python that has MindSpore 2.x:

    python tests/golden/make_metrics.py      # writes tests/golden/metrics.json

Where MindSpore departs from the definition there is no case here: ROC of other than as many samples as classes, which
it transposes. The tests import ``CASES`` and ``run`` from here, which need numpy alone.
"""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
_R = np.random.RandomState(0)
_SCORES, _CLASSES = _R.rand(12, 3), _R.randint(0, 3, 12)
_MASKS = [_R.rand(4, 6, 7) > 0.4 for _ in range(4)]
_HOT = [np.eye(3, dtype=int)[_R.randint(0, 3, (2, 4, 5))].transpose(0, 3, 1, 2) for _ in range(4)]
_TEXT = "the quick brown fox jumps over the lazy dog and the cat sat on the mat".split()
_SAID = [_TEXT[:9], _TEXT[8:], [*_TEXT[:4], *_TEXT[9:12]]]
_MEANT = [[_TEXT[:10], _TEXT[2:9]], [_TEXT[9:]], [[*_TEXT[:4], *_TEXT[8:13]], _TEXT[5:12]]]
_MEASURES = (
    "sensitivity specificity precision npv miss_rate fall_out fdr for pt csi accuracy balanced_accuracy f1_score mcc "
    "fm informedness markedness"
).split()

# name -> (class, arguments, batches)
CASES = {
    "bleu": ("BleuScore", {}, [(_SAID, _MEANT)]),
    "bleu_two": ("BleuScore", {"n_gram": 2, "smooth": True}, [(_SAID[:1], _MEANT[:1]), (_SAID[1:], _MEANT[1:])]),
    "bleu_none": ("BleuScore", {}, [([["a", "b"]], [[["c"]]])]),
    **{
        f"confusion_{how}": (
            "ConfusionMatrix",
            {"num_classes": 3, "normalize": how},
            [(_SCORES, _CLASSES), (_CLASSES[:5], _CLASSES[5:10])],
        )
        for how in ("no_norm", "target", "prediction", "all")
    },
    "confusion_threshold": ("ConfusionMatrix", {"num_classes": 2, "threshold": 0.3}, [(_SCORES[:, 0], _CLASSES % 2)]),
    **{f"measure_{name}": ("ConfusionMatrixMetric", {"metric_name": name}, [_HOT[:2], _HOT[2:]]) for name in _MEASURES},
    "measure_less": ("ConfusionMatrixMetric", {"skip_channel": False, "metric_name": "tpr"}, [_HOT[:2]]),
    **{
        f"measure_each_{how}": (
            "ConfusionMatrixMetric",
            {"metric_name": "precision", "calculation_method": True, "decrease": how},
            [_HOT[:2], _HOT[2:]],
        )
        for how in ("mean", "sum")
    },
    "cosine": ("CosineSimilarity", {}, [(_SCORES,)]),
    "cosine_dot": ("CosineSimilarity", {"similarity": "dot", "reduction": "mean"}, [(_SCORES,)]),
    "cosine_sum": ("CosineSimilarity", {"reduction": "sum", "zero_diagonal": False}, [(_SCORES,)]),
    "dice": ("Dice", {}, [(_SCORES, np.eye(3)[_CLASSES]), (_SCORES[:3], np.eye(3)[_CLASSES[:3]])]),
    "perplexity": ("Perplexity", {}, [(_SCORES, _CLASSES), (_SCORES[:4], _CLASSES[4:8])]),
    "perplexity_ignore": ("Perplexity", {"ignore_label": 1}, [(_SCORES, _CLASSES)]),
    "roc": ("ROC", {"pos_label": 2}, [(_SCORES[:, 2].round(1), _CLASSES)]),
    "roc_classes": ("ROC", {"class_num": 3}, [(_SCORES[:3].T, np.array([0, 1, 2]))]),
    **{
        f"{cls}_{metric}_{flag}": (
            cls,
            {"distance_metric": metric, ("directed" if cls == "HausdorffDistance" else "symmetric"): flag},
            [(_MASKS[0][0].astype(int), _MASKS[1][0].astype(int), 1)],
        )
        for cls in ("HausdorffDistance", "MeanSurfaceDistance", "RootMeanSquareDistance")
        for metric in ("euclidean", "chessboard", "taxicab")
        for flag in (False, True)
    },
    "hausdorff_solid": ("HausdorffDistance", {"percentile": 80.0}, [(_MASKS[2].astype(int), _MASKS[3].astype(int), 1)]),
    "hausdorff_whole": ("HausdorffDistance", {"crop": False}, [(_MASKS[2].astype(int), _MASKS[3].astype(int), 0)]),
}


def run(api, case):
    """Return the value of a case as lists; `api` is the module mindspore or msnb."""
    cls, arguments, batches = CASES[case]
    metric = getattr(api.nn, cls)(**arguments)
    metric.clear()
    for batch in batches:
        metric.update(*batch)
    return _plain(metric.eval())


def _plain(value):
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return np.asarray(value, float).tolist()


def main():
    """Write the golden file."""
    import mindspore

    golden = {case: run(mindspore, case) for case in CASES}
    (FOLDER / "metrics.json").write_text(json.dumps(golden, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
