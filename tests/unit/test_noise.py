import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginlab.errors import UserError
from marginlab.noise import flip_labels, minority_label

LABELS = [(-1, 1), (0, 1), ("no", "yes"), (False, True), (2.5, 7.0)]


@settings(max_examples=200, deadline=None)
@given(
    n_a=st.integers(1, 60),
    n_b=st.integers(1, 60),
    rho=st.floats(0, 0.99),
    alpha=st.floats(0, 1),
    seed=st.integers(0, 99),
    labels=st.sampled_from(LABELS),
)
def test_counts_and_direction(n_a, n_b, rho, alpha, seed, labels):
    y = np.array([labels[0]] * n_a + [labels[1]] * n_b)
    noisy = flip_labels(y, rho, alpha, np.random.default_rng(seed))
    minority = minority_label(y)
    flips = round(rho * min(n_a, n_b))
    from_majority = round(alpha * flips)
    changed = noisy != y
    assert changed.sum() == flips
    assert (changed & (y != minority)).sum() == from_majority
    assert (noisy == minority).sum() == min(n_a, n_b) - flips + 2 * from_majority
    assert noisy.dtype == y.dtype


def test_alpha_one_moves_majority_points_into_the_minority():
    y = np.r_[np.ones(40), -np.ones(160)]
    noisy = flip_labels(y, 0.75, 1.0, np.random.default_rng(0))
    assert (noisy[:40] == 1).all()
    assert (noisy[40:] == 1).sum() == 30


def test_alpha_zero_empties_the_minority():
    y = np.r_[np.ones(40), -np.ones(160)]
    noisy = flip_labels(y, 0.75, 0.0, np.random.default_rng(0))
    assert (noisy[40:] == -1).all()
    assert (noisy[:40] == 1).sum() == 10


def test_input_is_untouched_and_seed_decides():
    y = np.r_[np.ones(40), -np.ones(160)]
    before = y.copy()
    first = flip_labels(y, 0.5, 0.5, np.random.default_rng(3))
    second = flip_labels(y, 0.5, 0.5, np.random.default_rng(3))
    other = flip_labels(y, 0.5, 0.5, np.random.default_rng(4))
    assert np.array_equal(y, before)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_flipped_points_are_uniform_within_a_class():
    y = np.r_[np.ones(10), -np.ones(30)]
    rng = np.random.default_rng(0)
    share = np.mean([flip_labels(y, 0.5, 0.6, rng) != y for _ in range(4000)], axis=0)
    assert np.allclose(share[:10], 2 / 10, atol=0.03)
    assert np.allclose(share[10:], 3 / 30, atol=0.03)


def test_equal_counts_take_the_larger_label():
    assert minority_label([0, 1]) == 1


@pytest.mark.parametrize(
    ("y", "rho", "alpha", "word"),
    [
        ([1, 1, 1], 0.5, 0.5, "1 distinct"),
        ([1, 2, 3], 0.5, 0.5, "3 distinct"),
        ([], 0.5, 0.5, "0 distinct"),
        ([[1, -1]], 0.5, 0.5, "shape"),
        ([1.0, np.nan, -1.0], 0.5, 0.5, "missing"),
        ([1, -1], 1.0, 0.5, "rho"),
        ([1, -1], -0.1, 0.5, "rho"),
        ([1, -1], "a", 0.5, "rho"),
        ([1, -1], 0.5, 1.1, "alpha"),
        ([1, -1], 0.5, float("nan"), "alpha"),
    ],
)
def test_errors_name_the_mistake(y, rho, alpha, word):
    with pytest.raises(UserError, match=word):
        flip_labels(y, rho, alpha, np.random.default_rng(0))


def test_a_seed_is_no_generator():
    with pytest.raises(UserError, match="default_rng"):
        flip_labels([1, -1], 0.5, 0.5, 7)
