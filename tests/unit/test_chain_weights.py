"""The chain's weights, folds and choices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginlab.datasets.generators import two_gaussians
from marginlab.experiments.chain_weights import (
    choose,
    confidence,
    logistic_weights,
    loo_errors,
    rank_correlation,
    stratified_folds,
)
from marginlab.seeds import rng
from marginlab.svm.dual import train_on_kernel
from marginlab.svm.kernels import rbf_gram
from marginlab.svm.span_rules import span_rule, support_kernel


@given(A=st.floats(0.1, 20), B=st.floats(0, 1), sigma=st.floats(0.001, 0.9))
def test_weights_rise_from_sigma_to_one(A, B, sigma):
    q = np.linspace(0, 1, 21)
    weights = logistic_weights(q, A, B, sigma)
    assert (np.diff(weights) >= 0).all()
    assert (weights > sigma * 0.999).all()
    assert (weights < 1 + 1e-12).all()
    middle = logistic_weights(np.array([B]), A, B, sigma)[0]
    assert middle == pytest.approx((1 + sigma) / 2)


def test_confidence_is_agreement_for_given_and_unanimity_for_corrected_labels():
    votes = np.array([0.9, 0.9, 0.2, 0.5])
    y = np.array([1, -1, -1, 1])
    assert confidence(votes, y, corrected=False) == pytest.approx([0.9, 0.1, 0.8, 0.5])
    assert confidence(votes, y, corrected=True) == pytest.approx([0.8, 0.8, 0.6, 0.0])


@settings(deadline=None, max_examples=40)
@given(y=st.lists(st.sampled_from([-1, 1]), min_size=10, max_size=80), k=st.integers(2, 5))
def test_folds_are_a_partition_and_spread_each_class(y, k):
    y = np.array(y)
    folds = stratified_folds(y, k, np.random.default_rng(0))
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(y.size))
    for label in (-1, 1):
        counts = [(y[test] == label).sum() for _, test in folds]
        assert max(counts) - min(counts) <= 1
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) + len(test) == y.size


def test_ties_go_to_the_smallest_weights_among_the_candidates():
    values = np.array([0.1, 0.1, 0.1, 0.0])
    total = np.array([3.0, 2.0, 1.0, 0.5])
    candidates = np.array([True, True, False, False])
    assert choose(values, candidates, total) == 1


def test_rank_correlation_of_a_constant_is_unknown():
    assert np.isnan(rank_correlation(np.ones(5), np.arange(5.0)))
    assert rank_correlation(np.arange(5.0), np.arange(5.0) ** 3) == pytest.approx(1)


@pytest.fixture(scope="module")
def noisy_problem():
    X, y = two_gaussians(80, rng(1, "chain test"), d=3, beta=0.4, variance=0.5)
    noisy = y.copy()
    noisy[:12] *= -1
    return X, y, noisy


def test_loo_errors_are_the_span_rule_and_predict_what_retraining_predicts(noisy_problem):
    X, clean, y = noisy_problem
    K = np.ascontiguousarray(rbf_gram(X, None, 1 / 3))
    solution = train_on_kernel(K, y.astype(float), np.full(y.size, 2.0))
    support = support_kernel(solution, K)
    wrong = loo_errors(solution, support)
    assert wrong.mean() == pytest.approx(span_rule(solution, support))
    predicted = np.where(wrong, -y, y)
    truth = np.empty_like(y)
    for p in range(y.size):
        keep = np.arange(y.size) != p
        part = np.ascontiguousarray(K[np.ix_(keep, keep)])
        left = train_on_kernel(part, y[keep].astype(float), np.full(keep.sum(), 2.0))
        truth[p] = 1 if left.beta @ K[keep, p] + left.intercept > 0 else -1
    assert (predicted == truth).mean() > 0.93
    # read against the clean labels, the span-rule estimates the error against them
    assert (predicted != clean).mean() == pytest.approx((truth != clean).mean(), abs=0.06)
