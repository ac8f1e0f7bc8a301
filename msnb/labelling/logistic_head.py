"""A linear classifier on frozen features: softmax or sigmoid regression with an L2 penalty, fitted by Newton-CG."""

import numpy as np
from scipy.special import expit, softmax

_STEPS = 100  # at most, of Newton's method
_CG_STEPS = 200  # at most, of conjugate gradients within one
_ONE_THREAD = 1 << 17  # multiplications up to which OpenBLAS stays on one thread


class LogisticHead:
    """Logistic regression. The loss is the sum of cross-entropies plus half the squared weights times `penalty`.

    Args:
        classes (int): number of classes.
        is_multilabel (bool): True for one sigmoid per class, False for a softmax. Default: False.
        penalty (float): factor of the L2 penalty; the bias has none. Default: 1.0.

    Attributes:
        weight (numpy.ndarray): (features, classes).
        bias (numpy.ndarray): (classes,).
    """

    def __init__(self, classes: int, is_multilabel: bool = False, penalty: float = 1.0) -> None:
        self.classes, self.is_multilabel, self.penalty = classes, is_multilabel, penalty
        self.weight, self.bias = np.zeros((0, classes)), np.zeros(classes)

    def fit(self, features: np.ndarray, targets: np.ndarray, tolerance: float = 1e-3) -> "LogisticHead":
        """Fit the weights, starting from the present ones if the features have the same size.

        Args:
            features (numpy.ndarray): (items, size).
            targets (numpy.ndarray): (items, classes) of 0 and 1.
            tolerance (float): largest component of the gradient at the end. Default: 1e-3.

        Returns:
            LogisticHead, itself.
        """
        inputs = np.concatenate([features.astype(np.float64), np.ones((len(features), 1))], 1)
        transposed = np.ascontiguousarray(inputs.T)
        if len(self.weight) != features.shape[1]:
            self.weight, self.bias = np.zeros((features.shape[1], self.classes)), np.zeros(self.classes)
        decay = np.full((inputs.shape[1], 1), self.penalty)
        decay[-1] = 1e-9 if self.is_multilabel else 0  # a class that all items have would drive the bias to infinity
        weights = np.concatenate([self.weight, self.bias[None]])
        value, predictions = self._measure_loss(inputs, targets, weights, decay)
        for _ in range(_STEPS):
            gradient = _multiply(transposed, predictions - targets) + decay * weights
            if np.abs(gradient).max() <= tolerance:
                break
            step = self._solve(inputs, transposed, predictions, decay, gradient)
            slope, scale = (gradient * step).sum(), 1.0
            while True:
                trial = weights - scale * step
                trial_value, trial_predictions = self._measure_loss(inputs, targets, trial, decay)
                if trial_value <= value - 1e-4 * scale * slope or scale < 1e-6:
                    break
                scale /= 2
            if trial_value > value:  # rounding: no step improves the loss
                break
            weights, value, predictions = trial, trial_value, trial_predictions
        self.weight, self.bias = weights[:-1], weights[-1]
        return self

    def _measure_loss(self, inputs, targets, weights, decay):
        """Return (loss, predictions)."""
        logits = _multiply(inputs, weights)
        if self.is_multilabel:
            value, predictions = (np.logaddexp(0, logits) - targets * logits).sum(), expit(logits)
        else:
            logits -= logits.max(1, keepdims=True)
            powers = np.exp(logits)
            sums = powers.sum(1, keepdims=True)
            value, predictions = (np.log(sums) * targets - targets * logits).sum(), powers / sums
        return value + (decay * weights**2).sum() / 2, predictions

    def _solve(self, inputs, transposed, predictions, decay, gradient):
        """Return the Newton step, Hessian^-1 gradient, by conjugate gradients."""
        step, residual = np.zeros_like(gradient), gradient.copy()
        direction, square = residual, (residual**2).sum()
        enough = square * min(0.25, np.sqrt(square))
        for _ in range(_CG_STEPS):
            change = _multiply(inputs, direction)
            if not self.is_multilabel:
                change -= (predictions * change).sum(1, keepdims=True)
                change *= predictions
            else:
                change *= predictions * (1 - predictions)
            product = _multiply(transposed, change) + decay * direction
            curvature = (direction * product).sum()
            if curvature <= 1e-14 * square:
                break
            step += square / curvature * direction
            residual = residual - square / curvature * product
            before, square = square, (residual**2).sum()
            if square <= enough:
                break
            direction = residual + square / before * direction
        return step if step.any() else gradient

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return the probabilities (items, classes)."""
        return self._normalize(features @ self.weight.astype(features.dtype) + self.bias.astype(features.dtype))

    def draw(self, features: np.ndarray, count: int, rng: np.random.Generator, rate: float = 0.5) -> np.ndarray:
        """Return predictions with dropout of the features, (count, items, classes).

        One draw drops the same features for all items, so it is one sampled model.

        Args:
            features (numpy.ndarray): (items, size).
            count (int): number of draws.
            rng (numpy.random.Generator): random numbers.
            rate (float): share of the features that a draw drops. Default: 0.5.
        """
        draws = []
        for _ in range(count):
            mask = (rng.random(len(self.weight)) >= rate) / (1 - rate)
            weight = (self.weight * mask[:, None]).astype(features.dtype)
            draws.append(self._normalize(features @ weight + self.bias.astype(features.dtype)))
        return np.stack(draws)

    def _normalize(self, logits):
        return expit(logits) if self.is_multilabel else softmax(logits, axis=1)


def _multiply(a, b):
    """Return `a @ b`, in blocks of rows that OpenBLAS computes on one thread.

    The fit needs hundreds of small products. On several threads, each would wait for cores that run a training.
    """
    rows = max(1, _ONE_THREAD // (a.shape[1] * b.shape[1] + 1))
    if len(a) <= rows:
        return a @ b
    return np.concatenate([a[first : first + rows] @ b for first in range(0, len(a), rows)])
