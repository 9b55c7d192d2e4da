"""The interior point that takes up samples, and what lambda = 0 settles beforehand."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from marginlab.mrc import ipm, ipm_samples
from marginlab.mrc.certificate import upper_bound
from marginlab.mrc.compact import compact_lp, solve_compact
from marginlab.mrc.estimates import make_problem
from marginlab.mrc.features import FourierFeatures, hstack_ones, unique_rows
from marginlab.mrc.full_lp import solve_full_lp
from marginlab.mrc.ipm import solve_interior
from marginlab.mrc.oracle import maxima_above, sample_maximum
from marginlab.mrc.presolve import presolve


def overlapping(k, n=400, d=4, fourier=0, lambda_0=0.02, seed=None):
    random = np.random.default_rng(k if seed is None else seed)
    codes = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    X = random.normal(size=(n, d)) + 0.8 * np.eye(max(k, d))[codes][:, :d]
    if fourier:
        X = FourierFeatures.draw(d, fourier, 0.5, np.random.RandomState(0))(X)
    return make_problem(hstack_ones(X), codes, k, lambda_0, unique_rows(X))


def pixels(seed, n=60, k=4, d=12, sparse=False):
    """Non-negative counts; some columns are never set in some classes, or at all."""
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    on = random.random((k, d)) < 0.5
    X = random.integers(1, 9, (n, d)) * on[codes] * (random.random((n, d)) < 0.6)
    X = X.astype(float)
    rows = unique_rows(X)
    return make_problem(hstack_ones(sp.csr_array(X) if sparse else X), codes, k, 0.02, rows)


@pytest.fixture
def few_at_first(monkeypatch):
    monkeypatch.setattr(ipm_samples, "FIRST", 20)
    monkeypatch.setattr(ipm_samples, "JOIN", 15)


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("fourier", [0, 20])
def test_samples_that_join_give_the_optimum_of_all(few_at_first, k, fourier):
    problem = overlapping(k, fourier=fourier)
    n = problem.phi.n_samples
    assert len(ipm_samples.first_samples(problem)) < n / 4
    result = solve_interior(problem, 1e-7)
    assert result.risk == pytest.approx(solve_compact(problem, "highs").risk, abs=1e-6)
    assert result.upper == upper_bound(problem, result.mu), "the bound counts every sample"
    assert -1e-12 <= result.upper - result.lower <= 1e-7 + 1e-12
    held = result.history["constraints"] / (k + 1)
    assert (np.diff(held) >= 0).all()
    assert held.iloc[0] < held.iloc[-1] < n
    assert (np.diff(result.history["risk"]) >= 0).all()
    assert (np.diff(result.history["upper"]) <= 0).all()


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n", [60, 400])
def test_equalities_only(few_at_first, k, n):
    """lambda_0 = 0: weights that miss an equality must not pass as a lower bound."""
    problem = overlapping(k, n=n, lambda_0=0.0)
    result = solve_interior(problem, 1e-6)
    assert result.risk == pytest.approx(solve_compact(problem, "highs").risk, abs=2e-6)
    assert -1e-7 <= result.upper - result.lower <= 1e-6
    assert result.dual_violation <= 1e-8


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [3, 5])
def test_equalities_whose_intercepts_move_like_v(few_at_first, k, seed):
    """The corner of v is then a difference of equal sums: it was 0, and the step not finite."""
    problem = overlapping(k, n=150, lambda_0=0.0, seed=seed)
    result = solve_interior(problem, 1e-6)
    assert result.risk == pytest.approx(solve_compact(problem, "highs").risk, abs=2e-6)
    assert result.dual_violation <= 1e-8


def test_few_samples_are_all_taken_from_the_start():
    problem = overlapping(3, n=50)
    history = solve_interior(problem, 1e-6).history
    assert (history["constraints"] == problem.phi.n_samples * 4).all()


def test_a_start_without_some_labels_is_bounded_by_the_centres(few_at_first, monkeypatch):
    problem = overlapping(4)
    label = presolve(problem, problem.phi).phi.psi[:, 1]
    monkeypatch.setattr(ipm, "first_samples", lambda _: np.argsort(-label)[:10])
    result = solve_interior(problem, 1e-7)
    assert result.risk == pytest.approx(solve_compact(problem, "highs").risk, abs=1e-6)


def test_a_column_seen_only_outside_the_start_is_no_trap(few_at_first):
    """Its coefficient is free on the first samples: the step must be cut, not followed."""
    random = np.random.default_rng(3)
    X = random.normal(size=(300, 3))
    codes = np.concatenate([np.arange(3), (X[3:, 0] + random.normal(size=297) > 0) + 0])
    rare = np.zeros((300, 2))
    rare[[5, 101, 202], 0] = 1000.0
    rare[[7, 55], 1] = 1e-2
    X = np.hstack([X, rare])
    problem = make_problem(hstack_ones(X), codes, 3, 0.02, np.arange(300))
    result = solve_interior(problem, 1e-7)
    assert result.risk == pytest.approx(solve_compact(problem, "highs").risk, abs=1e-6)
    assert result.upper == upper_bound(problem, result.mu)


def test_a_run_that_breaks_down_begins_again_with_the_samples_it_had(few_at_first, monkeypatch):
    problem, true_advance, calls = overlapping(3), ipm.advance, []

    def breaks(point, *rest):
        true_advance(point, *rest)
        calls.append(len(point.z))
        if len(calls) == 12:
            point.plus *= np.nan

    monkeypatch.setattr(ipm, "advance", breaks)
    result = solve_interior(problem, 1e-7)
    assert calls[11] <= calls[12] + 3, "the working set is kept (the centres among it)"
    assert calls[0] < calls[12]
    assert result.upper - result.lower <= 1e-7 + 1e-12
    assert (np.diff(result.history["risk"]) >= 0).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_components_without_width_are_settled_beforehand(seed, sparse):
    problem = pixels(seed, sparse=sparse)
    reduced = presolve(problem, problem.phi)
    assert not reduced.kept.all()
    assert reduced.closed.any()
    result = solve_interior(problem, 1e-8)
    full = solve_full_lp(problem, "highs")
    assert result.risk == pytest.approx(full.risk, abs=1e-6)
    assert result.upper == upper_bound(problem, result.mu)
    assert result.upper - result.lower <= 1e-8 + 1e-12
    assert result.dual_violation <= 1e-8


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_closed_pairs_have_no_weight_in_any_distribution(seed):
    """The largest weight that the uncertainty set allows them together is zero."""
    from scipy.optimize import linprog

    problem = pixels(seed, n=24, k=3, d=6)
    closed = presolve(problem, problem.phi).closed
    lp = compact_lp(problem)
    n, k = closed.shape
    moments = lp.columns[: n * k, : 1 + problem.phi.n_features].toarray().T
    low, high = lp.low[: len(moments)], lp.high[: len(moments)]
    done = linprog(
        -closed.ravel().astype(float),
        np.vstack([moments, -moments]),
        np.concatenate([high + 1e-12, -low + 1e-12]),
        method="highs",
    )
    assert -done.fun <= 1e-7


def test_restored_coefficients_keep_closed_pairs_below_the_maximum():
    problem = pixels(5)
    reduced = presolve(problem, problem.phi)
    mu = np.random.default_rng(0).normal(size=int(reduced.kept.sum()))
    open_scores = np.where(reduced.closed, -np.inf, reduced.scores(mu))
    maximum = float(sample_maximum(np.maximum(open_scores, -1e6)).max())
    scores = problem.phi.scores(reduced.restore(mu, maximum))
    assert (scores[reduced.closed] <= maximum + 1e-9).all()
    assert sample_maximum(scores).max() == pytest.approx(maximum, abs=1e-9)
    same = ~reduced.closed
    assert scores[same] == pytest.approx(open_scores[same], abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(
    arrays(float, st.tuples(st.integers(1, 12), st.integers(2, 7)), elements=st.floats(-5, 5)),
    st.floats(-5, 5),
)
def test_maxima_above_a_level_are_those_of_sorting(scores, level):
    every = sample_maximum(scores)
    rows, maxima = maxima_above(scores, level)
    assert maxima == pytest.approx(every[rows])
    assert (every[np.setdiff1d(np.arange(len(every)), rows)] <= level + 1e-9).all()
    assert (maxima >= level - 1e-9).all()
