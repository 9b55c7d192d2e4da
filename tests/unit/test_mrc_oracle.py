"""The greedy oracle, the estimates and the certificate against brute force."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from marginlab.mrc.certificate import lower_bound, objective, upper_bound
from marginlab.mrc.estimates import estimates, make_problem
from marginlab.mrc.features import FeatureMap, FourierFeatures, LabelMap, hstack_ones, unique_rows
from marginlab.mrc.full_lp import all_subsets
from marginlab.mrc.oracle import (
    cyclic_pick,
    most_violated_subsets,
    sample_maximum,
    violated_features,
)
from marginlab.mrc.probabilities import label_probabilities


def draw(seed, n=30, d=3, k=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    codes = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    return hstack_ones(X + codes[:, None]), codes


def phi_of(psi_row, label, k):
    """Phi(x, y) written out."""
    if k == 2:
        return psi_row if label == 0 else -psi_row
    out = np.zeros((k, len(psi_row)))
    out[label] = psi_row
    return out.ravel()


@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(0.01, 3.0))
def test_oracle_is_the_maximum_over_all_subsets(seed, k, spread):
    scores = np.random.default_rng(seed).normal(scale=spread, size=(7, k))
    subsets = all_subsets(k)
    values = (scores @ subsets.T - 1.0) / subsets.sum(axis=1)
    np.testing.assert_allclose(sample_maximum(scores), values.max(axis=1), atol=1e-12)
    chosen = most_violated_subsets(scores)
    attained = ((scores * chosen).sum(axis=1) - 1.0) / chosen.sum(axis=1)
    np.testing.assert_allclose(attained, values.max(axis=1), atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_estimates_are_mean_and_deviation_of_phi(k):
    psi, codes = draw(1, k=k)
    phi = np.array([phi_of(row, c, k) for row, c in zip(psi, codes, strict=True)])
    tau, lam = estimates(psi, codes, k, 0.3)
    np.testing.assert_allclose(tau, phi.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(lam, 0.3 * phi.std(axis=0), atol=1e-13)
    tau_s, lam_s = estimates(sp.csr_array(psi), codes, k, 0.3)
    np.testing.assert_allclose(tau_s, tau, atol=1e-13)
    np.testing.assert_allclose(lam_s, lam, atol=1e-12)


def test_estimates_keep_digits_of_a_column_far_from_zero():
    psi, codes = draw(2)
    shifted = psi.copy()
    shifted[:, 1] += 1e6
    _, lam = estimates(shifted, codes, 3, 1.0)
    phi = np.array([phi_of(row, c, 3) for row, c in zip(shifted, codes, strict=True)])
    np.testing.assert_allclose(lam, phi.std(axis=0), rtol=1e-9)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_feature_map_operations(k, sparse):
    psi, _ = draw(3, k=4)
    phi = FeatureMap(sp.csr_array(psi) if sparse else psi, LabelMap(k))
    random = np.random.default_rng(0)
    mu, weights = random.normal(size=phi.n_features), random.random((len(psi), k))
    full = np.array([[phi_of(row, y, k) for y in range(k)] for row in psi])
    np.testing.assert_allclose(phi.scores(mu), full @ mu, atol=1e-12)
    adjoint = np.einsum("iy,iym->m", weights, full)
    np.testing.assert_allclose(phi.adjoint(weights), adjoint, atol=1e-12)
    samples, subsets = np.array([0, 5, 5]), np.eye(k, dtype=bool)[[0, 1, 1]]
    subsets[2, 0] = True
    rows = phi.rows(samples, subsets)
    rows = rows.toarray() if sparse else rows
    share = subsets / subsets.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows, np.einsum("ry,rym->rm", share, full[samples]), atol=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_any_mu_bounds_from_above_and_any_distribution_from_below(seed, k):
    psi, codes = draw(seed, k=k)
    problem = make_problem(psi, codes, k, 0.2, np.arange(len(psi)))
    random = np.random.default_rng(seed)
    mu = random.normal(scale=0.3, size=problem.phi.n_features)
    weights = random.random((len(psi), k)) * np.eye(k)[codes] + 0.05 * random.random((len(psi), k))
    lower, _ = lower_bound(problem, problem.phi, weights)
    assert 0.0 <= lower <= upper_bound(problem, mu) + 1e-12
    assert objective(problem, 0 * mu, -1.0 / k) == pytest.approx(1.0 - 1.0 / k)
    assert upper_bound(problem, 0 * mu) == pytest.approx(1.0 - 1.0 / k)


def test_unique_rows_of_dense_and_sparse_agree():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    assert unique_rows(X).tolist() == [0, 1, 4]
    assert unique_rows(sp.csr_array(X)).tolist() == [0, 1, 4]


def test_fourier_features_approximate_the_kernel():
    random = np.random.RandomState(0)
    X = random.normal(size=(6, 3))
    features = FourierFeatures.draw(3, 40_000, 0.4, random)(X)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(features @ features.T, np.exp(-0.4 * squared), atol=0.03)


def test_cyclic_pick_goes_round():
    assert cyclic_pick(np.array([1, 4, 7, 9]), 5, 3).tolist() == [7, 9, 1]
    assert cyclic_pick(np.array([], dtype=int), 5, 3).tolist() == []


def test_violated_features_takes_the_worst():
    residual, lam = np.array([0.5, -0.9, 0.2, 3.0]), np.full(4, 0.1)
    active = np.array([False, False, False, True])
    assert violated_features(residual, lam, active, 0.05, 10).tolist() == [0, 1, 2]
    assert violated_features(residual, lam, active, 0.05, 1).tolist() == [1]


def test_label_probabilities_are_the_minimax_rule():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 5):
        scores = rng.normal(size=(200, n_classes)) * rng.choice([0.1, 1.0, 10.0], size=(200, 1))
        decision = scores
        if n_classes == 2:
            scores = np.column_stack([-scores[:, 0], scores[:, 0]])
            decision = scores[:, 1]
        h = label_probabilities(decision)
        np.testing.assert_allclose(h.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(h.argmax(axis=1), scores.argmax(axis=1))
        # The condition of a minimax rule, phi(mu) by all subsets of all samples.
        subsets = [
            list(c) for k in range(1, n_classes + 1) for c in combinations(range(n_classes), k)
        ]
        phi = max(((scores[:, c].sum(axis=1) - 1) / len(c)).max() for c in subsets)
        assert (h >= scores - phi - 1e-12).all()
    np.testing.assert_array_equal(label_probabilities(np.array([[1e18, 0, -1e18]])), [[1, 0, 0]])
    # Two small scores: the rule as it is published, (s - phi)+ over its sum, with phi = -1/2.
    s = np.array([-0.5, -0.1, 0.0, 0.3])
    np.testing.assert_allclose(label_probabilities(s)[:, 1], 0.5 + s)
