"""SpanSearch: scikit-learn's checks, GridSearchCV as a peer, ties, score maps, clear errors."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginlab.datasets import Dataset
from marginlab.errors import SolverError, UserError
from marginlab.experiments.span_grid import run_grid
from marginlab.experiments.span_loo import run_leave_one_out
from marginlab.experiments.span_tables import error_grid
from marginlab.selection import SpanSearch
from marginlab.svm import dual
from marginlab.svm.grid import chains
from marginlab.svm.weighted import WeightedSVC

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.2, 1.0], "class_weight": [{0: 1, 1: 1}, {0: 1, 1: 3}]}


def sample(seed=0, n=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + 0.8 * rng.normal(size=n) > 0).astype(int), np.exp(rng.normal(size=n))


@parametrize_with_checks([SpanSearch(WeightedSVC(), {"C": [0.5, 5.0]})])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("criterion", ["span_rule", "span_bound", "xi_alpha"])
def test_results_are_those_of_separate_models(criterion):
    X, y, w = sample()
    search = SpanSearch(WeightedSVC(), GRID, criterion).fit(X, y, sample_weight=w)
    assert len(search.results_) == 12
    for row in search.results_.itertuples():
        alone = WeightedSVC(**row.params).fit(X, y, sample_weight=w)
        assert getattr(row, criterion) == pytest.approx(getattr(alone, criterion + "_"), abs=1e-6)
    best = search.results_[criterion][~search.results_["set_aside"]].min()
    assert search.best_score_ == best
    assert search.score(X, y) == search.best_estimator_.score(X, y)


def test_cross_validation_equals_grid_search_cv():
    X, y, _ = sample()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    ours = SpanSearch(WeightedSVC(), GRID, "cv", cv=folds).fit(X, y)
    peer = GridSearchCV(WeightedSVC(), GRID, cv=folds).fit(X, y)
    assert list(ours.results_["params"]) == peer.cv_results_["params"]
    np.testing.assert_allclose(
        ours.results_["cv"], 1 - peer.cv_results_["mean_test_score"], atol=1e-12
    )


def test_scores_become_weights_by_a_map():
    X, y, _ = sample()
    q = np.random.default_rng(1).random(y.size)

    def rise(scores, A):
        return 0.01 + scores**A

    grid = {"C": [1.0, 8.0], "weight_map": [rise], "A": [1.0, 3.0]}
    search = SpanSearch(WeightedSVC(), grid).fit(X, y, sample_weight=q)
    params = search.best_params_
    alone = WeightedSVC(C=params["C"]).fit(X, y, rise(q, params["A"]))
    assert search.best_score_ == pytest.approx(alone.span_rule_)
    np.testing.assert_allclose(search.best_estimator_.alpha_, alone.alpha_)


@pytest.mark.parametrize("ties", ["first", "worst", "smallest"])
def test_ties_are_broken_as_asked(ties):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-2, 0.6, (20, 2)), rng.normal(2, 0.6, (20, 2))])
    y = np.repeat([0, 1], 20)
    search = SpanSearch(WeightedSVC(), {"C": [40.0, 2.0, 5.0]}, ties=ties).fit(X, y)
    table = search.results_[~search.results_["set_aside"]]
    tied = table[table["span_rule"] == table["span_rule"].min()]
    assert len(tied) > 1
    expected = {
        "first": tied.index[0],
        "worst": tied["xi_alpha"].idxmax(),
        "smallest": tied["total_weight"].idxmin(),
    }
    assert search.best_index_ == expected[ties]


def test_models_without_in_bound_support_vector_are_set_aside():
    X, y = np.array([[0.0], [0.1], [3.0], [3.1]]), np.array([1, 1, 0, 0])
    mixed = SpanSearch(WeightedSVC(), {"C": [1e-3, 50.0]}).fit(X, y)
    assert mixed.n_set_aside_ == 1
    assert mixed.best_params_ == {"C": 50.0}
    with pytest.raises(UserError, match="none of the 1 models"):
        SpanSearch(WeightedSVC(), {"C": [1e-3]}).fit(X, y)


def test_chains_group_proportional_weights():
    a, b = np.array([1.0, 2.0]), np.array([3.0, 1.0])
    assert chains([4 * a, b, a, 2 * b]) == [[2, 0], [1, 3]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"param_grid": {"c": [1]}}, "'c'"),
        ({"param_grid": {"C": []}}, "param_grid"),
        ({"param_grid": {"C": [-1.0]}}, "C is -1"),
        ({"param_grid": {"C": [1.0]}, "criterion": "accuracy"}, "criterion"),
        ({"param_grid": {"C": [1.0]}, "ties": "best"}, "ties"),
        ({"param_grid": {"C": [1.0], "weight_map": [np.sqrt]}}, "no scores"),
    ],
)
def test_mistakes_are_named(arguments, said):
    X, y, _ = sample(n=20)
    with pytest.raises(UserError, match=said):
        SpanSearch(WeightedSVC(), **arguments).fit(X, y)


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        (5, "cv=5 is more than the 3 rows of label rare; each fold needs one, give cv=3 or less"),
        (40, "cv=40 is more than the 3 rows of label rare"),
        (StratifiedKFold(4), "cv=4 is more than the 3 rows of label rare"),
        (1, "cv=1 cannot be used: k-fold"),
        ("five", "cv='five' cannot be used: "),
        (KFold(40), "cannot be used: .*n_splits=40"),
        ([], "gives no folds"),
    ],
)
def test_folds_that_cannot_be_made_are_named(cv, said):
    X, _, _ = sample(n=20)
    y = np.where(np.arange(20) % 7 == 1, "rare", "usual")
    search = SpanSearch(WeightedSVC(), {"C": [1.0]}, "cv", cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserError, match=said):
            search.fit(X, y)
        assert SpanSearch(WeightedSVC(), {"C": [1.0]}, "cv", cv=3).fit(X, y).best_score_ < 1


def test_rows_of_weight_0_are_in_no_fold():
    X, y, _ = sample(n=20)
    used = np.zeros(20)
    used[[np.flatnonzero(y == 0)[0], *np.flatnonzero(y == 1)[:3]]] = 1.0
    with pytest.raises(UserError, match="cv=3 needs more than the one row of label 0"):
        SpanSearch(WeightedSVC(), {"C": [1.0]}, "cv", cv=3).fit(X, y, sample_weight=used)


def fail_above(monkeypatch, penalty, rows=None):
    """Let the solver fail for weights above `penalty`, on `rows` rows only if given."""
    solve = dual.solve_box_qp

    def failing(K, c, lo, hi, start, tol):
        few = 0 if (hi - lo).max() > penalty and rows in (None, c.size) else 5000
        return solve(K, c, lo, hi, start, tol, max_rounds=few)

    monkeypatch.setattr(dual, "solve_box_qp", failing)


@pytest.mark.parametrize("criterion", ["span_rule", "cv"])
def test_a_model_that_is_not_solved_is_set_aside_and_named(criterion, monkeypatch):
    X, y, _ = sample()
    grid = {"C": [100.0, 1.0, 200.0, 2.0]}
    whole = SpanSearch(WeightedSVC(), grid, criterion).fit(X, y)
    fail_above(monkeypatch, 50.0)
    search = SpanSearch(WeightedSVC(), grid, criterion).fit(X, y)
    assert (search.n_unsolved_, search.n_set_aside_) == (2, 2)
    assert list(search.results_["reason"]) == ["not solved to tol", "", "not solved to tol", ""]
    assert search.best_params_["C"] in (1.0, 2.0)
    assert search.results_["rank"].max() == search.results_["rank"][0]
    kept = [1, 3]
    np.testing.assert_array_equal(search.results_[criterion][kept], whole.results_[criterion][kept])


def test_a_fold_that_is_not_solved_sets_the_model_aside(monkeypatch):
    X, y, _ = sample()
    fail_above(monkeypatch, 50.0, rows=72)
    search = SpanSearch(WeightedSVC(), {"C": [1.0, 100.0]}, "cv").fit(X, y)
    assert list(search.results_["reason"]) == ["", "not solved to tol"]
    assert np.isnan(search.results_["cv"][1])
    assert search.best_params_ == {"C": 1.0}


def test_a_grid_without_a_solved_model_is_one_sentence(monkeypatch):
    X, y, _ = sample()
    fail_above(monkeypatch, 0.0)
    with pytest.raises(UserError, match=r"2 were not solved to tol.*scale the features"):
        SpanSearch(WeightedSVC(), {"C": [1.0, 100.0]}).fit(X, y)
    with pytest.raises(SolverError, match="not solved to 1e-06"):
        WeightedSVC(C=1.0).fit(X, y)


def test_the_jobs_of_the_span_paper_outlive_a_model_that_is_not_solved(monkeypatch):
    X, y, _ = sample()
    signs = np.where(y == 1, 1, -1)
    data = Dataset(X[:60], signs[:60], X[60:], signs[60:], {"name": "made"})
    settings = {"log2_C": {"low": -1, "high": 1, "step": 1}, "tol": 1e-6}
    fail_above(monkeypatch, 1.5)
    rows = run_grid(data, settings, "class", folds=3, seed=0, run="quick")
    solved = rows[rows["measure"] == "kkt_residual_below_tol"]["value"]
    assert 0 < solved.sum() < solved.size
    left = error_grid(rows, "made")
    assert len(left) == solved.sum()
    assert left.notna().all().all()
    loo = run_leave_one_out(data, settings, "class", 9, True, 0, "quick")
    assert loo["setting"].nunique() == solved.sum()
