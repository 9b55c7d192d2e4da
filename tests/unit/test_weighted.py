"""WeightedSVC: scikit-learn's checks, LIBSVM as a peer, weights, and clear errors."""

import cvxopt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginlab.errors import SolverError, UserError
from marginlab.svm.box_qp import feasible_start, solve_box_qp
from marginlab.svm.dual import train_on_kernel, train_path
from marginlab.svm.free_newton import _drop
from marginlab.svm.kernels import linear_gram, rbf_gram
from marginlab.svm.weighted import WeightedSVC


def sample(seed=0, n=80, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = (-1.0, 1.0)
    return X, y, np.exp(rng.normal(size=n))


@parametrize_with_checks([WeightedSVC()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("C", [0.05, 1.0, 64.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_same_machine_as_libsvm(C, seed):
    X, y, w = sample(seed)
    ours = WeightedSVC(C=C).fit(X, y, sample_weight=w)
    peer = SVC(C=C, gamma=1 / 3, tol=1e-8).fit(X, y, sample_weight=w)
    assert ours.kkt_residual_ <= 1e-6
    new = np.random.default_rng(9).normal(size=(50, 3))
    if ours.in_bound_.any():
        np.testing.assert_allclose(
            ours.decision_function(new), peer.decision_function(new), atol=2e-4
        )


@given(st.integers(0, 10**6), st.floats(-5, 9), st.floats(-5, 9))
@settings(max_examples=25, deadline=None)
def test_every_solution_meets_the_conditions_of_optimality(seed, up, down):
    X, y, w = sample(seed, n=40)
    C = w * np.where(y > 0, 2.0**up, 2.0**down)
    s = train_on_kernel(rbf_gram(X, None, 0.5), y, C)
    assert s.violation <= 1e-6
    assert np.all((s.alpha >= 0) & (s.alpha <= C))
    assert abs(s.y @ s.alpha) <= 1e-9 * C.sum()


def test_a_path_gives_what_separate_training_gives():
    X, y, w = sample()
    K = rbf_gram(X, None, 0.5)
    for s in train_path(K, y, [w * 2.0**c for c in range(-4, 9)]):
        alone = train_on_kernel(K, y, s.C)
        if alone.in_bound.any():
            np.testing.assert_allclose(s.decision, alone.decision, atol=2e-5)


def test_zero_weights_are_rows_that_are_not_there():
    X, y, w = sample()
    w[5:20] = 0.0
    whole, cut = WeightedSVC().fit(X, y, w), WeightedSVC().fit(X[w > 0], y[w > 0], w[w > 0])
    np.testing.assert_allclose(whole.alpha_[w > 0], cut.alpha_, atol=1e-9)
    assert not whole.alpha_[5:20].any()
    assert not np.isin(whole.support_, np.arange(5, 20)).any()
    assert whole.span_rule_ == cut.span_rule_
    np.testing.assert_allclose(whole.decision_values_, whole.decision_function(X), atol=1e-10)


def test_sparse_rows_and_any_two_labels():
    X, y, w = sample()
    dense = WeightedSVC().fit(X, np.where(y > 0, "yes", "no"), w)
    thin = WeightedSVC().fit(sparse.csr_matrix(X), np.where(y > 0, "yes", "no"), w)
    np.testing.assert_allclose(dense.decision_values_, thin.decision_values_, atol=1e-8)
    assert set(dense.predict(X)) == {"yes", "no"}


@pytest.mark.parametrize(
    ("weights", "said"),
    [([-1.0], "row 3 is -1"), ([np.nan], "row 3 is nan"), ([np.inf], "row 3 is inf")],
)
def test_bad_weights_are_named(weights, said):
    X, y, w = sample()
    w[3] = weights[0]
    with pytest.raises(UserError, match=said):
        WeightedSVC().fit(X, y, w)


def test_one_class_left_and_bad_parameters_are_named():
    X, y, w = sample()
    with pytest.raises(UserError, match="one class"):
        WeightedSVC().fit(X, y, np.where(y > 0, w, 0.0))
    for wrong in ({"C": -1}, {"tol": 0}, {"kernel": "poly"}, {"solver": "x"}, {"gamma": "a"}):
        with pytest.raises(UserError, match=next(iter(wrong))):
            WeightedSVC(**wrong).fit(X, y)
    with pytest.raises(NotFittedError):
        _ = WeightedSVC().span_rule_


def overlapping(n=600):
    """Two features, labels that do not depend on them: a kernel of rank far below n."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    return rbf_gram(X, None, 0.5), np.where(rng.random(n) < 0.2, 1.0, -1.0)


@pytest.mark.parametrize("C", [256.0, 4096.0, 2.0**16])
def test_large_C_on_a_kernel_of_low_rank(C):
    K, y = overlapping()
    s = train_on_kernel(K, y, np.full(y.size, C))
    assert s.violation <= 1e-6
    slack = np.maximum(0.0, 1.0 - y * s.decision).sum()
    bend = s.beta @ K @ s.beta
    primal, dual = bend / 2 + C * slack, s.alpha.sum() - bend / 2
    assert abs(primal - dual) <= 1e-8 * dual


def test_large_C_on_a_kernel_of_low_rank_costs_few_rounds():
    K, y = overlapping()
    lo, hi = np.where(y > 0, 0.0, -4096.0), np.where(y > 0, 4096.0, 0.0)
    solved = solve_box_qp(K, y, lo, hi, np.zeros(y.size), max_rounds=200)
    assert solved.violation <= 1e-6


def test_large_C_on_a_kernel_of_low_rank_has_the_optimum_of_an_interior_point():
    K, y = overlapping(300)
    n, C = y.size, 4096.0
    cvxopt.solvers.options["show_progress"] = False
    box = np.vstack([np.diag(-y), np.diag(y)])
    edge = np.concatenate([np.zeros(n), np.full(n, C)])
    peer = cvxopt.solvers.qp(
        *map(cvxopt.matrix, (K, -y, box, edge, np.ones((1, n)))), cvxopt.matrix(0.0)
    )
    s = train_on_kernel(K, y, np.full(n, C))
    ours = s.beta @ K @ s.beta / 2 - y @ s.beta
    assert ours <= peer["primal objective"] * (1 - 1e-9)  # negative: at least as low
    assert ours == pytest.approx(peer["primal objective"], rel=1e-6)


def test_many_free_variables_at_the_start_of_a_singular_problem():
    K, y = overlapping()
    lo, hi = np.where(y > 0, 0.0, -256.0), np.where(y > 0, 256.0, 0.0)
    start = feasible_start(np.where(y > 0, 128.0, -1.0), lo, hi, 0.0)
    assert ((start > lo) & (start < hi)).all()
    again = solve_box_qp(K, y, lo, hi, start)
    first = solve_box_qp(K, y, lo, hi, np.zeros(y.size))
    assert again.violation <= 1e-6
    assert again.x @ (again.gradient - y) == pytest.approx(first.x @ (first.gradient - y), rel=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 25), st.floats(-2, 12))
@settings(max_examples=60, deadline=None)
def test_linear_kernels_are_solved_with_few_rounds(seed, d, power):
    # in-bound rows are one more than the rank: singular without the constraint on the sum
    X, y, w = sample(seed, n=60, d=d)
    C = w * 2.0**power
    lo, hi = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    solved = solve_box_qp(linear_gram(X, None), y, lo, hi, np.zeros(60), max_rounds=200)
    assert solved.violation <= 1e-6
    assert abs(solved.x.sum()) <= 1e-12 * C.sum()


def test_rounding_excuses_no_more_than_the_usual_tolerance():
    X, y, w = sample()
    K = linear_gram(1e5 * X, None)
    with pytest.raises(SolverError, match="scale the features"):
        train_on_kernel(K, y, w * 1e6)
    assert train_on_kernel(K * 1e-10, y, w * 1e6).violation <= 1e-3


@pytest.mark.parametrize("gone", [0, 3, 6])
def test_a_factor_loses_a_row_and_column(gone):
    A = np.random.default_rng(2).normal(size=(7, 9))
    upper = np.ascontiguousarray(np.linalg.cholesky(A @ A.T).T)
    _drop(upper, 7, gone)
    kept = np.delete(np.arange(7), gone)
    left = np.triu(upper[:6, :6])
    np.testing.assert_allclose(left.T @ left, (A @ A.T)[np.ix_(kept, kept)], atol=1e-12)


def test_fixed_variables_stay_and_the_sum_is_kept():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(12, 12))
    lo, hi = np.zeros(12), np.ones(12)
    hi[4] = 0.0
    start = np.where(hi > 0, 1 / 11, 0.0)
    r = solve_box_qp(np.ascontiguousarray(A @ A.T), rng.normal(size=12), lo, hi, start, 1e-9)
    assert r.violation <= 1e-9
    assert r.x[4] == 0.0
    assert r.x.sum() == pytest.approx(1.0)
