"""A linear classifier on frozen features: softmax or sigmoid regression with an L2 penalty, fitted by L-BFGS."""

import numpy as np
from scipy import optimize
from scipy.special import expit, log_softmax, softmax

_TOLERANCE = 1e-6  # gradient at which L-BFGS stops
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

    def fit(self, features: np.ndarray, targets: np.ndarray, tolerance: float = _TOLERANCE) -> "LogisticHead":
        """Fit the weights, starting from the present ones if the features have the same size.

        Args:
            features (numpy.ndarray): (items, size).
            targets (numpy.ndarray): (items, classes) of 0 and 1.
            tolerance (float): largest component of the gradient at the end. Default: 1e-6.

        Returns:
            LogisticHead, itself.
        """
        features = features.astype(np.float64)
        if len(self.weight) != features.shape[1]:
            self.weight, self.bias = np.zeros((features.shape[1], self.classes)), np.zeros(self.classes)
        size, transposed = features.shape[1], np.ascontiguousarray(features.T)

        def loss(flat):
            weight, bias = flat[: size * self.classes].reshape(size, self.classes), flat[size * self.classes :]
            logits = _multiply(features, weight) + bias
            if self.is_multilabel:
                value = (np.logaddexp(0, logits) - targets * logits).sum()
                errors = expit(logits) - targets
            else:
                logs = log_softmax(logits, axis=1)
                value = -(targets * logs).sum()
                errors = np.exp(logs) - targets
            gradient = np.concatenate([(_multiply(transposed, errors) + self.penalty * weight).ravel(), errors.sum(0)])
            return value + self.penalty / 2 * (weight**2).sum(), gradient

        start = np.concatenate([self.weight.ravel(), self.bias])
        options = {"maxiter": 1000, "gtol": tolerance, "ftol": 0 if tolerance < _TOLERANCE else 1e-9}
        flat = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
        self.weight = flat[: size * self.classes].reshape(size, self.classes)
        self.bias = flat[size * self.classes :]
        return self

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

    L-BFGS needs hundreds of small products. On several threads, each would wait for cores that run a training.
    """
    rows = max(1, _ONE_THREAD // (a.shape[1] * b.shape[1] + 1))
    if len(a) <= rows:
        return a @ b
    return np.concatenate([a[first : first + rows] @ b for first in range(0, len(a), rows)])
