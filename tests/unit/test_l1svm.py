"""L1-norm SVMs by linear programming: bounds, agreement of solvers and of methods."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from marginlab.errors import UserError
from marginlab.mrc.box_lp import open_box_lp
from marginlab.mrc.l1svm import bounds_binary, bounds_multi, svm_ccg, svm_lp, svm_multi
from marginlab.mrc.lp import BudgetError


def two_classes(seed=0, n=160, m=12, shift=0.7):
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = random.normal(size=(n, m))
    X[:, :3] += shift * y[:, None]
    return X, y


def test_value_by_hand():
    # Points -1 and +1 on a line: beta = 1 separates with margin 1, and costs lam.
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    model = svm_lp(X, y, 0.25)
    assert model.objective == pytest.approx(0.25, abs=1e-9)
    assert model.coef == pytest.approx([1.0])


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_generation_equals_the_whole_program(solver):
    X, y = two_classes()
    whole = svm_lp(X, y, 0.5, solver="highs")
    parts = svm_ccg(X, y, 0.5, solver=solver, n_max=20, m_max=3)
    assert parts.objective == pytest.approx(whole.objective, rel=1e-4)
    assert parts.rounds > 1
    assert parts.samples < len(y)
    assert parts.gap <= 1e-4


def test_csr_gives_the_same():
    X, y = two_classes()
    X[np.abs(X) < 0.5] = 0.0
    dense = svm_ccg(X, y, 0.5, n_max=30, m_max=4)
    packed = svm_ccg(sparse.csr_matrix(X), y, 0.5, n_max=30, m_max=4)
    assert packed.objective == pytest.approx(dense.objective, rel=1e-6)


def test_binary_against_scikit_learn():
    from sklearn.svm import LinearSVC

    # liblinear's L1 penalty goes with the squared hinge, so only the rules are compared.
    X, y = two_classes(n=400, shift=1.2)
    ours = svm_lp(X, y, 1.0)
    theirs = LinearSVC(penalty="l1", dual=False, C=1.0, max_iter=10_000).fit(X, y)
    same = np.mean(ours.predict(X) == (theirs.decision_function(X) > 0))
    assert same > 0.97


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 5.0))
def test_bounds_hold_for_any_weights(seed, lam):
    X, y = two_classes(seed % 7, n=60, m=5)
    random = np.random.default_rng(seed)
    best = svm_lp(X, y, lam).objective
    alpha = random.uniform(-0.2, 1.2, size=len(y))
    upper, lower = bounds_binary(X, y, random.normal(size=5), random.normal(), alpha, lam)
    assert lower <= best + 1e-6
    assert upper >= best - 1e-6


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_multi_class_is_certified(solver):
    random = np.random.default_rng(3)
    y = np.arange(90) % 3
    X = random.normal(size=(90, 4))
    X[np.arange(90), y] += 1.5
    model = svm_multi(X, y, 0.3, solver=solver)
    assert model.gap <= 1e-4
    assert model.coef.shape == (3, 4)
    other = model.coef + random.normal(size=(3, 4))
    upper, _ = bounds_multi(X, y, other, model.intercept, np.zeros((90, 3)), 0.3)
    assert upper > model.lower_bound
    assert np.mean(model.predict(X) == y) > 0.7


def test_two_classes_agree_with_the_binary_one():
    # With two classes and B_1 = -B_0 the multi-class hinge is the binary one of 2 beta.
    X, y = two_classes(n=80, m=4)
    binary = svm_lp(X, y, 0.4)
    multi = svm_multi(X, (y > 0).astype(int), 0.4)
    assert multi.objective == pytest.approx(binary.objective, rel=1e-5)


@pytest.mark.parametrize("solve", [svm_lp, svm_ccg])
def test_interior_point_and_simplex_agree(solve):
    X, y = two_classes(n=150, m=12)
    simplex, interior = (solve(X, y, 0.4, solver=s) for s in ("highs", "highs-ipm"))
    assert interior.objective == pytest.approx(simplex.objective, rel=1e-6)
    assert interior.lower_bound <= simplex.objective * (1 + 1e-9)
    assert interior.gap <= 1e-6


def test_interior_point_and_simplex_agree_with_many_classes():
    X, y = two_classes(n=90, m=4)
    labels = (y > 0).astype(int) + (X[:, 0] > 0.5)
    simplex, interior = (svm_multi(X, labels, 0.4, solver=s) for s in ("highs", "highs-ipm"))
    assert interior.objective == pytest.approx(simplex.objective, rel=1e-6)


def test_mistakes_are_told():
    X, y = two_classes(n=20)
    with pytest.raises(UserError, match="-1 and \\+1"):
        svm_lp(X, np.arange(20), 1.0)
    with pytest.raises(UserError, match="positive"):
        svm_lp(X, y, 0.0)
    with pytest.raises(UserError, match="every class present"):
        svm_multi(X, np.full(20, 2), 1.0)
    with pytest.raises(UserError, match="use one of highs, highs-ipm, cbc"):
        open_box_lp("gurobi")
    with pytest.raises(BudgetError, match="time budget"):
        svm_lp(X, y, 1.0, time_limit=0.0)
