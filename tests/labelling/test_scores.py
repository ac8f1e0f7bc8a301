"""Scores, label faults and the classifier beside scikit-activeml, modAL, cleanlab and scikit-learn."""

from pathlib import Path

import numpy as np
import pytest

from msnb.labelling import acquisition
from msnb.labelling.acquisition import STRATEGIES, Candidates, find_strategy
from msnb.labelling.label_faults import find_label_faults, measure_thresholds
from msnb.labelling.logistic_head import LogisticHead


@pytest.fixture(scope="module")
def golden():
    with np.load(Path(__file__).parents[1] / "golden" / "labelling.npz") as stored:
        return dict(stored)


def candidates(golden, labelled=0, **changes):
    return Candidates(
        **{
            "probabilities": golden["probabilities"][labelled:],
            "features": golden["features"][labelled:],
            "labelled_features": golden["features"][:labelled],
            "draw": lambda count: golden["draws"][:count],
            "rng": np.random.default_rng(0),
            **changes,
        }
    )


@pytest.mark.parametrize("name", ["least_confident", "margin", "entropy"])
@pytest.mark.parametrize("library", ["skactiveml", "modal"])
def test_uncertainty_equals_other_libraries(golden, library, name):
    scores, order = STRATEGIES[name].rank(candidates(golden))
    np.testing.assert_allclose(scores, golden[f"{library}_{name}"], atol=1e-6)
    assert order[0] == golden[f"{library}_{name}"].argmax() and sorted(order) == list(range(60))


def test_bald_equals_scikit_activeml(golden):
    scores, _ = STRATEGIES["bald"].rank(candidates(golden))
    np.testing.assert_allclose(scores, golden["skactiveml_bald"], atol=1e-6)


def test_coreset_chooses_as_scikit_activeml(golden):
    scores, order = STRATEGIES["coreset"].rank(candidates(golden, labelled=8))
    np.testing.assert_allclose(scores, golden["skactiveml_coreset"][0][8:], atol=1e-6)
    assert list(order[:6] + 8) == list(golden["skactiveml_coreset_chosen"])


def test_diversity_equals_badge(golden):
    probabilities, features = golden["probabilities"][5:], golden["features"][5:]
    norms, _ = STRATEGIES["diversity"].rank(candidates(golden, labelled=5))
    np.testing.assert_allclose(norms / norms.sum(), golden["skactiveml_badge"][0][5:], atol=1e-6)
    first = int(norms.argmax())
    distances = acquisition.measure_gradient_distances(
        acquisition.embed_gradients(probabilities), features, first, norms
    )
    expected = golden["skactiveml_badge"][1][5:]
    distances = np.minimum(distances, norms)
    others = np.arange(len(expected)) != first
    np.testing.assert_allclose((distances / distances.sum())[others], expected[others], atol=1e-6)


def test_strategies_of_several_classes_average_over_the_classes(golden):
    p = np.array([[0.5, 0.5], [0.9, 0.5], [0.99, 0.01]])
    seen = candidates(golden, probabilities=p, features=np.ones((3, 2)), is_multilabel=True)
    np.testing.assert_allclose(STRATEGIES["margin"].rank(seen)[0], [1, (0.2 + 1) / 2, 0.02], atol=1e-9)


def test_a_function_is_a_strategy_and_has_to_return_one_score_per_item(golden):
    assert (
        find_strategy(lambda seen: seen.features[:, 0]).rank(candidates(golden))[1][0]
        == golden["features"][:, 0].argmax()
    )
    with pytest.raises(ValueError, match="should return 60 scores"):
        find_strategy(lambda seen: np.ones(3)).rank(candidates(golden))
    with pytest.raises(ValueError, match="one of least_confident, margin"):
        find_strategy("best")
    with pytest.raises(TypeError, match="a name or a function"):
        find_strategy(3)


def test_label_faults_equal_cleanlab(golden):
    labels, probabilities = golden["labels"], golden["probabilities"]
    np.testing.assert_allclose(measure_thresholds(labels, probabilities), golden["cleanlab_thresholds"], atol=1e-6)
    suspects, classes, own = find_label_faults(labels, probabilities)
    assert list(suspects) == list(golden["cleanlab_faults"]) and len(suspects) > 5
    np.testing.assert_allclose(own, golden["cleanlab_self_confidence"][suspects], atol=1e-6)
    assert (classes != labels[suspects]).all()


def test_the_classifier_equals_scikit_learn(golden):
    targets = np.eye(5)[golden["labels"]]
    head = LogisticHead(5).fit(golden["features"], targets, tolerance=1e-9)
    np.testing.assert_allclose(head.predict(golden["features"]), golden["sklearn_probabilities"], atol=1e-6)
    head = LogisticHead(5, is_multilabel=True).fit(golden["features"], targets, tolerance=1e-9)
    np.testing.assert_allclose(head.predict(golden["features"])[:, 0], golden["sklearn_sigmoid"], atol=1e-6)


def test_one_class_and_equal_items_can_be_fitted():
    head = LogisticHead(3).fit(np.ones((4, 2)), np.eye(3)[[1, 1, 1, 1]])
    assert head.predict(np.ones((1, 2))).argmax() == 1
    head = LogisticHead(2, is_multilabel=True).fit(np.ones((4, 2)), np.tile([1.0, 0.0], (4, 1)))
    assert np.isfinite(head.weight).all() and np.isfinite(head.bias).all()
