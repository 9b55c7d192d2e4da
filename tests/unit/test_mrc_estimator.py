"""MinimaxRiskClassifier as a user meets it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from marginlab import MinimaxRiskClassifier
from marginlab.errors import ConfigError, UserError
from marginlab.mrc.choice import choose
from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.features import FeatureMap, LabelMap

IRIS = load_iris(return_X_y=True)


@parametrize_with_checks(
    [
        MinimaxRiskClassifier(),
        MinimaxRiskClassifier(features="fourier", n_components=20, random_state=0),
        MinimaxRiskClassifier(method="compact", solver="ipm"),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [10, 20, 30]])
@pytest.mark.parametrize("features", ["linear", "fourier"])
def test_labels_of_any_kind_and_both_mappings(labels, features):
    X, y = IRIS
    model = MinimaxRiskClassifier(features=features, eps_1=1e-4, n_components=50, random_state=1)
    model.fit(X, np.array(labels)[y])
    assert set(model.predict(X)) <= set(labels)
    assert model.score(X, np.array(labels)[y]) > 0.6
    assert 0 <= model.lower_bound_ <= model.upper_bound_ <= 2 / 3 + 1e-9
    assert model.upper_bound_ - model.lower_bound_ <= 1.1e-4
    assert model.coef_.shape == (3, (4 if features == "linear" else 50) + 1)
    columns = ["iteration", "seconds", "risk", "violation", "constraints", "features"]
    assert set(columns) <= set(model.history_.columns)


def test_dense_and_sparse_give_one_answer():
    X, y = IRIS
    dense = MinimaxRiskClassifier(eps_1=1e-7).fit(X, y)
    sparse = MinimaxRiskClassifier(eps_1=1e-7).fit(sp.csr_matrix(X), y)
    assert dense.minimax_risk_ == pytest.approx(sparse.minimax_risk_, abs=1e-7)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(sp.csr_matrix(X)))


def test_two_labels_predict_by_sign():
    X, y = IRIS
    model = MinimaxRiskClassifier(eps_1=1e-6).fit(X, np.where(y > 0, "yes", "no"))
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "yes", "no"))
    assert model.score(X, np.where(y > 0, "yes", "no")) == 1.0
    # The certificate of the training distribution: the risk bounds its error.
    assert model.minimax_risk_ >= 0.0


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("method", ["ccg", "compact", "subgradient"])
def test_the_risk_bounds_the_error_of_labels_drawn_by_the_probabilities(labels, method):
    X, y = IRIS
    y = np.array(["a", "c", "b"])[np.minimum(y, labels - 1)]
    options = {"max_iter": 500} if method == "subgradient" else {"features": "fourier"}
    model = MinimaxRiskClassifier(method=method, n_components=40, random_state=0, **options)
    h = model.fit(X, y).predict_proba(X)
    assert h.shape == (150, labels)
    np.testing.assert_allclose(h.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[h.argmax(axis=1)], model.predict(X))
    # The training distribution lies in the uncertainty set, so this holds without luck.
    right = h[np.arange(150), np.searchsorted(model.classes_, y)]
    assert 1 - right.mean() <= model.upper_bound_ + 1e-12
    np.testing.assert_allclose(model.predict_proba(sp.csr_matrix(X)), h, atol=1e-9)


@pytest.mark.parametrize(
    ("method", "solver"),
    [("ccg", "cbc"), ("lp", "highs"), ("lp", "cbc-mps"), ("compact", "highs-ipm")],
)
def test_every_method_gives_the_minimax_risk(method, solver):
    X, y = IRIS
    best = MinimaxRiskClassifier(method="compact", solver="highs").fit(X, y).minimax_risk_
    model = MinimaxRiskClassifier(method=method, solver=solver, eps_1=1e-6).fit(X, y)
    assert model.minimax_risk_ == pytest.approx(best, abs=1e-5)
    assert (model.method_, model.solver_) == (method, solver)


def test_same_seed_same_model():
    X, y = IRIS
    a, b = (
        MinimaxRiskClassifier(features="fourier", n_components=40, random_state=3).fit(X, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(a.coef_, b.coef_)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"features": "polynomial"}, "features='polynomial' is not known: choose one of linear"),
        ({"method": "magic"}, "method='magic' is not known"),
        ({"solver": "gurobi"}, "solver='gurobi' is not known"),
        ({"method": "ccg", "solver": "highs-ipm"}, "cannot be used for generation"),
        ({"method": "lp", "solver": "ipm"}, "solves the compact form"),
        ({"lambda_0": -1}, "lambda_0=-1 must be a number of at least 0"),
        ({"n_max": 0}, "n_max=0 must be a whole number of at least 1"),
        ({"gamma": "scale"}, "gamma='scale' must be '1/d'"),
        ({"features": "fourier", "n_components": 0}, "n_components=0 must be at least 1"),
    ],
)
def test_mistakes_are_named(options, text):
    X, y = IRIS
    with pytest.raises(ConfigError, match=text.replace("(", r"\(")):
        MinimaxRiskClassifier(**options).fit(X, y)


def test_one_class_is_refused():
    with pytest.raises(UserError, match="one class"):
        MinimaxRiskClassifier().fit(np.ones((5, 2)), np.zeros(5))


def test_auto_chooses_by_size():
    def sized(n, d, k, sparse=False, lambda_0=0.01):
        psi = sp.csr_array((n, d)) if sparse else np.zeros((n, d))
        m = d * (1 if k == 2 else k)
        return MrcProblem(
            FeatureMap(psi, LabelMap(k)), np.zeros(m), np.zeros(m), psi[:k], np.ones(d), lambda_0
        )

    assert choose(sized(1000, 20, 2), "auto", "auto") == ("ccg", "highs")
    assert choose(sized(1000, 401, 2), "auto", "auto") == ("compact", "ipm")
    assert choose(sized(1000, 401, 2), "ccg", "auto") == ("ccg", "ipm")
    assert choose(sized(1000, 65, 10), "auto", "auto") == ("compact", "ipm")
    assert choose(sized(10000, 65, 26), "auto", "auto") == ("compact", "ipm")
    assert choose(sized(1000, 900, 10), "auto", "auto") == ("ccg", "highs")
    text = sized(2500, 6000, 2, sparse=True)
    assert choose(sized(2500, 6000, 2, True, 0.1), "auto", "auto") == ("ccg", "highs")
    assert choose(text, "auto", "auto") == ("lp", "highs-ipm")
    assert choose(text, "auto", "cbc") == ("ccg", "cbc")
    assert choose(text, "lp", "auto") == ("lp", "highs-ipm")
