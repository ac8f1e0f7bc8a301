"""A forest of extremely randomised trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006), grown level by level.

There are few runs, and their settings are of every kind: numbers of different scales, words, missing values.
Numbers are compared by rank only, so a logarithm has no effect. Words get a random order per tree and level.
A missing value goes to a random side of each node.
All trees grow together: each level takes a few numpy calls on all pairs of a tree and one of its training runs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_TREES = 96
_LEVELS = 14
_MIN_RUNS = 2.0  # minimum number of runs in a node that is split
_MAX_TRAINING_RUNS = 400  # training runs of a tree; the cost of a tree does not grow with more runs
_MAX_TEST_RUNS = 120  # test runs of a tree


class _Level(NamedTuple):
    """One level of all trees. Nodes are numbered across the trees.

    feature (ndarray): feature that splits each node, -1 for a leaf
    bound (ndarray): bound of each split; smaller values go to the left
    order (ndarray): (trees, features, words) -> position of a word in the order of this level
    missing (ndarray): for each node, True if a missing value goes to the right
    left (ndarray): number of each node's left child on the next level; the right child follows it
    value (ndarray): mean of the target in each node
    """

    feature: np.ndarray
    bound: np.ndarray
    order: np.ndarray
    missing: np.ndarray
    left: np.ndarray
    value: np.ndarray


class Forest:
    """A forest of regression trees, fitted to the runs when it is constructed.

    Args:
        features (ndarray): (runs, features) float64; NaN where a run has no value; words as numbers from 0.
        words (Sequence[int]): Number of words of each feature, 0 for numbers.
        target (ndarray): (runs,), finite.
        seed (int): Seed of all random numbers. Default: 0.
        trees (int): Number of trees. Default: 96.

    Attributes:
        tree, run (ndarray): Pairs of a tree and one of its test runs.
    """

    def __init__(
        self, features: np.ndarray, words: Sequence[int], target: np.ndarray, seed: int = 0, trees: int = _TREES
    ) -> None:
        self._words = np.asarray(words)
        self._features = _rank_features(features, words)
        self._trees = trees
        self._random = np.random.default_rng(seed)
        runs = len(target)
        training_runs = self._random.integers(0, runs, (trees, min(runs, _MAX_TRAINING_RUNS)))
        counts = np.zeros((trees, runs))  # number of times a tree has drawn a run
        np.add.at(counts, (np.arange(trees)[:, None], training_runs), 1.0)
        test_runs = np.argsort(np.where(counts > 0, 2.0, self._random.random(counts.shape)), 1)[:, :_MAX_TEST_RUNS]
        tree = np.broadcast_to(np.arange(trees)[:, None], test_runs.shape)
        is_test_run = counts[tree, test_runs] == 0
        self.tree, self.run = tree[is_test_run], test_runs[is_test_run]
        self._levels = self._grow_levels(counts, np.asarray(target, np.float64))

    def _grow_levels(self, counts, target):
        tree, run = np.nonzero(counts)
        weight, target, node, nodes = counts[tree, run], target[run], tree.copy(), self._trees
        levels = []
        for remaining_levels in range(_LEVELS, -1, -1):
            by_node = np.argsort(node, kind="stable")
            tree, run, weight, target, node = (a[by_node] for a in (tree, run, weight, target, node))
            total, sums = np.bincount(node, weight, nodes), np.bincount(node, weight * target, nodes)
            order, missing = self._draw_word_orders(), self._random.random(nodes) < 0.5
            gain, feature, bound = np.full(nodes, 1e-12), np.full(nodes, -1), np.zeros(nodes)
            for feature_index in range(self._features.shape[1]) if remaining_levels else ():
                values = self._get_comparable_values(tree, run, feature_index, order)
                limit = values[self._draw_pair_per_node(node, nodes)]
                right = weight * np.where(np.isnan(values), missing[node], values >= limit[node])
                right_total, right_sum = np.bincount(node, right, nodes), np.bincount(node, right * target, nodes)
                new_gain = _compute_split_gain(total, sums, right_total, right_sum)
                is_better = (new_gain > gain) & ~np.isnan(limit) & (total >= _MIN_RUNS)
                gain[is_better], feature[is_better], bound[is_better] = (
                    new_gain[is_better],
                    feature_index,
                    limit[is_better],
                )
            splits = feature >= 0
            left_child = np.where(splits, 2 * (np.cumsum(splits) - 1), -1)
            levels.append(_Level(feature, bound, order, missing, left_child, sums / np.maximum(total, 1.0)))
            is_split = splits[node]
            if not is_split.any():
                break
            tree, run, weight, target, node = (a[is_split] for a in (tree, run, weight, target, node))
            node, nodes = self._find_child_nodes(levels[-1], node, tree, run, self._features), 2 * int(splits.sum())
        return levels

    def _draw_pair_per_node(self, node, nodes):
        """Return the index of a random pair in each node. Pairs are sorted by node."""
        counts = np.bincount(node, minlength=nodes)
        return np.cumsum(counts) - counts + (self._random.random(nodes) * counts).astype(np.int64)

    def _draw_word_orders(self):
        """Return a random order of words, (trees, features, words)."""
        order = np.zeros((self._trees, len(self._words), max(int(self._words.max(initial=0)), 1)))
        for feature, words in enumerate(self._words):
            if words:
                order[:, feature, :words] = self._random.random((self._trees, words)).argsort(1)
        return order

    def _get_comparable_values(self, tree, run, feature, order):
        """Return the values of a feature as they are compared on a level."""
        values = self._features[run, feature]
        if not self._words[feature]:
            return values
        is_present = ~np.isnan(values)
        return np.where(is_present, order[tree, feature, np.where(is_present, values, 0).astype(np.int64)], np.nan)

    def _find_child_nodes(self, level, node, tree, run, features):
        """Return the nodes of pairs on the next level."""
        feature = level.feature[node]
        values = features[run, feature]
        is_present = ~np.isnan(values)
        is_word = is_present & (self._words[feature] > 0)
        if is_word.any():
            values[is_word] = level.order[tree[is_word], feature[is_word], values[is_word].astype(np.int64)]
        return level.left[node] + np.where(is_present, values >= level.bound[node], level.missing[node])

    def predict(self, permuted: int | None = None) -> np.ndarray:
        """Return the prediction of each tree for its test runs, in the order of `tree` and `run`.

        Args:
            permuted (int): A feature to permute among the runs. Default: None, no permutation.
        """
        features = self._features
        if permuted is not None:
            features = features.copy()
            features[:, permuted] = features[self._random.permutation(len(features)), permuted]
        predictions = np.zeros(len(self.tree))
        pairs, node = np.arange(len(predictions)), self.tree
        for level in self._levels:
            is_inner = level.feature[node] >= 0
            predictions[pairs[~is_inner]] = level.value[node[~is_inner]]
            pairs, node = pairs[is_inner], node[is_inner]
            if len(pairs):
                node = self._find_child_nodes(level, node, self.tree[pairs], self.run[pairs], features)
        return predictions


def _compute_split_gain(total, sums, right_total, right_sum):
    """Return the reduction of the sum of squares when the right part of each node is split off."""
    left_total = total - right_total
    is_split = (right_total > 0) & (left_total > 0)
    split_squares = right_sum**2 / np.maximum(right_total, 1.0) + (sums - right_sum) ** 2 / np.maximum(left_total, 1.0)
    return np.where(is_split, split_squares - sums**2 / np.maximum(total, 1.0), 0.0)


def _rank_features(features, words):
    """Replace numbers by their rank among the distinct values, from 0 to 1. Words are unchanged."""
    ranks = np.array(features, np.float64)
    for feature, word_count in enumerate(words):
        is_present = ~np.isnan(ranks[:, feature])
        if not word_count and is_present.any():
            distinct, rank = np.unique(ranks[is_present, feature], return_inverse=True)
            ranks[is_present, feature] = rank / max(len(distinct) - 1, 1)
    return ranks
