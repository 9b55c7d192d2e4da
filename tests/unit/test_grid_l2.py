"""The block solver of grids against its certificate, LIBSVM, and properties of the problem."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from marginlab.errors import SolverError, UserError
from marginlab.svm.grid_direct import exact_product, full_newton, newton_target
from marginlab.svm.grid_factor import ActiveSystem
from marginlab.svm.grid_kernel import centred_kernel, shifted_blocks, unique_rows
from marginlab.svm.grid_l2 import direct_guess, kkt_residuals, solve_grid
from marginlab.svm.grid_precondition import Preconditioner, leading_eigenpairs
from marginlab.svm.grid_settle import settle


def _blobs(n, d, seed, gap=1.0):
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.4, 1, -1)
    y[:2] = 1, -1
    return random.standard_normal((n, d)) + gap * y[:, None] / np.sqrt(d), y


def _plain_gram(X, gamma):
    squares = (X**2).sum(axis=1)
    return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))


def _sides(y, costs):
    return [(costs * (y == sign)).astype(np.float32) for sign in (1, -1)]


def _libsvm(gram, y, costs):
    """Decision values of the L2-loss SVM: a hard margin on K + diag(1/C_i)."""
    model = SVC(C=1e10, kernel="precomputed", tol=1e-9).fit(gram + np.diag(1 / costs), y)
    return gram[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]


@pytest.mark.parametrize("gamma", [0.02, 0.5])
def test_agrees_with_libsvm_at_every_grid_point(gamma):
    X, y = _blobs(90, 4, 1)
    gram, kernel = _plain_gram(X, gamma), centred_kernel(X, gamma)
    grid = [(C, W) for C in (1, 100) for W in (0.1, 1, 10)]
    costs = np.stack([np.where(y == 1, C * W, C) for C, W in grid])
    solved = solve_grid(kernel.matrix, *_sides(y, costs), tol=1e-5)
    assert solved.residuals.max() <= 1e-5
    for k in range(len(grid)):
        expected = _libsvm(gram, y, costs[k])
        np.testing.assert_allclose(solved.decisions[k], expected, atol=5e-3)


def test_both_routes_reach_the_same_solution(monkeypatch):
    X, y = _blobs(120, 3, 2)
    kernel = centred_kernel(X, 1.0)
    sides = _sides(y, np.full((1, len(y)), 50.0))
    monkeypatch.setattr("marginlab.svm.grid_l2._PATIENCE", 10**6)
    iterative = solve_grid(kernel.matrix, *sides, tol=1e-5)
    monkeypatch.setattr("marginlab.svm.grid_l2._PATIENCE", -(10**6))
    direct = solve_grid(kernel.matrix, *sides, tol=1e-5)
    assert iterative.factorisations.sum() == 0
    assert direct.factorisations.sum() > 0
    np.testing.assert_allclose(iterative.decisions, direct.decisions, atol=1e-3)


def test_direct_steps_end_with_the_active_set_and_leave_rounding_to_the_certificate():
    random = np.random.default_rng(0)
    X, y = random.random((300, 4)), np.where(random.random(300) < 0.5, 1, -1)
    costs = np.where(y > 0, 1e4, 1e3)[None]
    solved = solve_grid(centred_kernel(X, 2.5).matrix, *_sides(y, costs), tol=1e-3)
    # rounding in the running K beta is above the tolerance here: 24 steps before, now 7
    assert 1 <= solved.factorisations[0] <= 16
    assert solved.residuals[0] <= 1e-3


def test_full_newton_from_all_losses_solves_what_line_searches_do_not():
    random = np.random.default_rng(0)
    X, y = random.random((300, 4)), np.where(random.random(300) < 0.5, 1, -1)
    matrix = centred_kernel(X, 2.5).matrix
    sides = _sides(y, np.where(y > 0, 1e5, 1e4)[None])
    beta, bias, steps = full_newton(matrix, sides[0][0], sides[1][0])
    residuals, _ = kkt_residuals(matrix, beta[None], np.array([bias]), *sides)
    assert residuals[0] <= 1e-5
    assert steps <= 30
    # without it this problem ended in an error
    assert solve_grid(matrix, *sides, tol=1e-3).residuals[0] <= 1e-2


def test_copies_of_a_point_are_a_multiple_of_its_penalty():
    X, y = _blobs(40, 3, 3)
    copies = np.random.default_rng(0).integers(0, 4, len(y))
    copies[:2] = 1
    shared = centred_kernel(X, 0.3)
    bag = solve_grid(shared.matrix, *_sides(y, (10.0 * copies)[None, :]), tol=1e-5)
    rows = np.repeat(np.arange(len(y)), copies)
    expected = _libsvm(_plain_gram(X[rows], 0.3), y[rows], np.full(len(rows), 10.0))
    np.testing.assert_allclose(bag.decisions[0][rows], expected, atol=5e-3)


def test_equal_rows_with_opposite_labels_share_a_row():
    X, y = _blobs(60, 2, 4)
    X = np.round(X)
    rows, index = unique_rows(X)
    assert len(rows) < len(X)
    sides = [
        np.bincount(index, 5.0 * (y == s), len(rows))[None].astype(np.float32) for s in (1, -1)
    ]
    solved = solve_grid(centred_kernel(rows, 0.5).matrix, *sides, tol=1e-5)
    expected = _libsvm(_plain_gram(X, 0.5), y, np.full(len(y), 5.0))
    np.testing.assert_allclose(solved.decisions[0][index], expected, atol=5e-3)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(5, 60),
    gamma=st.floats(1e-3, 5),
    cost=st.floats(0.1, 200),
)
def test_certificate_holds_for_any_problem(seed, n, gamma, cost):
    X, y = _blobs(n, 3, seed)
    kernel = centred_kernel(X, gamma)
    sides = _sides(y, np.full((1, n), cost))
    solved = solve_grid(kernel.matrix, *sides)
    residual, decisions = kkt_residuals(kernel.matrix, solved.beta, solved.bias, *sides)
    assert residual[0] <= 1e-2
    np.testing.assert_allclose(decisions, solved.decisions)
    # the coefficients of an SVM with a bias sum to zero
    assert abs(solved.beta.sum()) <= 1e-2 * cost * n


def test_certificate_sees_a_wrong_solution():
    X, y = _blobs(30, 2, 5)
    kernel = centred_kernel(X, 0.5)
    sides = _sides(y, np.full((1, 30), 10.0))
    solved = solve_grid(kernel.matrix, *sides)
    wrong = solved.beta.copy()
    wrong[0, 3] += 1.0
    assert kkt_residuals(kernel.matrix, wrong, solved.bias, *sides)[0][0] > 0.05


def test_one_class_gives_a_constant():
    X, _ = _blobs(20, 2, 6)
    ones = np.ones((1, 20), np.float32)
    solved = solve_grid(centred_kernel(X, 0.5).matrix, ones, 0 * ones)
    assert (solved.decisions >= 1 - 1e-3).all()


def test_gives_up_with_one_sentence(monkeypatch):
    monkeypatch.setattr("marginlab.svm.grid_direct._FULL_STEPS", 1)
    monkeypatch.setattr("marginlab.svm.grid_settle._STEPS", 1)
    X, y = _blobs(80, 2, 7)
    with pytest.raises(SolverError, match="KKT residuals"):
        solve_grid(centred_kernel(X, 3.0).matrix, *_sides(y, np.full((1, 80), 100.0)), max_steps=1)


@pytest.mark.parametrize(
    ("matrix", "positive", "words"),
    [
        (np.eye(3), np.ones((1, 3), np.float32), "square float32"),
        (np.eye(3, dtype=np.float32), np.ones((1, 2), np.float32), "shape"),
        (np.eye(3, dtype=np.float32), -np.ones((1, 3), np.float32), "negative"),
    ],
)
def test_bad_input_is_named(matrix, positive, words):
    with pytest.raises(UserError, match=words):
        solve_grid(matrix, positive, np.abs(positive))


def test_centred_kernel_and_expansion_give_the_plain_kernels_decisions():
    X, y = _blobs(50, 3, 8)
    Z = _blobs(20, 3, 9)[0]
    kernel = centred_kernel(X, 0.2)
    assert abs(kernel.matrix.sum(axis=0)).max() < 1e-3
    solved = solve_grid(kernel.matrix, *_sides(y, np.full((1, 50), 10.0)), tol=1e-5)
    weights, offset = kernel.expansion(solved.beta, solved.bias)
    block = np.concatenate([b for _, b in shifted_blocks(np.vstack([X, Z]), X, 0.2)])
    values = block @ weights[0] + offset[0]
    np.testing.assert_allclose(values[:50], solved.decisions[0], atol=1e-4)
    gram = np.exp(-0.2 * ((Z[:, None] - X[None]) ** 2).sum(axis=2)) - 1
    np.testing.assert_allclose(block[50:], gram, atol=1e-6)


def test_unique_rows_of_dense_and_sparse():
    X = np.array([[0.0, 1], [2, 0], [0, 1], [0, 0], [2, 0]])
    for rows, index in (unique_rows(X), unique_rows(sp.csr_matrix(X))):
        dense = rows.toarray() if sp.issparse(rows) else rows
        assert index.tolist() == [0, 1, 0, 2, 1]
        np.testing.assert_array_equal(dense[index], X)


def test_eigenpairs_and_preconditioner():
    X, _ = _blobs(80, 3, 10)
    matrix = centred_kernel(X, 0.3).matrix
    values, vectors = leading_eigenpairs(matrix, 20, np.random.default_rng(0))
    exact = np.sort(np.linalg.eigvalsh(matrix.astype(float)))[::-1][:20]
    np.testing.assert_allclose(values[:10], exact[:10], rtol=1e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-4)
    apply = Preconditioner.of(matrix, rank=80)
    inverse = np.linalg.inv(np.eye(80) + 2.0 * matrix.astype(float))
    block = np.random.default_rng(1).standard_normal((3, 80)).astype(np.float32)
    np.testing.assert_allclose(apply(block, np.full(3, 2.0)), block @ inverse, atol=1e-3)


@pytest.mark.parametrize("rank", [25, 80])
def test_part_of_a_preconditioner_is_that_of_the_part(rank):
    X, _ = _blobs(80, 3, 10)
    whole = Preconditioner.of(centred_kernel(X, 0.3).matrix, rank=rank)
    last = whole.values[-1]
    matrix = (whole.vectors * (whole.values - last)) @ whole.vectors.T + last * np.eye(80)
    rows = np.flatnonzero(np.arange(80) % 4)
    inverse = np.linalg.inv(np.eye(60) + 2.0 * matrix[np.ix_(rows, rows)])
    block = np.random.default_rng(1).standard_normal((3, 60)).astype(np.float32)
    part = whole.part(rows)
    assert part.vectors.shape == (60, min(rank, 60))
    np.testing.assert_allclose(part(block, np.full(3, 2.0)), block @ inverse, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_kernel_of_whole_numbers_is_looked_up(sparse):
    random = np.random.default_rng(2)
    X, Z = (random.integers(-3, 4, (n, 5)).astype(float) for n in (30, 2000))
    plain = np.expm1(-0.4 * ((Z[:, None] - X[None]) ** 2).sum(axis=2))
    given = [sp.csr_matrix(part) if sparse else part for part in (Z, X)]
    found = np.concatenate([block for _, block in shifted_blocks(*given, 0.4)])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, plain, rtol=1e-7, atol=1e-7)
    shifted = np.concatenate([block for _, block in shifted_blocks(Z + 0.5, X + 0.5, 0.4)])
    np.testing.assert_allclose(found, shifted, rtol=1e-6, atol=1e-7)
    far = np.concatenate([block for _, block in shifted_blocks(Z + 2.0**9, X, 0.4)])
    assert (far == -1).all()


@pytest.mark.parametrize("precise", [False, True])
def test_newton_target_solves_the_bordered_system(precise):
    X, y = _blobs(40, 3, 11)
    matrix = centred_kernel(X, 0.5).matrix
    weight = np.where(np.arange(40) % 3, 10.0, 0.0).astype(np.float32)
    beta, bias = newton_target(matrix, weight, weight * y, precise=precise)
    on = weight > 0
    left = matrix[np.ix_(on, on)] @ beta[on] + beta[on] / weight[on] + bias
    np.testing.assert_allclose(left, y[on], atol=1e-5)
    assert abs(beta.sum()) < 1e-5
    assert not beta[~on].any()
    np.testing.assert_allclose(exact_product(matrix, beta), matrix @ beta, atol=1e-4)


def _active_problem(seed=5, n=200):
    X, y = _blobs(n, 3, seed)
    matrix = centred_kernel(X, 1.0).matrix
    random = np.random.default_rng(seed)
    cost = np.float32(50.0) * random.integers(1, 4, n).astype(np.float32)
    return matrix, y, cost, random


def _bordered(matrix, above, below):
    """Solution of the active system by one dense solve in float64."""
    h = (above + below).astype(np.float64)
    rows = np.flatnonzero(h)
    n = rows.size
    big = np.ones((n + 1, n + 1))
    big[:n, :n] = matrix[np.ix_(rows, rows)] + np.diag(1 / h[rows])
    big[n, n] = 0
    found = np.linalg.solve(big, np.append((above - below)[rows] / h[rows], 0))
    beta = np.zeros(len(matrix))
    beta[rows] = found[:n]
    return beta, found[n]


@pytest.mark.parametrize("changes", [0, 1, 7, 20, 60])
def test_a_factor_serves_active_sets_that_differ_in_some_rows(changes):
    matrix, y, cost, random = _active_problem()
    system = ActiveSystem(matrix)
    active = random.random(len(y)) < 0.8
    sides = [np.where(active & (y == s), cost, np.float32(0)) for s in (1, -1)]
    assert system.set_active(*sides)
    other = active.copy()
    other[random.choice(len(y), changes, replace=False)] ^= True
    # a row of both labels of which one loss stops being active: the same row with another h
    both = np.flatnonzero(other)[:2]
    moved = [np.where(other & (y == s), cost, np.float32(0)) for s in (1, -1)]
    moved[0][both] += 30
    assert system.set_active(*moved)
    assert system.factorisations == (1 if changes + 2 <= active.sum() / 8 else 2)
    for _ in range(3):
        f = system.improve()
    beta, bias = _bordered(matrix, *moved)
    np.testing.assert_allclose(system.beta, beta, atol=1e-6 * np.abs(beta).max())
    np.testing.assert_allclose(f, matrix.astype(np.float64) @ beta + bias, atol=1e-6)


def test_no_active_loss_is_no_system():
    matrix, y, _, _ = _active_problem()
    zeros = np.zeros(len(y), np.float32)
    assert not ActiveSystem(matrix).set_active(zeros, zeros)


def test_full_steps_from_any_guess_end_in_the_certified_solution():
    matrix, y, cost, random = _active_problem()
    sides = [np.where(y == s, cost, np.float32(0)) for s in (1, -1)]
    for guess in (np.zeros(len(y)), 2.0 * y, random.standard_normal(len(y))):
        found = settle(matrix, *sides, guess, 1e-5)
        residuals, decisions = kkt_residuals(
            matrix, found.beta[None].astype(np.float32), np.array([found.bias]),
            *[side[None] for side in sides],
        )  # fmt: skip
        assert residuals[0] <= 2e-5
        np.testing.assert_allclose(decisions[0], found.decisions, atol=1e-4)
        assert 1 <= found.factorisations <= found.steps


def test_full_steps_that_cannot_factor_say_so():
    matrix = -10 * np.eye(30, dtype=np.float32)  # no kernel
    ones = np.ones(30, np.float32)
    assert settle(matrix, ones, 0 * ones, np.zeros(30), 1e-3) is None


def test_a_guess_changes_the_way_and_not_the_solution():
    X, y = _blobs(150, 3, 9)
    matrix = centred_kernel(X, 1.5).matrix
    random = np.random.default_rng(3)
    whole = solve_grid(matrix, *_sides(y, np.full((1, 150), 80.0)), tol=1e-5)
    copies = random.integers(0, 3, (4, 150))
    sides = _sides(y, 80.0 * copies)
    guess = np.repeat(whole.decisions.astype(np.float32), 4, axis=0)
    guess[3] = np.nan
    cold = solve_grid(matrix, *sides, tol=1e-5)
    near = solve_grid(matrix, *sides, tol=1e-5, guess=guess)
    np.testing.assert_allclose(near.decisions, cold.decisions, atol=2e-3)
    assert (near.steps[:3] < cold.steps[:3]).all()  # direct steps first
    assert near.steps[3] == cold.steps[3] > 0


def test_a_wrong_guess_still_ends_at_the_solution():
    X, y = _blobs(80, 2, 11)
    matrix = centred_kernel(X, 2.0).matrix
    sides = _sides(y, np.full((1, 80), 100.0))
    wrong = np.random.default_rng(0).normal(0, 30, (1, 80)).astype(np.float32)
    solved = solve_grid(matrix, *sides, tol=1e-5, guess=wrong)
    assert solved.residuals[0] <= 1e-5


def test_only_what_needed_direct_steps_is_a_guess():
    X, y = _blobs(60, 2, 12)
    matrix = centred_kernel(X, 1.0).matrix
    solved = solve_grid(matrix, *_sides(y, np.full((2, 60), 20.0)))
    marked = dataclasses.replace(solved, factorisations=np.array([0, 2]))
    guess = direct_guess(marked)
    assert np.isnan(guess[0]).all()
    np.testing.assert_allclose(guess[1], solved.decisions[1], rtol=1e-6)
