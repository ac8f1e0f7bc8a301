"""Write labelling.npz: scores of scikit-activeml and modAL, label faults of cleanlab, a classifier of scikit-learn.

    python tests/golden/make_labelling.py

It needs scikit-activeml 1.0, modAL 0.4, cleanlab 2.9 and scikit-learn; the tests need none of them.
"""

from pathlib import Path

import numpy as np
from cleanlab.count import get_confident_thresholds
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_self_confidence_for_each_label
from modAL.uncertainty import _proba_entropy, _proba_margin, _proba_uncertainty
from scipy.special import softmax
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import Badge, batch_bald, k_greedy_center, uncertainty_scores
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(0)
probabilities = softmax(2 * rng.normal(size=(60, 5)), axis=1)
draws = softmax(2 * rng.normal(size=(20, 60, 5)), axis=2)
features = rng.normal(size=(60, 7))
labels = np.where(rng.random(60) < 0.3, rng.integers(0, 5, 60), probabilities.argmax(1))
stored = {"probabilities": probabilities, "draws": draws, "features": features, "labels": labels}

for ours, theirs in {"least_confident": None, "margin": "margin_sampling", "entropy": None}.items():
    stored[f"skactiveml_{ours}"] = uncertainty_scores(probabilities, method=theirs or ours)
stored["modal_least_confident"] = _proba_uncertainty(probabilities)
stored["modal_margin"] = 1 - _proba_margin(probabilities)
stored["modal_entropy"] = _proba_entropy(probabilities)
stored["skactiveml_bald"] = batch_bald(draws, batch_size=1)[0]

answered = np.full(60, np.nan)
answered[:8] = 0
chosen, utilities = k_greedy_center(features, answered, batch_size=6, random_state=0)
stored["skactiveml_coreset_chosen"], stored["skactiveml_coreset"] = chosen, utilities


class Fixed(LogisticRegression):
    """Predicts the stored probabilities."""

    def predict_proba(self, X):
        return probabilities[[int(np.flatnonzero((features == row).all(1))[0]) for row in X]]


classifier = SklearnClassifier(Fixed(), classes=range(5))
_, utilities = Badge(random_state=0).query(
    features, np.where(np.arange(60) < 5, np.arange(60), np.nan), classifier, batch_size=2, return_utilities=True
)
stored["skactiveml_badge"] = utilities

stored["cleanlab_thresholds"] = get_confident_thresholds(labels, probabilities)
stored["cleanlab_faults"] = find_label_issues(
    labels, probabilities, filter_by="confident_learning", return_indices_ranked_by="self_confidence"
)
stored["cleanlab_self_confidence"] = get_self_confidence_for_each_label(labels, probabilities)

fitted = LogisticRegression(C=1.0, tol=1e-12, max_iter=10000).fit(features, labels)
stored["sklearn_probabilities"] = fitted.predict_proba(features)
fitted = LogisticRegression(C=1.0, tol=1e-12, max_iter=10000).fit(features, labels == 0)
stored["sklearn_sigmoid"] = fitted.predict_proba(features)[:, 1]

np.savez_compressed(Path(__file__).with_name("labelling.npz"), **stored)
