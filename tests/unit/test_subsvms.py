import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from marginlab.errors import UserError
from marginlab.noise import flip_labels
from marginlab.subsvms import SubSVMs, draw_subsets, subset_size
from marginlab.svm.kernels import rbf_gram
from marginlab.svm.votes import _exp32, count_votes, distinct_rows


def _gaussians(n=300, seed=0, share=0.4, d=4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1, -1)
    X = rng.normal(size=(n, d))
    X[:, 0] += 2 * y
    return X, y


def _binary(n=400, seed=0, d=20):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.2).astype(float)
    X[n // 2 :] = X[: n - n // 2]
    y = np.where(X[:, :4].sum(axis=1) + 0.5 * rng.random(n) > 1, 1, -1)
    return X, y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("options", [{}, {"loss": "l1", "sample_size": 10}])
def test_check_estimator(options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(SubSVMs(n_svms=101, **options))


def test_corrects_what_an_adversary_did():
    X, y = _gaussians(600)
    noisy = flip_labels(y, 0.75, 0.5, np.random.default_rng(1))
    model = SubSVMs(n_svms=300, C=1.0, random_state=0).fit(X, noisy)
    before, after = np.mean(noisy == y), np.mean(model.labels_corrected_ == y)
    assert before < 0.72
    assert after > 0.93
    assert model.kkt_residual_ <= 1e-10


@pytest.mark.parametrize("make", [_gaussians, _binary])
def test_votes_are_those_of_the_machines(make):
    X, y = make()
    model = SubSVMs(n_svms=40, random_state=0).fit(X, y)
    machines = model._machines
    for row in (0, 7, 123):
        near, votes = 0, 0
        for j in range(40):
            part = slice(machines.starts[j], machines.starts[j + 1])
            kernel = rbf_gram(machines.rows, X[row : row + 1], machines.gamma)[:, 0]
            f = kernel[machines.members[part]] @ machines.weights[part] + machines.intercept[j]
            near += abs(f) < 1e-4
            votes += f > 0
        assert abs(model.votes_[row] * 40 - votes) <= near


@pytest.mark.parametrize("make", [_gaussians, _binary])
def test_company_does_not_change_a_row(make):
    X, y = make()
    model = SubSVMs(n_svms=60, random_state=0).fit(X, y)
    whole = model.decision_function(X)
    for rows in (slice(0, 1), slice(5, 290), [3, 3, 9], np.arange(len(X))[::-1]):
        assert np.array_equal(model.decision_function(X[rows]), whole[rows])
    assert np.array_equal(whole, 2 * model.votes_ - 1)
    assert np.array_equal(model.correct(X), model.labels_corrected_)


def test_dense_sparse_frame_int_and_bool_agree():
    X, y = _binary()
    reference = SubSVMs(n_svms=80, random_state=0).fit(X, y).votes_
    sparse = sp.csr_matrix(X)
    explicit = sparse.copy()
    explicit.data[:50] = 0.0
    forms = {
        "csr_matrix": sparse,
        "csr_array": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "frame": pd.DataFrame(X).add_prefix("c"),
        "int": X.astype(int),
        "bool": X.astype(bool),
        "fortran": np.asfortranarray(X),
    }
    for name, form in forms.items():
        votes = SubSVMs(n_svms=80, random_state=0).fit(form, y).votes_
        assert np.abs(votes - reference).max() <= 1 / 80 + 1e-12, name
    stored = SubSVMs(n_svms=20, random_state=0).fit(explicit, y).votes_
    packed = explicit.copy()
    packed.eliminate_zeros()
    assert np.array_equal(stored, SubSVMs(n_svms=20, random_state=0).fit(packed, y).votes_)
    assert explicit.nnz > packed.nnz


def test_any_two_labels():
    X, y = _gaussians()
    plain = SubSVMs(n_svms=50, random_state=0).fit(X, y)
    for low, high in (("a", "b"), (0, 1), (3, 8), (False, True)):
        labels = np.where(y > 0, high, low)
        model = SubSVMs(n_svms=50, random_state=0).fit(X, labels)
        assert np.array_equal(model.votes_, plain.votes_)
        assert np.array_equal(model.classes_, [low, high])
        assert np.array_equal(model.labels_corrected_ == high, plain.labels_corrected_ == 1)


def test_curves_are_nested_runs():
    X, y = _gaussians()
    long = SubSVMs(n_svms=128, random_state=3).fit(X, y)
    curve = long.votes_curve(X, [1, 16, 128])
    short = SubSVMs(n_svms=16, random_state=3).fit(X, y)
    assert np.array_equal(curve[1], short.votes_)
    assert np.array_equal(curve[2], long.votes_)
    assert set(np.unique(curve[0])) <= {0.0, 1.0}
    assert np.array_equal(long.majority(curve)[2], long.labels_corrected_)


def test_ties_go_to_the_majority_class():
    X, y = _gaussians(share=0.4)
    rare_positive = SubSVMs(n_svms=2, random_state=0).fit(X, y)
    assert rare_positive.majority([0.5])[0] == -1
    rare_negative = SubSVMs(n_svms=2, random_state=0).fit(X, -y)
    assert rare_negative.majority([0.5])[0] == 1


@pytest.mark.parametrize("labels", [(-1, 1), ("sick", "well"), (1, 0)])
def test_probabilities_are_the_shares_of_votes(labels):
    X, y = _gaussians(share=0.4)
    y = np.where(y > 0, labels[1], labels[0])
    model = SubSVMs(n_svms=20, random_state=0).fit(X, y)
    shares = model.predict_proba(X)
    assert np.array_equal(shares[:, 1], model.votes_)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    tied = shares[:, 0] == shares[:, 1]
    assert 0 < tied.sum() < 30
    best = model.classes_[shares.argmax(axis=1)]
    assert np.array_equal(best[~tied], model.predict(X)[~tied])
    # Ties are the majority class's, whichever column it is.
    assert set(model.predict(X)[tied]) == {labels[0]}
    with pytest.raises(NotFittedError):
        SubSVMs().predict_proba(X)


def test_seeds():
    X, y = _gaussians()
    same = [SubSVMs(n_svms=20, random_state=5).fit(X, y).votes_ for _ in range(2)]
    assert np.array_equal(*same)
    assert not np.array_equal(same[0], SubSVMs(n_svms=20, random_state=6).fit(X, y).votes_)


def test_class_balanced_sampling_draws_both_classes_alike():
    minority = np.arange(1000) < 50
    draws = draw_subsets(minority, 400, 30, "balanced", 0)
    assert minority[draws].mean() == pytest.approx(0.5, abs=0.02)
    uniform = draw_subsets(minority, 400, 30, "uniform", 0)
    assert minority[uniform].mean() == pytest.approx(0.05, abs=0.01)
    biased = draw_subsets(minority, 400, 30, 0.8, 0)
    assert minority[biased].mean() == pytest.approx(0.8, abs=0.02)
    # within a class every row is as likely as another
    counts = np.bincount(draws[minority[draws]], minlength=50)[:50]
    assert counts.std() < 3 * np.sqrt(counts.mean())


def test_subset_sizes():
    assert subset_size("log2", 1605) == 54
    assert subset_size("log", 1605) == 7
    assert subset_size(np.int64(9), 1605) == 9
    assert subset_size("log2", 2) == 2


def test_one_class_subsets_vote_a_constant():
    X, y = _gaussians(n=60)
    model = SubSVMs(n_svms=50, sample_size=2, random_state=0).fit(X, y)
    assert ((model.votes_ >= 0) & (model.votes_ <= 1)).all()
    extreme = SubSVMs(n_svms=5, sample_size=2, sampling=1e-9, random_state=0).fit(X, y)
    assert (extreme.labels_corrected_ == -1).all()


def test_minority_weight_shifts_votes_to_the_minority():
    X, y = _gaussians(share=0.2)
    plain = SubSVMs(n_svms=100, C=0.1, random_state=0).fit(X, y).votes_.mean()
    heavy = SubSVMs(n_svms=100, C=0.1, minority_weight=10, random_state=0).fit(X, y)
    assert heavy.votes_.mean() > plain


def test_unscaled_features_fall_back_to_double_precision():
    rng = np.random.default_rng(0)
    X, y = _gaussians()
    wide = X * 1e4 + rng.normal(size=4) * 1e6
    model = SubSVMs(n_svms=30, gamma=0.25e-8, random_state=0).fit(wide, y)
    plain = SubSVMs(n_svms=30, gamma=0.25, random_state=0).fit(X, y)
    assert np.abs(model.votes_ - plain.votes_).max() <= 1 / 30 + 1e-12


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(1, 40), levels=st.integers(1, 3))
def test_distinct_rows(seed, n, levels):
    X = np.random.default_rng(seed).integers(0, levels, (n, 3)).astype(float)
    X[X == 0] = np.where(np.arange((X == 0).sum()) % 2, 0.0, -0.0)
    for form in (X, sp.csr_matrix(X)):
        first, inverse = distinct_rows(form)
        assert len(first) == len(np.unique(X + 0.0, axis=0))
        assert np.array_equal(X[first][inverse], X)


def test_checkpoints_need_not_include_the_end():
    X, y = _gaussians()
    model = SubSVMs(n_svms=20, random_state=0).fit(X, y)
    part = count_votes(model._machines, X, np.array([3, 7]))
    assert part.shape == (2, len(X))
    assert (part[1] >= part[0]).all()
    assert part[1].max() <= 7


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"n_svms": 0}, "n_svms"),
        ({"n_svms": 2.5}, "n_svms"),
        ({"n_svms": True}, "n_svms"),
        ({"sample_size": 1}, "sample_size"),
        ({"sample_size": "sqrt"}, "sample_size"),
        ({"sample_size": 0}, "sample_size"),
        ({"sampling": 0.0}, "sampling"),
        ({"sampling": 1.5}, "sampling"),
        ({"sampling": "stratified"}, "sampling"),
        ({"C": 0}, "C is"),
        ({"C": float("nan")}, "C is"),
        ({"C": "big"}, "C is"),
        ({"gamma": -1}, "gamma"),
        ({"gamma": "scale"}, "gamma"),
        ({"loss": "hinge"}, "loss"),
        ({"minority_weight": -1}, "minority_weight"),
    ],
)
def test_errors_name_the_parameter(options, word):
    X, y = _gaussians(40)
    with pytest.raises(UserError, match=word):
        SubSVMs(**{"n_svms": 3, **options}).fit(X, y)


def test_errors_of_labels_and_use():
    X, y = _gaussians(40)
    with pytest.raises(UserError, match="1 class"):
        SubSVMs(n_svms=3).fit(X, np.ones(40))
    with pytest.raises(UserError, match="Only binary"):
        SubSVMs(n_svms=3).fit(X, np.arange(40) % 3)
    with pytest.raises(NotFittedError):
        SubSVMs().predict(X)
    model = SubSVMs(n_svms=3, random_state=0).fit(X, y)
    for wrong in ([], [0], [4], [2, 1], 3, [1.5]):
        with pytest.raises(UserError, match="n_svms"):
            model.votes_curve(X, wrong)


@given(arrays(np.float32, st.integers(1, 70), elements=st.floats(-100, 0, width=32)))
def test_single_precision_exponential(z):
    value = z.copy()
    _exp32(value)
    right = np.exp(np.maximum(z.astype(float), -87.0))
    assert value == pytest.approx(right, rel=3e-7, abs=0.0)
    assert (value[z == 0.0] == 1.0).all()
