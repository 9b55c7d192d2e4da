import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from marginlab.errors import UserError
from marginlab.svm.kernels import (
    linear_gram,
    rbf_blocks,
    rbf_gram,
    resolve_gamma,
    squared_norms,
)

FORMS = [np.asarray, sp.csr_matrix, sp.csr_array]


def _data(seed, n=23, m=17, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return X, rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_against_scikit_learn(form, dtype, error):
    X, Z = _data(0)
    expected = rbf_kernel(X, Z, gamma=0.3)
    kernel = rbf_gram(form(X), form(Z), 0.3, dtype)
    assert kernel.dtype == dtype
    assert np.abs(kernel - expected).max() < error
    assert np.abs(linear_gram(form(X), form(Z)) - X @ Z.T).max() < 1e-13
    assert np.allclose(squared_norms(form(X)), (X**2).sum(axis=1))


@pytest.mark.parametrize("form", FORMS)
def test_gram_of_itself(form):
    X, _ = _data(1)
    X[3] = X[5]
    kernel = rbf_gram(form(X), None, 0.7)
    assert (np.diag(kernel) == 1).all()
    assert np.array_equal(kernel, kernel.T)
    assert kernel[3, 5] == pytest.approx(1, abs=1e-15)
    assert np.abs(kernel - rbf_kernel(X, gamma=0.7)).max() < 1e-14


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block", [1, 5, 17, 100])
def test_blocks_join_to_the_whole(form, block):
    X, Z = _data(2)
    parts = list(rbf_blocks(form(X), form(Z), 0.4, block))
    whole = np.hstack([values for _, values in parts])
    assert np.abs(whole - rbf_kernel(X, Z, gamma=0.4)).max() < 1e-14
    assert [s.start for s, _ in parts] == list(range(0, 17, block))


def test_a_common_offset_does_no_harm():
    X, Z = _data(3)
    near = rbf_gram(X, Z, 0.5)
    assert np.abs(rbf_gram(X + 1e5, Z + 1e5, 0.5) - near).max() < 1e-9


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1000), gamma=st.floats(1e-3, 10))
def test_positive_semidefinite_and_at_most_one(seed, gamma):
    X, _ = _data(seed, n=12)
    kernel = rbf_gram(X, None, gamma)
    assert kernel.max() <= 1
    assert kernel.min() >= 0
    assert np.linalg.eigvalsh(kernel).min() > -1e-12


def test_gamma():
    assert resolve_gamma("1/d", 4) == 0.25
    assert resolve_gamma(2, 4) == 2.0
    for wrong in ("scale", 0, -1.0, float("inf"), None, True, [1.0]):
        with pytest.raises(UserError, match="gamma is"):
            resolve_gamma(wrong, 4)


def test_large_gram_is_symmetric():
    X = np.random.default_rng(0).normal(size=(1100, 3))
    kernel = rbf_gram(X, None, 0.7, np.float32)
    assert np.array_equal(kernel, kernel.T)
    assert np.abs(kernel - rbf_kernel(X, gamma=0.7)).max() < 1e-5
