"""Estimators on input that is odd or wrong: the right result, or an error that says what."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from marginlab.mrc.estimator import MinimaxRiskClassifier
from marginlab.selection import SpanSearch
from marginlab.subsvms import SubSVMs
from marginlab.svm.weighted import WeightedSVC

HALF = 20
rng = np.random.default_rng(0)
X = rng.normal(size=(2 * HALF, 3)) + np.repeat([[1.5, 0, 0], [-1.5, 0, 0]], HALF, axis=0)
Y = np.repeat([1, -1], HALF)
WORDS = np.where(Y > 0, "yes", "no")

MODELS = {
    "SubSVMs": lambda: SubSVMs(n_svms=11, sample_size=8, random_state=0),
    "WeightedSVC": lambda: WeightedSVC(),
    "WeightedSVC, libsvm": lambda: WeightedSVC(solver="libsvm"),
    "SpanSearch": lambda: SpanSearch(WeightedSVC(), {"C": [0.1, 1.0, 100.0], "gamma": [0.1, 1.0]}),
    "MRC": lambda: MinimaxRiskClassifier(random_state=0, time_limit=60),
    "MRC, Fourier": lambda: MinimaxRiskClassifier(
        "fourier", n_components=20, random_state=0, time_limit=60
    ),
}
with_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def spoiled(value):
    """The rows with one value replaced."""
    rows = X.copy()
    rows[3, 1] = value
    return rows


def frozen(array):
    """A copy that may not be written to."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy


# ------------------------------------------------------------ the same data, dressed otherwise

SAME = {
    "lists": (X.tolist(), Y.tolist()),
    "frame": (pd.DataFrame(X, columns=list("abc")), pd.Series(Y)),
    "nullable frame": (pd.DataFrame(X).convert_dtypes(), Y),
    "frame with its own index": (pd.DataFrame(X, index=np.arange(99, 59, -1)), pd.Series(Y)),
    "objects": (X.astype(object), Y),
    "Fortran order": (np.asfortranarray(X), Y),
    "every other row of an array": (np.repeat(X, 2, axis=0)[::2], Y),
    "read-only": (frozen(X), frozen(Y)),
    "strings": (X, WORDS),
    "string objects": (X, WORDS.astype(object)),
    "string series": (pd.DataFrame(X), pd.Series(WORDS)),
    "categories": (X, pd.Series(WORDS).astype("category")),
    "booleans": (X, Y > 0),
    "floats": (X, Y * 1.0),
}


@with_model
def test_the_dress_of_the_data_changes_nothing(make):
    expected = make().fit(X, Y)
    scores, labels = expected.decision_function(X), expected.predict(X)
    for name, (rows, y) in SAME.items():
        model = make().fit(rows, y)
        # Sums run in another order where memory does: the last bits may move.
        found = model.decision_function(rows)
        np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-12, err_msg=name)
        positive = model.predict(rows) == model.classes_[1]
        np.testing.assert_array_equal(positive, labels == 1, err_msg=name)


@with_model
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.bool_, np.float32])
def test_numbers_of_any_type_count_as_their_values(make, dtype):
    rows = (X > 0).astype(dtype) if dtype is np.bool_ else np.rint(10 * np.abs(X)).astype(dtype)
    as_given, as_floats = make().fit(rows, Y), make().fit(rows.astype(float), Y)
    np.testing.assert_array_equal(
        as_given.decision_function(rows), as_floats.decision_function(rows.astype(float))
    )


# ------------------------------------------------------------------------ odd, but to be learned


@with_model
def test_a_constant_column_keeps_a_good_model_good(make):
    rows = np.column_stack([X, np.full(len(X), 7.0)])
    assert np.mean(make().fit(rows, Y).predict(rows) == Y) >= 0.9


@with_model
@pytest.mark.parametrize("size", [2, HALF + 1], ids=["one row a class", "one row in a class"])
def test_single_rows_of_a_class_are_learned_or_refused(make, size):
    rows, y = (X[[0, -1]], Y[[0, -1]]) if size == 2 else (X[:size], Y[:size])
    try:
        found = make().fit(rows, y).predict(rows)
    except ValueError as error:
        assert "no intercept is unique" in str(error)
    else:
        assert set(found) <= {1, -1}
        assert np.mean(found == y) >= 0.9


@with_model
@pytest.mark.parametrize("scale", [1e6, 1e150, 1e-150])
def test_sizes_far_from_one_give_finite_scores(make, scale):
    try:
        model = make().fit(scale * X, Y)
    except ValueError as error:
        assert "no intercept is unique" in str(error)
        return
    assert np.isfinite(model.decision_function(scale * X)).all()
    if isinstance(model, MinimaxRiskClassifier):  # it scales its features itself
        assert np.mean(model.predict(scale * X) == Y) >= 0.9
        assert 0.0 <= model.lower_bound_ - 1e-9 <= model.minimax_risk_ <= 0.5 + 1e-6


# The linear kernel's values near 1e12 leave rounding above 1e-6 in the gradient: there the
# solver accepts up to 1e-3, LIBSVM's usual tolerance, and reports what it reached.
@pytest.mark.parametrize(("kernel", "reached"), [("rbf", 1e-6), ("linear", 1e-3)])
def test_columns_of_very_different_sizes_are_solved_or_refused_with_a_remedy(kernel, reached):
    rows = X * [1e6, 1.0, 1e-6]
    try:
        model = WeightedSVC(kernel=kernel).fit(rows, Y)
    except ValueError as error:
        pytest.fail(f"not the user's mistake: {error}")
    except RuntimeError as error:
        assert "scale the features" in str(error)
    else:
        assert model.kkt_residual_ <= reached


@with_model
def test_rows_that_contradict_each_other_leave_nothing_to_learn(make):
    rows, y = np.vstack([X, X]), np.concatenate([Y, -Y])
    try:
        model = make().fit(rows, y)
    except ValueError as error:
        assert "no intercept is unique" in str(error)
    else:
        assert np.mean(model.predict(rows) == y) == 0.5
        if isinstance(model, MinimaxRiskClassifier):
            assert model.minimax_risk_ == pytest.approx(0.5, abs=0.02)


@with_model
def test_equal_rows_of_both_classes_are_survived(make):
    rows = np.repeat(X[:1], len(X), axis=0)
    try:
        found = make().fit(rows, Y).predict(rows)
    except ValueError as error:
        assert "no intercept is unique" in str(error)
    else:
        assert len(set(found)) == 1


# ---------------------------------------------------------------------------- wrong, to be told

WRONG = {
    "NaN": (spoiled(np.nan), Y, "contains NaN"),
    "NaN in a frame": (pd.DataFrame(spoiled(np.nan)), Y, "contains NaN"),
    "NaN, sparse": (sp.csr_matrix(spoiled(np.nan)), Y, "contains NaN"),
    "infinity": (spoiled(np.inf), Y, "contains infinity"),
    "text": (np.where(X > 0, "a", "b"), Y, "could not convert string to float"),
    "text column": (pd.DataFrame({"a": X[:, 0], "b": ["u"] * len(X)}), Y, "could not convert"),
    "complex": (X * 1j, Y, "Complex data not supported"),
    "no rows": (np.empty((0, 3)), np.empty(0), "0 sample"),
    "no columns": (np.empty((len(X), 0)), Y, "0 feature"),
    "one column of rows": (X[:, 0], Y, "Expected 2D array"),
    "labels missing": (X, np.where(np.arange(len(X)) == 0, np.nan, Y), "y contains NaN"),
    "fewer labels": (X, Y[:-1], r"inconsistent numbers of samples: \[40, 39\]"),
    "measurements as labels": (X, X[:, 0], "Unknown label type: continuous"),
    "one class": (X, np.ones(len(X)), r"one class|1 class"),
}


@with_model
@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_a_value_error_that_says_what(make, case):
    rows, y, words = WRONG[case]
    with pytest.raises(ValueError, match=words) as caught:
        make().fit(rows, y)
    assert "np." not in str(caught.value).replace("np.str_", "")  # values, not their Python types


@with_model
def test_new_rows_of_another_width_are_told(make):
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3 features"):
        make().fit(X, Y).predict(X[:, :2])
