"""A forest of extremely randomised trees (Geurts, Ernst and Wehenkel, Machine Learning 63, 2006), grown all at once.

Runs are few and their settings are of every kind: numbers on scales of their own, words, values that some runs lack.
Numbers count by their rank alone, so that a logarithm changes nothing; words are put in an order that each tree draws
anew at each level; who has no value goes to a side that each node draws.
All trees grow level by level, and a level is a few numpy calls over all pairs of a tree and a run that it learns from.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_TREES = 96
_LEVELS = 14
_LEAF = 2.0  # runs that a node needs to be split
_LEARNED = 400  # runs that a tree learns from; with more of them the trees differ, and none gets slower
_JUDGED = 120  # runs that a tree is judged by


class _Level(NamedTuple):
    """One level of all trees, whose nodes are numbered across the trees.

    feature (ndarray): of each node, -1 where it is a leaf
    bound (ndarray): of each node; what has less goes to the left
    order (ndarray): (trees, features, words) -> place of a word in the order of this level
    missing (ndarray): of each node, whether who has no value goes to the right
    left (ndarray): number of its left child on the next level; the right one follows it
    value (ndarray): mean of the target in each node
    """

    feature: np.ndarray
    bound: np.ndarray
    order: np.ndarray
    missing: np.ndarray
    left: np.ndarray
    value: np.ndarray


class Forest:
    """A forest that has learned a target.

    Args:
        features (ndarray): (runs, features) float64; NaN where a run has no value; words as numbers from 0.
        words (Sequence[int]): How many words each feature has, 0 for numbers.
        target (ndarray): (runs,), finite.
        seed (int): Of all draws. Default: 0.
        trees (int): How many. Default: 96.

    Attributes:
        tree, run (ndarray): Pairs of a tree and a run that it has not seen, by which it can be judged.
    """

    def __init__(
        self, features: np.ndarray, words: Sequence[int], target: np.ndarray, seed: int = 0, trees: int = _TREES
    ) -> None:
        self._words = np.asarray(words)
        self._features = _ranked(features, words)
        self._trees = trees
        self._random = np.random.default_rng(seed)
        runs = len(target)
        learned = self._random.integers(0, runs, (trees, min(runs, _LEARNED)))
        many = np.zeros((trees, runs))  # how often a tree has drawn a run
        np.add.at(many, (np.arange(trees)[:, None], learned), 1.0)
        unseen = np.argsort(np.where(many > 0, 2.0, self._random.random(many.shape)), 1)[:, :_JUDGED]
        tree = np.broadcast_to(np.arange(trees)[:, None], unseen.shape)
        judges = many[tree, unseen] == 0
        self.tree, self.run = tree[judges], unseen[judges]
        self._levels = self._grow(many, np.asarray(target, np.float64))

    def _grow(self, many, target):
        tree, run = np.nonzero(many)
        weight, target, node, nodes = many[tree, run], target[run], tree.copy(), self._trees
        levels = []
        for left_to_grow in range(_LEVELS, -1, -1):
            by_node = np.argsort(node, kind="stable")
            tree, run, weight, target, node = (a[by_node] for a in (tree, run, weight, target, node))
            total, sums = np.bincount(node, weight, nodes), np.bincount(node, weight * target, nodes)
            order, missing = self._orders(), self._random.random(nodes) < 0.5
            gain, feature, bound = np.full(nodes, 1e-12), np.full(nodes, -1), np.zeros(nodes)
            for at in range(self._features.shape[1]) if left_to_grow else ():
                placed = self._placed(tree, run, at, order)
                limit = placed[self._one_of_each(node, nodes)]
                right = weight * np.where(np.isnan(placed), missing[node], placed >= limit[node])
                of_right, its_sum = np.bincount(node, right, nodes), np.bincount(node, right * target, nodes)
                made = _gain(total, sums, of_right, its_sum)
                better = (made > gain) & ~np.isnan(limit) & (total >= _LEAF)
                gain[better], feature[better], bound[better] = made[better], at, limit[better]
            splits = feature >= 0
            left = np.where(splits, 2 * (np.cumsum(splits) - 1), -1)
            levels.append(_Level(feature, bound, order, missing, left, sums / np.maximum(total, 1.0)))
            going = splits[node]
            if not going.any():
                break
            tree, run, weight, target, node = (a[going] for a in (tree, run, weight, target, node))
            node, nodes = self._below(levels[-1], node, tree, run, self._features), 2 * int(splits.sum())
        return levels

    def _one_of_each(self, node, nodes):
        """The number of a pair in each node, where pairs stand in the order of their nodes."""
        many = np.bincount(node, minlength=nodes)
        return np.cumsum(many) - many + (self._random.random(nodes) * many).astype(np.int64)

    def _orders(self):
        """(trees, features, words): for each tree and each feature of words a new order of these."""
        order = np.zeros((self._trees, len(self._words), max(int(self._words.max(initial=0)), 1)))
        for at, words in enumerate(self._words):
            if words:
                order[:, at, :words] = self._random.random((self._trees, words)).argsort(1)
        return order

    def _placed(self, tree, run, at, order):
        """The values of one feature as they are compared on a level."""
        values = self._features[run, at]
        if not self._words[at]:
            return values
        known = ~np.isnan(values)
        return np.where(known, order[tree, at, np.where(known, values, 0).astype(np.int64)], np.nan)

    def _below(self, level, node, tree, run, features):
        """The nodes on the next level that pairs fall into."""
        at = level.feature[node]
        values = features[run, at]
        known = ~np.isnan(values)
        words = known & (self._words[at] > 0)
        if words.any():
            values[words] = level.order[tree[words], at[words], values[words].astype(np.int64)]
        return level.left[node] + np.where(known, values >= level.bound[node], level.missing[node])

    def said(self, dealt: int | None = None) -> np.ndarray:
        """What each tree says of the runs that it has not seen, in the order of `tree` and `run`.

        Args:
            dealt (int): A feature that is dealt anew to the runs before. Default: None, all are as they are.
        """
        features = self._features
        if dealt is not None:
            features = features.copy()
            features[:, dealt] = features[self._random.permutation(len(features)), dealt]
        said = np.zeros(len(self.tree))
        pairs, node = np.arange(len(said)), self.tree
        for level in self._levels:
            going = level.feature[node] >= 0
            said[pairs[~going]] = level.value[node[~going]]
            pairs, node = pairs[going], node[going]
            if len(pairs):
                node = self._below(level, node, self.tree[pairs], self.run[pairs], features)
        return said


def _gain(total, sums, of_right, its_sum):
    """By how much the squares about the mean become less when the right part of each node goes its own way."""
    of_left = total - of_right
    both = (of_right > 0) & (of_left > 0)
    parts = its_sum**2 / np.maximum(of_right, 1.0) + (sums - its_sum) ** 2 / np.maximum(of_left, 1.0)
    return np.where(both, parts - sums**2 / np.maximum(total, 1.0), 0.0)


def _ranked(features, words):
    """Numbers as their rank among the different values, from 0 to 1; words as they are."""
    made = np.array(features, np.float64)
    for at, many in enumerate(words):
        known = ~np.isnan(made[:, at])
        if not many and known.any():
            different, place = np.unique(made[known, at], return_inverse=True)
            made[known, at] = place / max(len(different) - 1, 1)
    return made
