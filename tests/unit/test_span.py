"""Spans: closed form against cvxopt, Lemma 1, the rules, and the true leave-one-out error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from marginlab.span import (
    SupportKernel,
    boxed_spans,
    closed_spans,
    kernel_range,
    leave_one_out_errors,
    lemma1,
    non_empty_sets,
    premise_holds,
    qp_span,
    qp_spans,
    span_bound,
    span_errors,
    span_rule,
    support_kernel,
    support_order,
    xi_alpha,
)
from marginlab.svm.dual import DualSolution, train_on_kernel
from marginlab.svm.kernels import rbf_gram
from marginlab.svm.weighted import WeightedSVC


def model(seed=0, n=60, up=1.0, down=1.0, spread=0.0, gamma=0.5, copies=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = (-1.0, 1.0)
    X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    C = np.where(y > 0, up, down) * np.exp(spread * rng.normal(size=y.size))
    K = rbf_gram(X, None, gamma)
    return train_on_kernel(K, y, C), K


@pytest.mark.parametrize("weights", [(1, 1, 0), (4, 0.5, 0), (2, 2, 1.0)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_closed_form_equals_the_quadratic_programmes(weights, seed):
    s, K = model(seed, up=weights[0], down=weights[1], spread=weights[2])
    kernel, filled = support_kernel(s, K), non_empty_sets(s)
    closed, boxed = closed_spans(kernel), boxed_spans(kernel, filled)
    far = np.isfinite(closed)
    well = np.linalg.cond(kernel.K_FF) < 1e6
    tol = 1e-8 if well else 1e-6
    np.testing.assert_allclose(closed[far], qp_spans(kernel)[far], atol=tol)
    reference = qp_spans(kernel, box=True, non_empty=filled)
    np.testing.assert_allclose(boxed[filled], reference[filled], atol=1e-6)
    assert np.all(boxed[filled] >= closed[filled] - 1e-8)


@pytest.mark.parametrize("box", [False, True])
def test_programmes_carry_a_certificate(box):
    s, K = model(4, spread=0.8)
    kernel, filled = support_kernel(s, K), non_empty_sets(s)
    for p in np.flatnonzero(filled)[:8]:
        assert qp_span(kernel, int(p), box)[1] <= 1e-6


def test_singular_kernel_and_duplicate_rows_do_not_crash():
    s, K = model(2, n=20, copies=3, up=8, down=8)
    kernel = support_kernel(s, K)
    closed = closed_spans(kernel)
    assert np.all(closed >= 0)
    np.testing.assert_allclose(closed, qp_spans(kernel), atol=1e-6)


@given(st.integers(0, 10**6), st.floats(-4, 8), st.floats(-4, 8), st.floats(0, 1.5))
@settings(max_examples=40, deadline=None)
def test_both_forms_of_lemma_1_agree(seed, up, down, spread):
    s, _ = model(seed, n=40, up=2.0**up, down=2.0**down, spread=spread)
    by_alpha, by_weight = lemma1(s.y, s.alpha, s.C, s.in_bound, s.bounded)
    rows = support_order(s)
    tol = 1e-5 * s.C.max()  # rows within 1e-6 C_i of a bound count as at it
    near = np.minimum(np.abs(by_alpha[rows]), np.abs(by_weight[rows])) <= tol
    assert np.all(((by_alpha[rows] >= 0) == (by_weight[rows] >= 0)) | near)


def test_equality_in_lemma_1_leaves_one_point():
    y = np.array([1.0, 1.0, -1.0])
    alpha, C = np.array([0.5, 0.5, 1.0]), np.ones(3)
    inside, outside = np.array([True, True, False]), np.array([False, False, True])
    assert lemma1(y, alpha, C, inside, outside)[1][0] == 0.0
    K = np.array([[1.0, 0.3, 0.2], [0.3, 1.0, 0.4], [0.2, 0.4, 1.0]])
    s = DualSolution(y, C, alpha, 0.0, y.copy(), 0.0)
    kernel, filled = support_kernel(s, K), non_empty_sets(s)
    assert filled[:2].all()
    assert boxed_spans(kernel, filled)[0] == pytest.approx(1.0 + 1.0 - 2 * 0.3)


def test_one_and_no_in_bound_support_vector():
    kernel = SupportKernel(
        K_FF=np.eye(1),
        K_FB=np.array([[0.5]]),
        diag_B=np.ones(1),
        y=np.array([1.0, -1.0]),
        alpha=np.array([0.5, 0.5]),
        C=np.array([1.0, 0.5]),
    )
    spans = closed_spans(kernel)
    assert np.isinf(spans[0])
    assert spans[1] == pytest.approx(2 - 2 * 0.5)
    empty = SupportKernel(
        np.empty((0, 0)), np.empty((0, 2)), np.ones(2), kernel.y, kernel.alpha, kernel.alpha
    )
    assert np.isinf(closed_spans(empty)).all()
    X, y = np.array([[0.0], [0.1], [3.0], [3.1]]), np.array([1, 1, 0, 0])
    flat = WeightedSVC(C=1e-3).fit(X, y)
    assert not flat.in_bound_.any()
    assert flat.span_rule_ == flat.bounded_.mean()


def test_span_rule_is_near_true_leave_one_out_on_many_models():
    off = []
    for seed in range(4):
        for up in (0.1, 1.0, 10.0, 100.0):
            for down in (0.1, 1.0, 10.0):
                s, K = model(seed, n=150, up=up, down=down)
                if s.in_bound.any():
                    called = span_errors(s, support_kernel(s, K))
                    wrong = leave_one_out_errors(s, K)
                    premise = premise_holds(s, K)
                    assert np.array_equal(called[premise], wrong[premise])
                    off.append(abs(int(called.sum()) - int(wrong.sum())) / s.y.size)
    assert len(off) >= 40
    assert np.mean(off) <= 0.01


def test_leave_one_out_equals_retraining_by_libsvm():
    s, K = model(5, n=30, up=3.0, down=1.0)
    ours = leave_one_out_errors(s, K)
    for p, wrong in zip(support_order(s), ours, strict=True):
        rest = np.delete(np.arange(30), p)
        peer = SVC(kernel="precomputed", C=1.0, tol=1e-8)
        peer.fit(K[np.ix_(rest, rest)], s.y[rest], sample_weight=s.C[rest])
        value = s.y[p] * peer.decision_function(K[p, rest][None])[0]
        assert wrong == (value <= 0) or abs(value) < 1e-4


def test_the_only_row_of_a_class_is_a_leave_one_out_error():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, -1.0])
    K = rbf_gram(X, None, 1.0)
    s = train_on_kernel(K, y, np.full(3, 5.0))
    assert leave_one_out_errors(s, K)[support_order(s) == 0].all()


def test_bound_and_xi_alpha_by_their_definitions():
    s, K = model(1, up=4, down=1, spread=0.3)
    kernel, size = support_kernel(s, K), kernel_range(K)
    parts, filled = span_bound(s, kernel, size), non_empty_sets(s)
    n = kernel.n_in_bound
    assert pytest.approx(np.sqrt(2 * (1 - K.min()))) == parts.D
    assert pytest.approx(boxed_spans(kernel, filled)[:n][filled[:n]].max(), abs=1e-8) == parts.S**2
    reach = kernel.alpha[:n] * np.maximum(parts.D, kernel.C[:n] ** -0.5)
    value = (parts.S * reach[filled[:n]].sum() + parts.k + parts.m) / s.y.size
    assert parts.value == pytest.approx(value)
    slack = np.maximum(0, 1 - s.y * s.decision)
    assert xi_alpha(s, size) == np.mean(2 * s.alpha * (1 - K.min()) + slack >= 1)
    assert span_rule(s, kernel) <= xi_alpha(s, size) + 0.2


def test_estimator_gives_the_same_by_three_methods():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = X[:, 0] + rng.normal(size=50) > 0
    m = WeightedSVC(C=2.0).fit(X, y)
    np.testing.assert_allclose(m.spans("closed"), m.spans("qp"), atol=1e-7)
    assert m.spans("boxed").shape == m.support_.shape
    with pytest.raises(ValueError, match="closed"):
        m.spans("other")
