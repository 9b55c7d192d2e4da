"""SpanSearch: grid search for weighted SVMs by an estimate from each single model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from marginlab.errors import UserError
from marginlab.progress import progress
from marginlab.svm.folds import make_folds
from marginlab.svm.grid import Fold, cross_validate, estimates, train_grid
from marginlab.svm.kernels import resolve_gamma
from marginlab.svm.libsvm import gram
from marginlab.svm.span_rules import kernel_range
from marginlab.svm.weighted import WeightedSVC

__all__ = ["CRITERIA", "SpanSearch", "tied_best"]

Array = NDArray[np.float64]

CRITERIA = ("span_rule", "span_bound", "xi_alpha", "cv")
#: Reasons to set a model aside, as ``SpanSearch.results_`` names them.
NO_IN_BOUND, UNSOLVED = "no in-bound support vector", "not solved to tol"
_TIES = ("worst", "smallest", "first")
_PLAIN = ("C", "gamma", "kernel", "class_weight")
#: Rows above which the kernel matrix would not fit an ordinary machine (8 GB).
MAX_ROWS = 32768


def tied_best(values: Array, usable: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Positions of the smallest value among the usable models.

    Parameters
    ----------
    values : ndarray of shape (n_models,)
    usable : ndarray of bool of shape (n_models,)

    Returns
    -------
    ndarray of int
        None at all if every usable value is NaN.
    """
    usable = usable & ~np.isnan(values)
    lowest = values[usable].min(initial=np.inf)
    return np.flatnonzero(usable & (values <= lowest + 1e-12))


class SpanSearch(ClassifierMixin, BaseEstimator):
    """Grid search for `WeightedSVC` by the span-rule, another estimate, or cross-validation.

    Parameters
    ----------
    estimator : WeightedSVC
        Gives every parameter that the grid does not.
    param_grid : dict or list of dict
        As in scikit-learn's GridSearchCV, for "C", "gamma", "kernel" and "class_weight"
        (dictionaries from label to factor). With "weight_map" (functions from scores to weights)
        the ``sample_weight`` given to `fit` are scores, and every other name in the grid is an
        argument of these functions.
    criterion : {"span_rule", "span_bound", "xi_alpha", "cv"}, default="span_rule"
        What is minimised.
    cv : int or splitter, default=5
        Folds of "cv", as in GridSearchCV; stratified ones at most as many as the rarest class
        has rows.
    ties : {"worst", "smallest", "first"}, default="worst"
        Which of the models with the same smallest value is taken: the one with the largest
        xi-alpha value (the paper reports the worst outcome among ties; test labels are not
        known here, so the pessimistic estimate stands for it), the one with the smallest total
        weight, or the first of the grid.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        Smallest value of the criterion: an estimate of the error rate.
    best_index_ : int
        Row of ``results_``.
    best_estimator_ : WeightedSVC
        Trained on all rows with the best parameters.
    results_ : DataFrame
        One row a model: ``param_*`` and ``params``, the criterion, xi_alpha, total_weight,
        n_in_bound, n_support, set_aside, reason (why it was set aside, or ""), rank.
    n_set_aside_ : int
        Models left out of the choice: those without an in-bound support vector, since their
        intercept is not unique, and those of ``n_unsolved_``.
    n_unsolved_ : int
        Models whose training, on all rows or on a fold, did not reach ``tol``.

    Notes
    -----
    The kernel matrix is computed once for each gamma, and models with proportional weights are
    trained one from the other; the answers are those of separate training.

    Examples
    --------
    >>> import numpy as np
    >>> from marginlab import SpanSearch, WeightedSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2)) + np.repeat([[1.0, 0.0], [-1.0, 0.0]], 60, axis=0)
    >>> y = np.repeat([1, 0], 60)
    >>> search = SpanSearch(WeightedSVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1.0]}).fit(X, y)
    >>> sorted(search.best_params_)
    ['C', 'gamma']
    """

    def __init__(
        self,
        estimator: WeightedSVC,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        criterion: str = "span_rule",
        cv: Any = 5,
        *,
        ties: str = "worst",
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.criterion = criterion
        self.cv = cv
        self.ties = ties
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SpanSearch:
        """Train every model of the grid, choose one and train it on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Instance weights; with a "weight_map" in the grid, its scores.

        Returns
        -------
        SpanSearch
            Itself.

        Raises
        ------
        UserError
            If the grid, the criterion, the folds, labels or weights cannot be used, or if every
            model of the grid is set aside.
        """
        self._check()
        X, y = indexable(X, y)
        grid = _expand(self.param_grid)
        data = _Prepared(self.estimator, grid, X, y, sample_weight)
        rows = self._rows(data)
        self.results_ = self._ranked(grid, rows)
        self.n_set_aside_ = int(self.results_["set_aside"].sum())
        self.n_unsolved_ = int((self.results_["reason"] == UNSOLVED).sum())
        self.best_index_ = self._choose()
        self.best_params_ = dict(grid[self.best_index_])
        self.best_score_ = float(self.results_[self.criterion][self.best_index_])
        self.best_estimator_ = data.fit_one(self.best_index_)
        self.classes_ = self.best_estimator_.classes_
        self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of new rows by the best estimator; X of shape (n_samples, n_features)."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> Array:
        """Values of f of the best estimator; positive for ``classes_[1]``."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of the best estimator on X of shape (n_samples, n_features) and y."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y, sample_weight))

    def _rows(self, data: _Prepared) -> list[dict[str, float]]:
        """Criterion and counts of every model, by position in the grid."""
        found: list[dict[str, float]] = [{} for _ in range(len(data.weights))]
        folds = data.folds(self.cv) if self.criterion == "cv" else []
        for members, K in data.kernels():
            weights = [data.weights[i] for i in members]
            self._estimate(data, members, weights, K, found)
            if self.criterion == "cv":
                values, _ = cross_validate(
                    K, data.signs, weights, folds, data.tol, self._watch("folds")
                )
                for i, value in zip(members, values, strict=True):
                    found[i]["cv"] = float(value)
        return found

    def _estimate(
        self,
        data: _Prepared,
        members: list[int],
        weights: list[Array],
        K: Array,
        found: list[dict[str, float]],
    ) -> None:
        size = kernel_range(K)
        names = {"xi_alpha", "n_in_bound", "n_support", self.criterion} - {"cv"}
        models = train_grid(K, data.signs, weights, data.tol)
        for i, solution in self._watch("models", len(weights))(models):
            row = estimates(solution, K, size, sorted(names))
            total = float(weights[i].sum())
            found[members[i]] = {**row, "total_weight": total, "unsolved": not solution.solved}

    def _watch(self, label: str, total: int | None = None) -> Callable[[Iterable[Any]], Any]:
        if not self.verbose:
            return iter
        return lambda items: progress(items, f"span search, {label}", total)

    def _ranked(self, grid: list[dict[str, Any]], rows: list[dict[str, float]]) -> pd.DataFrame:
        """Parameters, values and rank of all models; models set aside rank last."""
        names = list(dict.fromkeys(name for params in grid for name in params))
        columns: dict[str, list[Any]] = {
            f"param_{name}": [params.get(name) for params in grid] for name in names
        }
        table = pd.DataFrame({**columns, "params": grid})
        table = pd.concat([table, pd.DataFrame(rows)], axis=1)
        counts = ["n_in_bound", "n_support"]
        table[counts] = table[counts].astype(int)
        not_solved = table["unsolved"] | table[self.criterion].isna()
        table["set_aside"] = not_solved | (table["n_in_bound"] == 0)
        table["reason"] = np.where(table["set_aside"], NO_IN_BOUND, "")
        table.loc[not_solved, "reason"] = UNSOLVED
        table = table.drop(columns="unsolved")
        judged = table[self.criterion].where(~table["set_aside"], np.inf)
        table["rank"] = judged.rank(method="min").astype(int)
        return table

    def _choose(self) -> int:
        table = self.results_
        usable = ~table["set_aside"].to_numpy()
        if not usable.any():
            raise UserError(
                f"none of the {len(table)} models of param_grid has a support vector inside its "
                f"bounds, so no intercept is unique; give larger values of C or gamma"
                if not self.n_unsolved_
                else f"none of the {len(table)} models of param_grid can be chosen: "
                f"{self.n_unsolved_} were not solved to tol, the others have no support vector "
                f"inside their bounds; scale the features, give smaller values of C, or raise tol"
            )
        tied = tied_best(table[self.criterion].to_numpy(dtype=np.float64), usable)
        if self.ties == "worst":
            return int(tied[np.argmax(table["xi_alpha"].to_numpy()[tied])])
        if self.ties == "smallest":
            return int(tied[np.argmin(table["total_weight"].to_numpy()[tied])])
        return int(tied[0])

    def _check(self) -> None:
        if not isinstance(self.estimator, WeightedSVC):
            raise UserError(f"estimator is {self.estimator!r}; give a WeightedSVC")
        if self.criterion not in CRITERIA:
            raise UserError(
                f"criterion is {self.criterion!r}; give one of {', '.join(map(repr, CRITERIA))}"
            )
        if self.ties not in _TIES:
            raise UserError(f"ties is {self.ties!r}; give one of {', '.join(map(repr, _TIES))}")


class _Prepared:
    """Checked data of a search: rows of positive weight, and the weights of every model."""

    def __init__(
        self,
        estimator: WeightedSVC,
        grid: list[dict[str, Any]],
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
    ) -> None:
        self._estimator, self._grid = estimator, grid
        self._X, self._y, self._given = X, y, sample_weight
        checked = [self._checked(params) for params in grid]
        kept = np.flatnonzero(checked[0][2] > 0)
        for params, (_, _, weights) in zip(grid, checked, strict=True):
            if not np.array_equal(np.flatnonzero(weights > 0), kept):
                raise UserError(
                    f"the weights of {params} are 0 on other rows than those of the first model; "
                    f"let every model of param_grid keep the same rows"
                )
        if kept.size > MAX_ROWS:
            raise UserError(
                f"X has {kept.size} rows of positive weight, more than the {MAX_ROWS} whose "
                f"kernel matrix fits in memory; search on a random subsample"
            )
        self.rows, self.signs = checked[0][0][kept], checked[0][1][kept]
        self.kept = kept
        self.weights = [weights[kept] for _, _, weights in checked]
        self.tol = float(estimator.tol)

    def _model(self, params: dict[str, Any]) -> tuple[WeightedSVC, ArrayLike | None]:
        """Unfitted estimator of one grid point and the weights it is trained with."""
        params = dict(params)
        mapped = params.pop("weight_map", None)
        plain = {name: params.pop(name) for name in _PLAIN if name in params}
        model = clone(self._estimator).set_params(**plain)
        if mapped is None:
            return model, self._given
        if self._given is None:
            raise UserError("param_grid has a weight_map, but fit got no scores as sample_weight")
        return model, np.asarray(mapped(np.asarray(self._given, dtype=np.float64), **params))

    def _checked(self, params: dict[str, Any]) -> tuple[Any, Array, Array]:
        model, weights = self._model(params)
        model._check_parameters()
        return model.prepare(self._X, self._y, weights)

    def fit_one(self, index: int) -> WeightedSVC:
        """The model of one grid point, trained."""
        model, weights = self._model(self._grid[index])
        return model.fit(self._X, self._y, sample_weight=weights)

    def kernels(self) -> Iterable[tuple[list[int], Array]]:
        """Grid points that share a kernel, and its matrix."""
        shared: dict[tuple[str, float], list[int]] = {}
        for index, params in enumerate(self._grid):
            kernel = params.get("kernel", self._estimator.kernel)
            gamma = resolve_gamma(params.get("gamma", self._estimator.gamma), self.rows.shape[1])
            shared.setdefault((kernel, gamma), []).append(index)
        for (kernel, gamma), members in shared.items():
            yield members, gram(self.rows, None, kernel, gamma)

    def folds(self, cv: Any) -> list[Fold]:
        """Folds as GridSearchCV makes them of all rows, without the rows of weight 0."""
        return make_folds(cv, self._X, self._y, self.kept)


def _expand(param_grid: Any) -> list[dict[str, Any]]:
    """All points of the grid; one sentence on what is wrong with it."""
    try:
        grid = list(ParameterGrid(param_grid))
    except (TypeError, ValueError) as error:
        raise UserError(f"param_grid cannot be used: {error}") from None
    if not grid:
        raise UserError("param_grid is empty; give at least one value of C")
    for params in grid:
        unknown = [n for n in params if n not in (*_PLAIN, "weight_map")]
        if unknown and "weight_map" not in params:
            raise UserError(
                f"param_grid has {unknown[0]!r}; known are {', '.join(_PLAIN)} and weight_map, "
                f"whose arguments may have any other name"
            )
    return grid
