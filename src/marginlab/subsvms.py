"""SubSVMs: many SVMs on tiny class-balanced subsets, and their majority vote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from marginlab.errors import UserError
from marginlab.svm.active_set import train_subsets
from marginlab.svm.kernels import resolve_gamma
from marginlab.svm.subsets import draw_subsets, is_number, is_whole, subset_size
from marginlab.svm.votes import VotingMachines, count_votes

__all__ = ["SubSVMs", "draw_subsets", "subset_size"]


class SubSVMs(ClassifierMixin, BaseEstimator):
    """Classifier that corrects adversarial label errors (Algorithm 1 of the paper).

    Trains ``n_svms`` RBF SVMs, each on a tiny random subset that holds both classes in
    equal parts on average, and lets them vote. The votes on the training rows give the
    corrected labels, the votes on new rows the predictions.

    Parameters
    ----------
    n_svms : int, default=1000
        Number of machines, J.
    sample_size : "log2", "log" or int, default="log2"
        Points in a subset, s: floor(ln(n)^2), floor(ln(n)), or a number; at least 2.
    sampling : "balanced", "uniform" or float, default="balanced"
        Probability p that a draw takes the minority class of ``y`` (Definition 5):
        "balanced" is 1/2, "uniform" the share of the minority in ``y``.
    C : float, default=100.0
        Penalty of the slack; with the L2 loss (C/2) sum xi^2.
    gamma : "1/d" or float, default="1/d"
        Kernel exp(-gamma |x - z|^2); "1/d" is 1 / n_features.
    random_state : int, RandomState or None, default=None
        Seed of the subsets. The first machines are the same whatever ``n_svms`` is.
    loss : {"l2", "l1"}, default="l2"
        Squared or plain hinge loss.
    minority_weight : float, default=1.0
        W, factor of C for the minority class of ``y``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    labels_corrected_ : ndarray of shape (n,)
        Majority label of each training row.
    votes_ : ndarray of shape (n,)
        Share of the machines that say ``classes_[1]``, per training row.
    subsets_ : ndarray of shape (n_svms, s)
        Training rows drawn by each machine.
    kkt_residual_ : float
        Largest KKT residual of all machines: a certificate of the optimum.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Rows may be dense or sparse; results do not depend on which rows are evaluated
    together. A tie goes to the majority class of ``y``. Memory grows with n times the
    number of columns, never with n^2.

    Examples
    --------
    >>> import numpy as np
    >>> from marginlab import SubSVMs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[2, 0], [-2, 0]], 100, axis=0)
    >>> clean = np.repeat([1, -1], 100)
    >>> noisy = clean.copy()
    >>> noisy[:60] = -1
    >>> model = SubSVMs(n_svms=200, random_state=0).fit(X, noisy)
    >>> bool(np.mean(model.labels_corrected_ == clean) > np.mean(noisy == clean))
    True
    """

    def __init__(
        self,
        n_svms: int = 1000,
        sample_size: str | int = "log2",
        sampling: str | float = "balanced",
        C: float = 100.0,
        gamma: str | float = "1/d",
        random_state: Any = None,
        *,
        loss: str = "l2",
        minority_weight: float = 1.0,
    ) -> None:
        self.n_svms = n_svms
        self.sample_size = sample_size
        self.sampling = sampling
        self.C = C
        self.gamma = gamma
        self.random_state = random_state
        self.loss = loss
        self.minority_weight = minority_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: ArrayLike) -> SubSVMs:
        """Train the machines and correct the training labels.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            Labels, two distinct values.

        Returns
        -------
        SubSVMs
            The estimator itself.

        Raises
        ------
        UserError
            If a parameter or the labels cannot be used; the message says what to do.
        SolverError
            If a machine does not reach the optimum.
        """
        return self.train(X, y).finish()

    def train(self, X: Any, y: ArrayLike) -> SubSVMs:
        """First half of `fit`: train the machines, the time the paper calls training.

        ``votes_`` and ``labels_corrected_`` are set by `finish`; `predict` works
        without them. Parameters, results and errors as `fit`.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        signs = self._encode(y)
        self._training_rows = _canonical(X)
        size = subset_size(self.sample_size, X.shape[0])
        self.subsets_ = draw_subsets(
            signs == self._minority, self.n_svms, size, self.sampling, self.random_state
        )
        gamma = resolve_gamma(self.gamma, X.shape[1])
        cost = np.where(signs == self._minority, self.C * self.minority_weight, self.C)
        trained = train_subsets(
            self._training_rows, signs, self.subsets_, cost.astype(float), gamma, self.loss
        )
        self.kkt_residual_ = float(trained.residual.max())
        self._machines = VotingMachines.from_subsets(
            self._training_rows, self.subsets_, trained.beta, trained.intercept, gamma
        )
        return self

    def finish(self) -> SubSVMs:
        """Second half of `fit`: vote on the training rows of `train`.

        Returns
        -------
        SubSVMs
            The estimator itself.
        """
        self._fitted_size()
        if not hasattr(self, "_training_rows"):
            raise UserError("there are no training rows to vote on; call train or fit first")
        rows = self._training_rows
        del self._training_rows
        self.votes_ = self._shares(count_votes(self._machines, rows)[0], self.n_svms)
        self.labels_corrected_ = self._majority(self.votes_)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Mean vote of each row, from -1 (all for classes_[0]) to 1 (classes_[1]).

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return 2.0 * self.votes_curve(X, [self._fitted_size()])[0] - 1.0

    def predict(self, X: Any) -> NDArray[Any]:
        """Majority label of each row.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._majority(self.votes_curve(X, [self._fitted_size()])[0])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of the machines behind each label.

        The larger share is at the label of `predict`, but for ties, which `predict`
        gives to the majority class of ``y``. As in scikit-learn's BaggingClassifier a
        share of votes is a measure of agreement and no calibrated probability.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n, 2)
            Columns in the order of ``classes_``; rows sum to one.
        """
        shares = self.votes_curve(X, [self._fitted_size()])[0]
        return np.column_stack([1.0 - shares, shares])

    def correct(self, X: Any) -> NDArray[Any]:
        """Corrected label of each row: the second loop of Algorithm 1.

        For the training rows this is ``labels_corrected_``; for other rows of the same
        origin it is the majority vote, as in `predict`.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.predict(X)

    def votes_curve(self, X: Any, n_svms: Sequence[int]) -> NDArray[np.float64]:
        """Shares of votes for ``classes_[1]`` among the first machines of this run.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        n_svms : sequence of int
            Ascending numbers of machines, each from 1 to the fitted number.

        Returns
        -------
        ndarray of shape (len(n_svms), n)
        """
        largest = self._fitted_size()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        stops = np.asarray(n_svms)
        if stops.ndim != 1 or not len(stops) or stops.dtype.kind not in "iu":
            raise UserError(f"n_svms is {n_svms!r}; give a list of whole numbers")
        if stops[0] < 1 or stops[-1] > largest or (np.diff(stops) <= 0).any():
            raise UserError(f"n_svms is {n_svms!r}; give ascending numbers from 1 to {largest}")
        return self._shares(count_votes(self._machines, _canonical(X), stops), stops[:, None])

    def majority(self, shares: ArrayLike) -> NDArray[Any]:
        """Labels for shares of votes as `votes_curve` returns them; ties to the majority.

        Parameters
        ----------
        shares : array-like of any shape

        Returns
        -------
        ndarray of the same shape
        """
        check_is_fitted(self, "subsets_")
        return self._majority(np.asarray(shares, dtype=float))

    def _fitted_size(self) -> int:
        check_is_fitted(self, "subsets_")
        return len(self.subsets_)

    @staticmethod
    def _shares(counts: NDArray[np.int64], total: Any) -> NDArray[np.float64]:
        return counts / total

    def _majority(self, shares: NDArray[np.float64]) -> NDArray[Any]:
        # the minority needs more than half of the votes
        upper = shares > 0.5 if self._minority > 0 else shares >= 0.5
        return self.classes_[upper.astype(np.intp)]

    def _encode(self, y: Any) -> NDArray[np.float64]:
        check_classification_targets(y)
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        if len(self.classes_) > 2:
            # the wording that scikit-learn's own checks look for
            raise UserError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}; keep the rows of two classes"
            )
        if len(self.classes_) < 2:
            raise UserError(
                f"y has 1 class ({self.classes_.tolist()[0]!r}); SubSVMs needs rows of two classes"
            )
        self._minority = 1.0 if counts[1] <= counts[0] else -1.0
        return np.where(codes == 1, 1.0, -1.0)

    def _check_parameters(self) -> None:
        if not is_whole(self.n_svms) or self.n_svms < 1:
            raise UserError(f"n_svms is {self.n_svms!r}; give a whole number, at least 1")
        if self.loss not in ("l2", "l1"):
            raise UserError(f'loss is {self.loss!r}; choose "l2" or "l1"')
        for name in ("C", "minority_weight"):
            value = getattr(self, name)
            if not is_number(value) or not 0 < value < math.inf:
                raise UserError(f"{name} is {value!r}; give a positive number")


def _canonical(X: Any) -> Any:
    # one representation of a sparse row, so that equal rows look equal
    if not sp.issparse(X):
        return X
    if not X.has_canonical_format or (len(X.data) and not X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X
