import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.svm import SVC

from marginlab.errors import SolverError, UserError
from marginlab.svm.active_set import KKT_TOLERANCE, solve_l1, solve_l2, train_subsets
from marginlab.svm.kernels import rbf_gram
from marginlab.svm.subset_kernels import decay


def _problem(seed, n=40, d=3, C=100.0, duplicates=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(1)
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    if duplicates:
        X[4], X[5] = X[0], X[1]
        y[5] = -y[1]
    return X, y, np.full(n, C)


def _residual_l2(K, y, cost, beta, b):
    # written from the optimality conditions, independently of the solver's own check
    f = K @ beta + b
    alpha = y * beta
    slack = np.maximum(0, 1 - y * f)
    return max(np.abs(alpha / cost - slack).max(), abs(beta.sum()), max(0, -alpha.min()))


def _residual_l1(K, y, cost, beta, b):
    alpha, margin = y * beta, y * (K @ beta + b)
    low = np.where(alpha < cost, np.maximum(0, 1 - margin), 0)
    high = np.where(alpha > 0, np.maximum(0, margin - 1), 0)
    box = max(0, -alpha.min(), (alpha - cost).max())
    return max(low.max(), high.max(), box, abs(beta.sum()))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(6, 60),
    C=st.sampled_from([0.01, 1.0, 100.0, 1e4]),
    gamma=st.sampled_from([0.01, 0.3, 5.0]),
)
def test_l2_reaches_the_optimum(seed, n, C, gamma):
    X, y, cost = _problem(seed, n, C=C)
    K = rbf_gram(X, None, gamma)
    beta, b, residual, steps = solve_l2(K, y, cost)
    assert steps < 50
    scale = max(1.0, np.abs(beta).sum())
    assert residual <= 1e-13 * scale + 1e-11
    assert _residual_l2(K, y, cost, beta, b) <= 1e-12 * scale + 1e-11


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 40), C=st.sampled_from([0.01, 1.0, 100.0]))
def test_l1_reaches_the_optimum(seed, n, C):
    X, y, cost = _problem(seed, n, C=C)
    K = rbf_gram(X, None, 0.3)
    beta, b, residual, _ = solve_l1(K, y, cost)
    assert residual <= KKT_TOLERANCE
    assert _residual_l1(K, y, cost, beta, b) <= 2 * KKT_TOLERANCE


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_l2_against_libsvm(seed, C):
    X, y, cost = _problem(seed, C=C)
    K = rbf_gram(X, None, 0.3)
    beta, b, _, _ = solve_l2(K, y, cost)
    # the L2 loss is a hard margin on K + I/C
    peer = SVC(kernel="precomputed", C=1e10, tol=1e-10).fit(K + np.eye(len(y)) / C, y)
    expected = K[:, peer.support_] @ peer.dual_coef_[0] + peer.intercept_[0]
    assert np.abs(K @ beta + b - expected).max() < 1e-4


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_l1_against_libsvm(seed, C):
    X, y, cost = _problem(seed, C=C)
    K = rbf_gram(X, None, 0.3)
    beta, b, _, _ = solve_l1(K, y, cost)
    peer = SVC(kernel="precomputed", C=C, tol=1e-10).fit(K, y)
    expected = K[:, peer.support_] @ peer.dual_coef_[0]
    assert np.abs(K @ beta - expected).max() < 1e-4
    # without a free support vector the offset is an interval, and both ends are optimal
    if ((np.abs(beta) > 0) & (np.abs(beta) < C)).any():
        assert abs(b - peer.intercept_[0]) < 1e-4


@pytest.mark.parametrize("loss", ["l2", "l1"])
def test_dense_and_sparse_rows_agree(loss):
    X, y, cost = _problem(3, n=80, d=12)
    X *= np.random.default_rng(0).random(X.shape) < 0.4
    subsets = np.random.default_rng(1).integers(0, 80, (30, 25))
    dense = train_subsets(X, y, subsets, cost, 0.2, loss)
    sparse = train_subsets(sp.csr_matrix(X), y, subsets, cost, 0.2, loss)
    for j in range(30):
        K = rbf_gram(X, X[subsets[j]], 0.2)
        gap = K @ (dense.beta[j] - sparse.beta[j]) + dense.intercept[j] - sparse.intercept[j]
        assert np.abs(gap).max() < 1e-7
    assert max(dense.residual.max(), sparse.residual.max()) <= KKT_TOLERANCE


def test_unequal_costs_weigh_the_classes():
    X, y, _ = _problem(5, n=60)
    K = rbf_gram(X, None, 0.3)
    plain = solve_l2(K, y, np.ones(60))
    tilted = solve_l2(K, y, np.where(y > 0, 10.0, 1.0))
    assert _residual_l2(K, y, np.where(y > 0, 10.0, 1.0), *tilted[:2]) < 1e-10
    assert (K @ tilted[0] + tilted[1] > 0).sum() > (K @ plain[0] + plain[1] > 0).sum()


def test_one_class_subset_is_constant():
    X, y, cost = _problem(0)
    subsets = np.vstack([np.flatnonzero(y > 0)[:5], np.flatnonzero(y < 0)[:5]])
    trained = train_subsets(X, y, subsets, cost, 0.3)
    assert not trained.beta.any()
    assert trained.intercept.tolist() == [1.0, -1.0]


def test_the_line_search_is_exercised_and_ends():
    # large C and heavy overlap make full steps overshoot
    most = 0
    for seed in range(200):
        X, y, cost = _problem(seed, n=60, d=1, C=1e4)
        *_, residual, steps = solve_l2(rbf_gram(X, None, 5.0), y, cost)
        most = max(most, steps)
        assert residual < 1e-8
    assert 4 < most < 50


def test_an_answer_that_does_not_check_is_refused():
    X, y, cost = _problem(0)
    subsets = np.arange(40).reshape(1, 40)
    with pytest.raises(SolverError, match="KKT residual"):
        train_subsets(X * np.nan, y, subsets, cost, 0.3)


def test_unknown_loss():
    X, y, cost = _problem(0)
    with pytest.raises(UserError, match="loss"):
        train_subsets(X, y, np.arange(40).reshape(1, 40), cost, 0.3, "hinge")


def test_l1_with_exact_duplicates_ends():
    # between duplicates the gain of a move is rounding only
    rng = np.random.default_rng(0)
    X = (rng.random((40, 8)) < 0.5).astype(float)
    X = np.vstack([X, X[:20]])
    y = np.where(X.sum(axis=1) + rng.normal(size=60) > 4, 1.0, -1.0)
    y[40:] = y[:20]
    subsets = rng.integers(0, 60, (100, 45))
    trained = train_subsets(sp.csr_matrix(X), y, subsets, np.full(60, 100.0), 1 / 8, "l1")
    assert trained.steps.max() < 100_000
    assert trained.residual.max() <= KKT_TOLERANCE


@pytest.mark.parametrize("loss", ["l2", "l1"])
def test_a_very_large_cost_still_ends(loss):
    X, y, _ = _problem(1, n=50)
    trained = train_subsets(X, y, np.arange(50).reshape(1, 50), np.full(50, 1e6), 0.3, loss)
    assert trained.residual[0] < 1e-6


@settings(deadline=None, max_examples=60)
@given(
    arrays(float, st.integers(1, 80), elements=st.floats(0, 1e6)),
    st.floats(1e-6, 10.0),
)
def test_decay_is_the_exponential(x, gamma):
    value = x.copy()
    decay(value, len(x), gamma, np.empty(len(x)))
    right = np.exp(np.maximum(-gamma * x, -690.0))
    assert value == pytest.approx(right, rel=3e-14, abs=0.0)
    assert (value[x == 0.0] == 1.0).all()


def test_decay_keeps_nan_and_leaves_the_rest_alone():
    x = np.array([np.nan, np.inf, 1.0, 5.0])
    decay(x, 3, 1.0, np.empty(4))
    assert np.isnan(x[0])
    assert 0.0 < x[1] < 1e-299
    assert x[3] == 5.0


@pytest.mark.parametrize("columns", [3, 40, 5000])
def test_sparse_and_dense_rows_give_the_same_machines(columns):
    """Also where rows share no column, are empty, or are drawn twice."""
    random = np.random.default_rng(columns)
    X = sp.random(60, columns, density=min(0.3, 40 / columns), format="csr", random_state=1)
    X = X.multiply((np.arange(60) != 7)[:, None]).tocsr()
    X = sp.csr_array(X)
    X.eliminate_zeros()
    y = np.where(random.random(60) < 0.5, 1.0, -1.0)
    subsets = random.integers(0, 60, (20, 16))
    cost = np.full(60, 5.0)
    both = [train_subsets(Z, y, subsets, cost, 0.3) for Z in (X, X.toarray())]
    assert both[0].beta == pytest.approx(both[1].beta, abs=1e-11)
    assert both[0].intercept == pytest.approx(both[1].intercept, abs=1e-11)
