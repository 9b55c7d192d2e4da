"""The interior point's matrix by blocks, against the same matrix in full."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginlab.mrc import ipm_gram
from marginlab.mrc.compact import solve_compact
from marginlab.mrc.estimates import make_problem
from marginlab.mrc.features import hstack_ones, unique_rows
from marginlab.mrc.ipm import solve_interior
from marginlab.mrc.ipm_blocks import BlockForm, few_samples
from marginlab.mrc.ipm_gram import NormalMatrix
from marginlab.mrc.presolve import presolve


def wide_problem(seed=0, n=40, d=30, k=4):
    """Fewer samples than components; some pixels are never set in one class."""
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    X = random.normal(size=(n, d)) + np.eye(k)[codes] @ random.normal(size=(k, d))
    X[:, 0] = np.where(codes == 0, 0.0, np.abs(X[:, 0]))
    return make_problem(hstack_ones(X), codes, k, 0.02, unique_rows(X))


def weights(problem, spread, seed):
    """What the elimination of the samples leaves, over ``spread`` powers of ten."""
    random = np.random.default_rng(seed)
    samples = presolve(problem, problem.phi)
    n, k = samples.closed.shape
    a, b = 10.0 ** random.uniform(-spread, spread, (2, n, k))
    g = a / (a + b)
    kappa = 10.0 ** random.uniform(-spread, spread, n) + (1.0 / (a + b)).sum(axis=1)
    ridge = 10.0 ** random.uniform(-spread, spread, samples.kept.sum())
    return samples, (b * g, g, kappa, ridge)


def in_full(samples, h, g, kappa, ridge):
    """diag(ridge) + A H A^T, column by column from H's definition."""
    phi, full = samples.phi, np.zeros((len(ridge), len(ridge)))
    rows = np.stack([phi.scores(unit) for unit in np.eye(phi.n_features)])[samples.kept]
    for i in range(phi.n_samples):
        H = np.diag(h[i]) + np.outer(g[i], g[i]) / kappa[i]
        full += rows[:, i] @ H @ rows[:, i].T
    return full + np.diag(ridge)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), spread=st.floats(0.0, 3.0))
def test_solves_of_both_forms_agree_with_the_matrix(seed, spread):
    samples, parts = weights(wide_problem(seed % 7), spread, seed)
    assert samples.closed.any(), "a block with fewer components than the others"
    matrix = NormalMatrix()
    matrix.use(samples)
    assert matrix.block_form is not None
    full = in_full(samples, *parts)
    rhs = np.random.default_rng(seed).normal(size=len(full))
    for form in ("by blocks", "in full"):
        if form == "in full":
            matrix.block_form = None
        matrix.factor(*parts)
        x = matrix.solve(rhs)
        # Both are backward stable: the residual is small against what was added up.
        scale = np.abs(full) @ np.abs(x) + np.abs(rhs)
        assert (np.abs(full @ x - rhs) / scale).max() < 1e-10, form


def test_a_form_that_would_lose_its_digits_gives_way():
    samples, (h, g, kappa, ridge) = weights(wide_problem(), 1.0, 0)
    matrix = NormalMatrix()
    matrix.use(samples)
    form = matrix.block_form
    root = g / np.sqrt(kappa)[:, None]
    assert form.factor(h, root, ridge)
    assert not form.factor(1e-14 * h, root, 1e-14 * ridge), "I + R B^-1 R^T beyond its limit"
    matrix.factor(1e-14 * h, g, kappa, 1e-14 * ridge)
    assert matrix.block_form is None, "the m x m factor takes over"
    full = in_full(samples, 1e-14 * h, g, kappa, 1e-14 * ridge)
    x = matrix.solve(full @ np.ones(len(full)))
    assert full @ x == pytest.approx(full @ np.ones(len(full)), rel=1e-6)


def test_refinement_brings_the_digits_back():
    samples, (h, g, kappa, ridge) = weights(wide_problem(), 1.0, 1)
    matrix = NormalMatrix()
    matrix.use(samples)
    matrix.factor(1e-8 * h, g, kappa, 1e-8 * ridge)
    assert matrix.block_form is not None
    assert matrix.block_form.loss > 1e-9
    rhs = matrix._product(np.ones(len(ridge)))
    once = np.linalg.norm(matrix._product(matrix.block_form.solve(rhs)) - rhs)
    refined = np.linalg.norm(matrix._product(matrix.solve(rhs)) - rhs)
    assert refined <= ipm_gram.EXACT * np.linalg.norm(rhs) < once


@pytest.mark.parametrize("sizes", [[500], [60, 60, 60]])
def test_the_form_by_blocks_is_for_few_samples_and_several_blocks(sizes):
    assert few_samples(50, sizes) == (len(sizes) > 1)
    assert not few_samples(5000, sizes)


@pytest.mark.parametrize("seed", range(4))
def test_either_form_gives_the_same_risk(seed, monkeypatch):
    problem = wide_problem(seed)
    risks = [solve_compact(problem, "highs").risk]
    used = []
    true_factor = BlockForm.factor

    def spied(self, *parts):
        used.append(true_factor(self, *parts))
        return used[-1]

    monkeypatch.setattr(BlockForm, "factor", spied)
    risks.append(solve_interior(problem, 1e-7).risk)
    assert used.count(True) >= 5
    monkeypatch.setattr(ipm_gram, "few_samples", lambda n, sizes: False)
    risks.append(solve_interior(problem, 1e-7).risk)
    assert risks == pytest.approx([risks[0]] * 3, abs=2e-7)
