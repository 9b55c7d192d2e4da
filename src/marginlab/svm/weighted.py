"""Weighted SVM that knows its leave-one-out error by the span-rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from marginlab.errors import UserError
from marginlab.svm.dual import DualSolution, train_on_kernel
from marginlab.svm.kernels import resolve_gamma
from marginlab.svm.libsvm import gram, products, train_libsvm
from marginlab.svm.span_qp import qp_spans
from marginlab.svm.span_rules import (
    KernelRange,
    SpanBound,
    kernel_range,
    non_empty_sets,
    span_bound,
    span_rule,
    support_order,
    xi_alpha,
)
from marginlab.svm.spans import SupportKernel, boxed_spans, closed_spans

__all__ = ["WeightedSVC", "check_weights"]

Array = NDArray[np.float64]

#: Rows up to which the kernel matrix is held in memory (512 MB) and the compiled solver used.
MAX_KERNEL_ROWS = 8192


def check_weights(sample_weight: ArrayLike | None, X: Any) -> Array:
    """Instance weights as a float64 vector, or one sentence on what is wrong with them.

    Raises
    ------
    UserError
        If a weight is negative, NaN or infinite, or if none is positive.
    """
    if sample_weight is None:
        return np.ones(X.shape[0])
    raw = np.asarray(sample_weight, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(raw) | (raw < 0)) if raw.ndim == 1 else np.array([], int)
    if bad.size:
        raise UserError(
            f"sample_weight of row {bad[0]} is {raw[bad[0]]:g} ({bad.size} such rows); "
            f"give finite weights of at least 0"
        )
    weights = _check_sample_weight(raw, X, dtype=np.float64)
    if not (weights > 0).any():
        raise UserError("all of sample_weight is 0; give at least two rows a positive weight")
    return np.asarray(weights)


class WeightedSVC(ClassifierMixin, BaseEstimator):
    """Support vector classifier with instance weights that knows its leave-one-out error.

    Minimises 1/2 |w|^2 + sum_i C_i xi_i with C_i = C * sample_weight_i (equations (1) to (3) of
    the span paper).  After ``fit``, `span_rule_` estimates the leave-one-out error from this one
    model, with no retraining.

    Parameters
    ----------
    C : float, default=1.0
        Penalty that the instance weights multiply.
    kernel : {"rbf", "linear"}, default="rbf"
    gamma : "1/d" or float, default="1/d"
        RBF kernel exp(-gamma |x - z|^2); "1/d" is 1 / n_features.
    tol : float, default=1e-6
        Violation of the optimality conditions that is accepted.  The span-rule moves by about
        .01 at LIBSVM's usual 1e-3.
    class_weight : dict, "balanced" or None, default=None
        Factors of C by class, as in scikit-learn.
    solver : {"auto", "compiled", "libsvm"}, default="auto"
        "compiled" holds the kernel matrix in memory (8 l^2 bytes) and is exact; "libsvm" does
        not; "auto" takes the first up to 8192 rows.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; ``decision_function`` is positive for ``classes_[1]``.
    alpha_ : ndarray of shape (n_samples,)
        Lagrange multipliers; 0 for rows of weight 0.
    weights_ : ndarray of shape (n_samples,)
        C_i of each row.
    in_bound_, bounded_ : ndarray of bool of shape (n_samples,)
        Support vectors with 0 < alpha_i < C_i, and those with alpha_i = C_i.
    support_ : ndarray of int
        Rows that are support vectors, in or at the bound.
    decision_values_ : ndarray of shape (n_samples,)
        f of the training rows in float64.
    intercept_ : float
        b; not unique when no support vector is in bound (``in_bound_.any()`` is False).
    kkt_residual_ : float
        Largest violation of the optimality conditions: the certificate of the solution.
    n_features_in_ : int

    Notes
    -----
    Rows of weight 0 are dropped before training and mapped back; a weight of 2 is the same as
    the row twice.  Shares such as `span_rule_` are over the rows of positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> from marginlab import WeightedSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2)) + np.repeat([[1.0, 0.0], [-1.0, 0.0]], 60, axis=0)
    >>> y = np.repeat([1, 0], 60)
    >>> model = WeightedSVC(C=2.0).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    >>> bool(0.0 < model.span_rule_ < 0.5)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: str | float = "1/d",
        tol: float = 1e-6,
        *,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str = "auto",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> WeightedSVC:
        """Train on all rows of positive weight.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two kinds.
        sample_weight : array-like of shape (n_samples,), optional
            Instance weights, at least 0; 1 by default.

        Returns
        -------
        WeightedSVC
            Itself.

        Raises
        ------
        UserError
            If a parameter, a label or a weight cannot be used.
        SolverError
            If the tolerance is not reached.
        """
        self._check_parameters()
        X, signs, weights = self.prepare(X, y, sample_weight)
        kept = np.flatnonzero(weights > 0)
        self._X = X if kept.size == weights.size else X[kept]
        self._kept = kept
        self._gamma = resolve_gamma(self.gamma, X.shape[1])
        self._solution = self._train(signs[kept], weights[kept])
        self._cache: dict[str, Any] = {}
        self._map_back(X, weights)
        return self

    def prepare(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[Any, Array, Array]:
        """Check rows, labels and weights, as `fit` does; sets ``classes_``.

        Returns
        -------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        signs : ndarray of shape (n_samples,)
            Labels as -1 (``classes_[0]``) and +1 (``classes_[1]``).
        weights : ndarray of shape (n_samples,)
            C_i = C * class weight * sample_weight_i.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size > 2:
            raise UserError(
                "Only binary classification is supported. "
                f"The type of the target is {type_of_target(y)}."
            )
        weights = check_weights(sample_weight, X)
        if np.unique(codes[weights > 0]).size < 2:
            raise UserError(
                "y has one class only among the rows of positive weight; give rows of two classes"
            )
        signs = np.where(codes == 1, 1.0, -1.0)
        return X, signs, self._scaled(weights, np.asarray(y))

    def decision_function(self, X: Any) -> Array:
        """Values of f; positive for ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        solution = self._solution
        values = products(self._X, solution.beta, X, self.kernel, self._gamma)
        return np.asarray(values + solution.intercept)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of new rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return np.asarray(self.classes_[(values > 0).astype(np.intp)])

    def spans(self, method: str = "closed") -> Array:
        """Squared spans S_p^2 of the support vectors.

        Parameters
        ----------
        method : {"closed", "qp", "boxed"}
            "closed": one Cholesky factor for all, the box dropped as Theorem 2 allows. "qp": the
            same by one cvxopt programme each, as the paper does. "boxed": with the box of
            equation (31); infinite where Lambda_p is empty (Lemma 1).

        Returns
        -------
        ndarray of shape (n_support,)
            S_p^2 in the order of ``support_``.
        """
        kernel = self._support_kernel()
        if method == "closed":
            found = closed_spans(kernel)
        elif method == "qp":
            found = qp_spans(kernel)
        elif method == "boxed":
            found = boxed_spans(kernel, non_empty_sets(self._solution))
        else:
            raise UserError(f'method is {method!r}; give "closed", "qp" or "boxed"')
        return np.asarray(found[np.argsort(support_order(self._solution))])

    @property
    def span_rule_(self) -> float:
        """Estimated leave-one-out error (Corollary 1), from the closed-form spans."""
        return span_rule(self._fitted(), self._support_kernel())

    @property
    def span_bound_(self) -> float:
        """Bound on the expected test error (Theorem 1); it can exceed 1."""
        return self.span_bound_parts_.value

    @property
    def span_bound_parts_(self) -> SpanBound:
        """Theorem 1's bound with S, D, k and m."""
        solution = self._fitted()
        if "bound" not in self._cache:
            kernel = self._support_kernel()
            self._cache["bound"] = span_bound(solution, kernel, self._kernel_range())
        parts: SpanBound = self._cache["bound"]
        return parts

    @property
    def xi_alpha_(self) -> float:
        """The xi-alpha estimate of the error: share of rows with 2 alpha_i R^2 + xi_i >= 1."""
        return xi_alpha(self._fitted(), self._kernel_range())

    def _fitted(self) -> DualSolution:
        check_is_fitted(self)
        return self._solution

    def _support_kernel(self) -> SupportKernel:
        """Kernel of the support vectors, in-bound ones first; computed once."""
        s = self._fitted()
        if "kernel" not in self._cache:
            order, n = support_order(s), int(s.in_bound.sum())
            inside, outside = self._X[order[:n]], self._X[order[n:]]
            K_FF = gram(inside, None, self.kernel, self._gamma) if n else np.empty((0, 0))
            full = n and order.size > n
            K_FB = gram(inside, outside, self.kernel, self._gamma) if full else None
            self._cache["kernel"] = SupportKernel(
                K_FF=K_FF,
                K_FB=np.empty((n, order.size - n)) if K_FB is None else K_FB,
                diag_B=self._diagonal(outside),
                y=s.y[order],
                alpha=s.alpha[order],
                C=s.C[order],
            )
        kernel: SupportKernel = self._cache["kernel"]
        return kernel

    def _diagonal(self, rows: Any) -> Array:
        if self.kernel == "rbf":
            return np.ones(rows.shape[0])
        squares = rows.multiply(rows) if sp.issparse(rows) else rows * rows
        return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()

    def _kernel_range(self) -> KernelRange:
        if "range" not in self._cache:
            self._cache["range"] = kernel_range(gram(self._X, None, self.kernel, self._gamma))
        size: KernelRange = self._cache["range"]
        return size

    def _train(self, signs: Array, weights: Array) -> DualSolution:
        compiled = self.solver == "compiled" or (
            self.solver == "auto" and signs.size <= MAX_KERNEL_ROWS
        )
        if compiled:
            K = gram(self._X, None, self.kernel, self._gamma)
            return train_on_kernel(K, signs, weights, tol=self.tol)
        return train_libsvm(self._X, signs, weights, self.kernel, self._gamma, self.tol)

    def _map_back(self, X: Any, weights: Array) -> None:
        """Set the attributes by original row; rows of weight 0 have alpha 0."""
        s, kept, n = self._solution, self._kept, weights.size
        self.weights_ = weights
        self.alpha_ = np.zeros(n)
        self.alpha_[kept] = s.alpha
        self.in_bound_, self.bounded_ = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        self.in_bound_[kept], self.bounded_[kept] = s.in_bound, s.bounded
        self.support_ = np.flatnonzero(self.in_bound_ | self.bounded_)
        self.intercept_, self.kkt_residual_ = s.intercept, s.violation
        self.decision_values_ = np.empty(n)
        self.decision_values_[kept] = s.decision
        dropped = np.flatnonzero(weights == 0)
        if dropped.size:
            values = products(self._X, s.beta, X[dropped], self.kernel, self._gamma)
            self.decision_values_[dropped] = values + s.intercept

    def _scaled(self, weights: Array, y: NDArray[Any]) -> Array:
        """C times the class weights times the instance weights."""
        if self.class_weight is None:
            return self.C * weights
        factors = compute_class_weight(
            dict(self.class_weight) if isinstance(self.class_weight, Mapping) else "balanced",
            classes=self.classes_,
            y=y,
        )
        if not (np.isfinite(factors).all() and (factors > 0).all()):
            raise UserError(
                f"class_weight is {self.class_weight!r}; give each class a positive number"
            )
        return np.asarray(self.C * weights * factors[np.searchsorted(self.classes_, y)])

    def _check_parameters(self) -> None:
        if not _positive(self.C):
            raise UserError(f"C is {self.C!r}; give a positive number")
        if not _positive(self.tol):
            raise UserError(f"tol is {self.tol!r}; give a positive number, such as 1e-6")
        if self.kernel not in ("rbf", "linear"):
            raise UserError(f'kernel is {self.kernel!r}; give "rbf" or "linear"')
        if self.solver not in ("auto", "compiled", "libsvm"):
            raise UserError(f'solver is {self.solver!r}; give "auto", "compiled" or "libsvm"')


def _positive(value: Any) -> bool:
    number = isinstance(value, (int, float, np.integer, np.floating))
    return bool(number and not isinstance(value, bool) and np.isfinite(value) and value > 0)
