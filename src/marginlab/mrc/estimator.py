"""Minimax risk classifiers as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from marginlab.errors import ConfigError, SolverError
from marginlab.mrc.ccg import CcgOptions, solve_ccg
from marginlab.mrc.choice import MANY_FEATURES, choose
from marginlab.mrc.compact import solve_compact
from marginlab.mrc.estimates import MrcProblem, make_problem
from marginlab.mrc.features import FourierFeatures, Matrix, hstack_ones, unique_rows
from marginlab.mrc.full_lp import solve_full_lp
from marginlab.mrc.history import MrcResult
from marginlab.mrc.ipm import solve_interior
from marginlab.mrc.lp import BudgetError
from marginlab.mrc.lp_cbc import CbcMaster, CbcMpsMaster
from marginlab.mrc.lp_highs import HighsMaster
from marginlab.mrc.lp_ipm import InteriorMaster
from marginlab.mrc.probabilities import label_probabilities
from marginlab.mrc.subgradient import solve_subgradient

__all__ = ["MinimaxRiskClassifier"]

METHODS = ("auto", "ccg", "lp", "compact", "subgradient")
MASTERS: dict[str, Any] = {
    "highs": HighsMaster,
    "cbc": CbcMaster,
    "cbc-mps": CbcMpsMaster,
    "ipm": InteriorMaster,
}
SOLVERS = ("auto", *MASTERS, "highs-ipm")
FEATURES = ("linear", "fourier")


class MinimaxRiskClassifier(ClassifierMixin, BaseEstimator):
    """0-1 minimax risk classifier, learned with a certificate.

    Minimises the worst-case error probability over all distributions whose feature
    means lie within ``lambda_0`` standard deviations of the sample means. The
    optimum itself, ``minimax_risk_``, bounds the error of the rule for every such
    distribution.

    Parameters
    ----------
    features : {"linear", "fourier"}, default "linear"
        psi(x) = (1, x), or (1, random Fourier features of x).
    n_components : int, default 400
        Number of random Fourier features, one half cosines, one half sines.
    gamma : float or "1/d", default "1/d"
        Kernel width of the Fourier features; "1/d" means 1 / (d var(X)).
    lambda_0 : float, default 0.01
        Width of the uncertainty set in standard deviations.
    method : {"auto", "ccg", "lp", "compact", "subgradient"}, default "auto"
        Constraint and column generation, the linear program with all constraints,
        its polynomial exact form, or subgradient descent; "auto" chooses by size
        (see `marginlab.mrc.choice`): "ccg" below 100 components of Phi, from there on
        "compact" by our own interior point, for sparse text "ccg" or a whole program.
    solver : {"auto", "highs", "highs-ipm", "cbc", "cbc-mps", "ipm"}, default "auto"
        HiGHS, HiGHS's interior point ("lp" and "compact" only), CBC through PuLP,
        CBC on an MPS file written straight from the arrays, or our own interior
        point ("ccg" and "compact" only).
    eps_1, eps_2 : float, default 1e-2 and 1e-5
        Violations from which constraints and features are generated.
    n_max : int, optional
        Most constraints generated in a round; default 100, or 400 if features are
        generated too.
    m_max : int, default 100
        Most features generated in a round.
    max_rounds : int, default 1000
        Most rounds of generation.
    generate_features : bool or "auto", default "auto"
        Generate features as well (large n and m); "auto" does so for sparse X with
        more than 5000 columns.
    max_iter : int, optional
        Iterations of "subgradient"; default 150,000 (two labels) or 15,000.
    time_limit : float, optional
        Wall seconds for the fit; beyond it a BudgetError is raised.
    memory_limit : float, optional
        Memory in MiB that a full linear program may need.
    random_state : int, RandomState or None
        Draw of the Fourier features.

    Attributes
    ----------
    minimax_risk_ : float
        Worst-case error probability R.
    lower_bound_, upper_bound_ : float
        Bounds on the optimal R*, recomputed in NumPy from the solver's answer.
    dual_violation_ : float
        Largest violation of a dual constraint in that answer.
    coef_ : ndarray of shape (1, d + 1) or (n_classes, d + 1)
        Coefficients mu by label block; column 0 is the intercept.
    history_ : DataFrame
        One row a round: iteration, seconds, cpu_seconds, risk, lower, upper,
        violation, constraints, features.
    method_, solver_ : str
        What was used (what "auto" chose).
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MinimaxRiskClassifier().fit(X, y)
    >>> bool(model.upper_bound_ - model.lower_bound_ < 0.011)
    True
    """

    def __init__(
        self,
        features: str = "linear",
        n_components: int = 400,
        gamma: float | str = "1/d",
        lambda_0: float = 0.01,
        method: str = "auto",
        solver: str = "auto",
        eps_1: float = 1e-2,
        eps_2: float = 1e-5,
        n_max: int | None = None,
        m_max: int = 100,
        max_rounds: int = 1000,
        generate_features: bool | str = "auto",
        max_iter: int | None = None,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.gamma = gamma
        self.lambda_0 = lambda_0
        self.method = method
        self.solver = solver
        self.eps_1 = eps_1
        self.eps_2 = eps_2
        self.n_max = n_max
        self.m_max = m_max
        self.max_rounds = max_rounds
        self.generate_features = generate_features
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> MinimaxRiskClassifier:
        """Learn mu and the minimax risk.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
            Two or more labels.

        Raises
        ------
        ConfigError
            If a parameter is unknown or out of range.
        SolverError
            If no answer passes its check, or a budget does not suffice.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        problem = self._problem(X, y)
        result = self._solve(problem)
        self.minimax_risk_ = result.risk
        # The two meet to rounding at an exact optimum.
        self.lower_bound_, self.upper_bound_ = min(result.lower, result.upper), result.upper
        self.dual_violation_ = result.dual_violation
        self.coef_ = problem.original_units(result.mu)
        self.history_ = result.history
        self.n_iter_ = len(result.history)
        return self

    def make_problem(self, X: Any, y: Any) -> MrcProblem:
        """The minimax risk problem (3) that `fit` would solve (for comparisons)."""
        self._check_parameters()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        return self._problem(X, y)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores Phi(x, y) . mu.

        Returns
        -------
        ndarray of shape (n,) for two labels (positive: ``classes_[1]``), else
        (n, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        blocks = np.asarray(self._psi(X) @ self.coef_.T)
        return -blocks[:, 0] if len(self.classes_) == 2 else blocks

    def predict(self, X: Any) -> np.ndarray:
        """Labels argmax_y Phi(x, y) . mu, shape (n,)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities h(y|x) of the randomised minimax rule.

        ``upper_bound_`` bounds the error of labels drawn at these probabilities, for
        every distribution of the training rows in the uncertainty set; they are no
        estimates of P(y|x). The largest is at the label of `predict`. The formula is
        that of `marginlab.mrc.probabilities`: the scores of a row, less what makes
        their positive parts sum to one.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Columns in the order of ``classes_``; rows sum to one.
        """
        return label_probabilities(self.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _problem(self, X: Matrix, y: np.ndarray) -> MrcProblem:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ConfigError(
                f"y has one class only ({self.classes_.tolist()[0]!r}); "
                "a classifier needs two or more."
            )
        self._fourier = self._draw(X)
        return make_problem(self._psi(X), codes, len(self.classes_), self.lambda_0, unique_rows(X))

    def _draw(self, X: Matrix) -> FourierFeatures | None:
        if self.features == "linear":
            return None
        random = check_random_state(self.random_state)
        return FourierFeatures.draw(X.shape[1], self.n_components, self._gamma(X), random)

    def _gamma(self, X: Matrix) -> float:
        if self.gamma != "1/d":
            return float(self.gamma)
        mean = float(X.mean())
        square = float(X.multiply(X).mean()) if sp.issparse(X) else float((X * X).mean())
        variance = square - mean**2 if sp.issparse(X) else float(X.var())
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _psi(self, X: Matrix) -> Matrix:
        X = sp.csr_array(X) if sp.issparse(X) else X
        return hstack_ones(X if self._fourier is None else self._fourier(X))

    def _solve(self, problem: MrcProblem) -> MrcResult:
        seconds = float("inf") if self.time_limit is None else float(self.time_limit)
        self.method_, self.solver_ = choose(problem, self.method, self.solver)
        try:
            return self._run(problem, seconds)
        except BudgetError:
            raise
        except SolverError:
            # "auto" may have picked the interior point; generation is the safe way.
            if self.solver != "auto" or self.solver_ == "highs":
                raise
            self.method_ = "ccg" if self.method == "auto" else self.method
            self.solver_ = "highs"
            return self._run(problem, seconds)

    def _run(self, problem: MrcProblem, seconds: float) -> MrcResult:
        memory, solver = self.memory_limit, self.solver_
        solve: Callable[[], MrcResult] = {
            "ccg": lambda: self._generate(problem, seconds),
            "lp": lambda: solve_full_lp(problem, solver, seconds, memory),
            "compact": lambda: self._compact(problem, seconds),
            "subgradient": lambda: solve_subgradient(problem, self.max_iter, seconds),
        }[self.method_]
        return solve()

    def _compact(self, problem: MrcProblem, seconds: float) -> MrcResult:
        if self.solver_ == "ipm":
            tolerance = min(float(self.eps_1), 1e-6)
            return solve_interior(problem, max(tolerance, 1e-9), seconds, self.memory_limit)
        return solve_compact(problem, self.solver_, seconds, self.memory_limit)

    def _generate(self, problem: MrcProblem, seconds: float) -> MrcResult:
        grow = self.generate_features
        if grow == "auto":
            psi = problem.phi.psi
            grow = sp.issparse(psi) and psi.shape[1] > MANY_FEATURES
        options = CcgOptions(
            eps_1=self.eps_1,
            eps_2=self.eps_2,
            n_max=(400 if grow else 100) if self.n_max is None else self.n_max,
            m_max=self.m_max,
            max_rounds=self.max_rounds,
            seconds=seconds,
            grow_features=bool(grow),
        )
        return solve_ccg(problem, MASTERS[self.solver_], options)

    def _check_parameters(self) -> None:
        _one_of("features", self.features, FEATURES)
        _one_of("method", self.method, METHODS)
        _one_of("solver", self.solver, SOLVERS)
        if self.method == "ccg" and self.solver == "highs-ipm":
            raise ConfigError(
                "solver='highs-ipm' cannot be used for generation: "
                f"choose one of {', '.join(MASTERS)}, or method='lp' or 'compact'."
            )
        if self.method == "lp" and self.solver == "ipm":
            raise ConfigError(
                "solver='ipm' solves the compact form, not all constraints: "
                "use method='compact', or another solver."
            )
        for name in ("lambda_0", "eps_1", "eps_2"):
            value: Any = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not value >= 0:
                raise ConfigError(f"{name}={value!r} must be a number of at least 0.")
        for name in ("n_max", "m_max", "max_rounds"):
            value = getattr(self, name)
            if name == "n_max" and value is None:
                continue
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ConfigError(f"{name}={value!r} must be a whole number of at least 1.")
        if self.gamma != "1/d" and (isinstance(self.gamma, str) or not self.gamma > 0):
            raise ConfigError(f"gamma={self.gamma!r} must be '1/d' or a number above 0.")


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name}={value!r} is not known: choose one of {', '.join(allowed)}.")
