"""All methods and solvers agree; every answer carries its certificate."""

import highspy
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from marginlab.errors import SolverError
from marginlab.mrc import lp_cbc
from marginlab.mrc.ccg import CcgOptions, solve_ccg
from marginlab.mrc.certificate import upper_bound
from marginlab.mrc.compact import solve_compact
from marginlab.mrc.estimates import make_problem
from marginlab.mrc.features import FourierFeatures, hstack_ones, unique_rows
from marginlab.mrc.full_lp import solve_full_lp
from marginlab.mrc.ipm import solve_interior
from marginlab.mrc.lp import BudgetError, RestrictedLp, accept_first, checked
from marginlab.mrc.lp_cbc import CbcMaster, CbcMpsMaster
from marginlab.mrc.lp_highs import HighsMaster
from marginlab.mrc.lp_ipm import InteriorMaster, solve_rows
from marginlab.mrc.subgradient import solve_subgradient, value_and_subgradient

MASTERS = {"highs": HighsMaster, "cbc": CbcMaster, "cbc-mps": CbcMpsMaster, "ipm": InteriorMaster}


def problem_of(seed, n=40, d=3, k=3, lambda_0=0.05, sparse=False, fourier=0):
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    X = random.normal(size=(n, d)) + 0.8 * np.eye(max(k, d))[codes][:, :d]
    if sparse:
        X = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    if fourier:
        X = FourierFeatures.draw(d, fourier, 0.5, np.random.RandomState(seed))(X)
    return make_problem(hstack_ones(X), codes, k, lambda_0, unique_rows(X))


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8])
def test_compact_form_equals_the_exponential_program(k):
    problem = problem_of(k, n=24, k=k)
    full = solve_full_lp(problem, "highs")
    for solver in ("highs", "highs-ipm"):
        assert solve_compact(problem, solver).risk == pytest.approx(full.risk, abs=1e-6)
    assert solve_interior(problem, 1e-8).risk == pytest.approx(full.risk, abs=1e-7)
    assert 0.0 <= full.risk <= 1.0 - 1.0 / k + 1e-9


@pytest.mark.parametrize("master", MASTERS)
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_generation_reaches_the_optimum(master, k, sparse):
    problem = problem_of(5, k=k, sparse=sparse)
    optimum = solve_full_lp(problem, "highs").risk
    loose = solve_ccg(problem, MASTERS[master], CcgOptions(eps_1=1e-2, n_max=10))
    assert loose.risk == pytest.approx(optimum, abs=1e-3)
    assert loose.upper - loose.lower <= 1e-3 + 2e-5, "a tenth of eps_1, and CBC's rounding"
    tight = solve_ccg(problem, MASTERS[master], CcgOptions(eps_1=1e-6, n_max=10))
    assert tight.risk == pytest.approx(optimum, abs=2e-6)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([2, 4]), st.sampled_from([20, 100]))
def test_a_run_ends_within_a_tenth_of_eps_1_and_its_mu_has_the_bound(seed, k, n_max):
    problem = problem_of(seed, n=300, d=4, k=k, lambda_0=0.01, fourier=40)
    result = solve_ccg(problem, HighsMaster, CcgOptions(eps_1=0.05, n_max=n_max, max_rounds=2000))
    assert result.upper - result.lower <= 0.005 + 1e-6
    assert result.upper == pytest.approx(upper_bound(problem, result.mu), abs=1e-9)
    assert result.upper == result.history["upper"].min()
    exact = solve_ccg(problem, HighsMaster, CcgOptions(eps_1=1e-7)).risk
    assert -1e-6 <= exact - result.risk <= 0.005 + 1e-6


@pytest.mark.parametrize("master", MASTERS)
def test_generation_ends_where_rounding_begins(master):
    problem = problem_of(5, k=3)
    result = solve_ccg(problem, MASTERS[master], CcgOptions(eps_1=0.0, n_max=10))
    assert result.risk == pytest.approx(solve_compact(problem).risk, abs=1e-6)


@pytest.mark.parametrize("solver", ["highs-ipm", "cbc", "cbc-mps"])
@pytest.mark.parametrize("k", [2, 3])
def test_full_and_compact_programs_agree_on_every_solver(solver, k):
    problem = problem_of(7, k=k)
    optimum = solve_full_lp(problem, "highs").risk
    assert solve_full_lp(problem, solver).risk == pytest.approx(optimum, abs=1e-6)
    assert solve_compact(problem, solver).risk == pytest.approx(optimum, abs=1e-6)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from([0.0, 0.02, 0.3]))
def test_theorem_1_the_risk_never_falls_and_meets_the_bound(seed, k, lambda_0):
    problem = problem_of(seed, k=k, lambda_0=lambda_0)
    result = solve_ccg(problem, HighsMaster, CcgOptions(eps_1=1e-7, n_max=5, max_rounds=500))
    assert np.diff(result.history["risk"]).min(initial=0.0) >= -1e-9
    assert (result.history["upper"] >= result.risk - 1e-7).all()
    assert result.upper - result.lower <= 1e-6
    exact = solve_compact(problem, "highs")
    assert result.risk == pytest.approx(exact.risk, abs=1e-6)


def test_dropping_constraints_does_not_cycle():
    problem = problem_of(11, n=200, d=5, k=6, lambda_0=0.01)
    result = solve_ccg(problem, HighsMaster, CcgOptions(eps_1=1e-7, n_max=3, max_rounds=2000))
    sizes = result.history["constraints"]
    assert (np.diff(sizes) < 0).any(), "this case is meant to drop constraints"
    assert result.risk == pytest.approx(solve_compact(problem, "highs").risk, abs=1e-6)


def test_every_restricted_problem_stays_feasible_exactly():
    """A run on optdigits dropped the class centres, was left with an infeasible dual and ended."""
    k = 6
    problem = problem_of(11, n=200, d=5, k=k, lambda_0=0.01)
    restricted = []

    class Watched(HighsMaster):
        def solve(self, seconds):
            restricted.append(self.lp)
            return super().solve(seconds)

    solve_ccg(problem, Watched, CcgOptions(eps_1=1e-7, n_max=3, max_rounds=2000))
    sizes = [len(lp.b) for lp in restricted]
    assert min(np.diff(sizes)) < 0, "this case is meant to drop constraints"
    # tau is the sum over the classes of share times centre, in the class's own block
    first = restricted[0].rows[:: k + 1]
    share = np.linalg.lstsq(first.T, problem.tau, rcond=None)[0]
    assert share.min() > 0
    for lp in restricted:
        assert np.abs(lp.rows[: k * k : k + 1].T @ share - lp.tau).max() < 1e-14


@pytest.mark.parametrize("master", MASTERS)
def test_features_are_generated_too(master):
    problem = problem_of(3, n=60, d=40, k=2, lambda_0=0.2, sparse=True)
    options = CcgOptions(eps_1=1e-6, eps_2=1e-7, n_max=20, m_max=5, grow_features=True)
    result = solve_ccg(problem, MASTERS[master], options)
    assert result.history["features"].iloc[0] < problem.phi.n_features
    assert result.risk == pytest.approx(solve_full_lp(problem, "highs").risk, abs=1e-5)


def test_repeated_samples_change_nothing_but_the_estimates():
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(30, 3)), np.arange(30) % 3
    twice, labels = np.vstack([X, X]), np.concatenate([codes, codes])
    one = make_problem(hstack_ones(X), codes, 3, 0.05, unique_rows(X))
    two = make_problem(hstack_ones(twice), labels, 3, 0.05, unique_rows(twice))
    assert two.phi.n_samples == 30
    assert solve_compact(two).risk == pytest.approx(solve_compact(one).risk, abs=1e-9)


def test_columns_in_the_thousands_are_scaled_away():
    random = np.random.default_rng(1)
    X, codes = random.normal(size=(50, 3)), np.arange(50) % 2
    big = X * np.array([1.0, 1e5, 1e-5])
    small = make_problem(hstack_ones(X), codes, 2, 0.1, np.arange(50))
    large = make_problem(hstack_ones(big), codes, 2, 0.1, np.arange(50))
    options = CcgOptions(eps_1=1e-7)
    a, b = (solve_ccg(p, HighsMaster, options) for p in (small, large))
    assert a.risk == pytest.approx(b.risk, abs=1e-7)


def test_interior_point_certifies_fourier_features():
    for k in (2, 3):
        problem = problem_of(9, n=80, k=k, fourier=30)
        result = solve_interior(problem, 1e-7)
        assert 0 <= result.upper - result.lower <= 1e-7
        assert result.risk == pytest.approx(solve_full_lp(problem, "highs").risk, abs=1e-6)


def test_subgradient_descends_and_its_gradient_is_right():
    problem = problem_of(2, k=3)
    optimum = solve_compact(problem).risk
    result = solve_subgradient(problem, 4000)
    values = result.history["risk"].to_numpy()
    assert (np.diff(values) <= 0).all()
    assert optimum - 1e-9 <= result.risk <= optimum + 0.01
    random = np.random.default_rng(0)
    mu, other = random.normal(size=(2, problem.phi.n_features))
    value, gradient = value_and_subgradient(problem, mu)
    assert value_and_subgradient(problem, other)[0] >= value + gradient @ (other - mu) - 1e-9


def test_a_wrong_optimal_is_refused():
    problem = problem_of(4, k=2)
    master = HighsMaster(*_restricted(problem))
    right = master.solve(float("inf"))
    lp = RestrictedLp(*_restricted(problem))
    assert checked(lp, right.mu, right.alpha, 1e-6).risk == pytest.approx(right.risk)
    with pytest.raises(SolverError, match="differ"):
        checked(lp, right.mu * 0.9, right.alpha, 1e-6)
    negative = right.alpha.copy()
    negative[np.argmin(negative)] -= 1e-2
    with pytest.raises(SolverError, match="sum to"):
        checked(lp, right.mu, negative, 1e-6)
    with pytest.raises(SolverError, match="not finite"):
        checked(lp, right.mu * np.nan, right.alpha, 1e-6)


def test_a_failed_check_is_tried_again_with_other_options(monkeypatch):
    problem = problem_of(4, k=2)
    true_run, tried = lp_cbc._through_mps, []

    def wrong_at_first(binary, lp, options, seconds, memory_mb):
        tried.append(options)
        dual, x = true_run(binary, lp, options, seconds, memory_mb)
        return (dual * 0.9 if len(tried) == 1 else dual), x

    monkeypatch.setattr(lp_cbc, "_through_mps", wrong_at_first)
    answer = CbcMpsMaster(*_restricted(problem)).solve(60.0)
    assert len(tried) == 2
    assert answer.gap <= 1e-5
    monkeypatch.setattr(lp_cbc, "_through_mps", lambda *a: (np.zeros(0), np.zeros(0)) and _bad(*a))
    with pytest.raises(SolverError, match=r"default options: .*; primal simplex: .*1e-9"):
        CbcMpsMaster(*_restricted(problem)).solve(60.0)


def _bad(binary, lp, options, seconds, memory_mb):
    raise SolverError("made to fail")


def test_accept_first_passes_budgets_through():
    def over():
        raise BudgetError("no time")

    with pytest.raises(BudgetError, match="no time"):
        accept_first([("one", over), ("two", over)])


def test_budgets_are_kept():
    problem = problem_of(1, n=300, d=20, k=4)
    with pytest.raises(BudgetError, match="memory budget"):
        solve_full_lp(problem, "highs", memory_mb=1.0)
    with pytest.raises(BudgetError, match="memory budget"):
        solve_interior(problem, memory_mb=0.1)
    with pytest.raises(BudgetError, match="PuLP model needs about"):
        solve_compact(problem, "cbc", memory_mb=1.0)
    with pytest.raises(BudgetError, match="within 2 rounds"):
        solve_ccg(problem, HighsMaster, CcgOptions(eps_1=1e-7, n_max=1, max_rounds=2))
    with pytest.raises(BudgetError, match="time budget"):
        solve_compact(problem, "cbc-mps", seconds=0.02)


def test_the_interior_master_solves_a_restricted_problem():
    problem = problem_of(6, n=100, k=2, d=6)
    lp = RestrictedLp(*_restricted(problem))
    simplex = HighsMaster(lp.rows, lp.b, lp.tau, lp.lam).solve(float("inf"))
    assert solve_rows(lp, 1e-8).risk == pytest.approx(simplex.risk, abs=1e-7)


def _restricted(problem):
    n = problem.phi.n_samples
    samples = np.concatenate([np.repeat(np.arange(n), 2), [0]])
    subsets = np.vstack([np.tile(np.eye(2, dtype=bool), (n, 1)), [[True, True]]])
    rows = problem.phi.rows(samples, subsets)
    return rows, 1.0 / subsets.sum(axis=1) - 1.0, problem.tau, problem.lam


def test_highs_with_other_threads_in_the_same_process_is_no_obstacle():
    """HiGHS shares its workers in a process and refuses another number of them."""
    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    other.resetGlobalScheduler(True)
    other.setOptionValue("threads", 2)
    other.addVar(0.0, 1.0)
    other.run()
    problem = problem_of(3)
    generated = solve_ccg(problem, HighsMaster, CcgOptions(eps_1=1e-6))
    assert generated.risk == pytest.approx(solve_full_lp(problem, "highs").risk, abs=2e-6)
