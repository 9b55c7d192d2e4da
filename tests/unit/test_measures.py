import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from marginlab.errors import UserError
from marginlab.measures import accuracy, auc, bac, sif


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 80))
def test_agree_with_scikit_learn(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.r_[1, -1, rng.choice([-1, 1], n)])
    guess = rng.choice([-1, 1], len(y))
    scores = rng.integers(0, 6, len(y))
    assert bac(y, guess) == pytest.approx(balanced_accuracy_score(y, guess))
    assert accuracy(y, guess) == pytest.approx(np.mean(y == guess))
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores))


def test_sif_is_the_f_score_on_balanced_data():
    rng = np.random.default_rng(1)
    y = np.repeat([1, -1], 50)
    guess = rng.choice([-1, 1], 100)
    assert sif(y, guess) == pytest.approx(f1_score(y, guess))


def test_specificity_uses_the_negatives():
    # 1 of 2 positives and 3 of 4 negatives are right
    y = [1, 1, -1, -1, -1, -1]
    guess = [1, -1, -1, -1, -1, 1]
    assert bac(y, guess) == pytest.approx((0.5 + 0.75) / 2)
    assert sif(y, guess) == pytest.approx(2 * 0.5 / (0.5 + 0.25 + 1))


def test_measures_ignore_the_class_ratio():
    y = np.array([1, 1, -1, -1])
    guess = np.array([1, -1, -1, 1])
    many = np.r_[y, np.tile([-1, -1], 50)]
    answers = np.r_[guess, np.tile([-1, 1], 50)]
    assert bac(many, answers) == pytest.approx(bac(y, guess))
    assert sif(many, answers) == pytest.approx(sif(y, guess))


def test_ranking_upside_down():
    y = np.array([1, 1, -1])
    assert auc(y, [3, 2, 1]) == 1
    assert auc(y, [1, 2, 3]) == 0
    assert auc(y, [1, 1, 1]) == 0.5


@pytest.mark.parametrize("measure", [bac, sif, auc])
def test_need_both_classes(measure):
    with pytest.raises(UserError, match="both labels"):
        measure([1, 1], [1, -1])


@pytest.mark.parametrize("measure", [bac, sif, auc, accuracy])
def test_shapes(measure):
    with pytest.raises(UserError, match="equal length"):
        measure([1, -1], [1])
    with pytest.raises(UserError, match="empty"):
        measure([], [])


def test_unmapped_predictions():
    with pytest.raises(UserError, match="-1 and \\+1"):
        bac([1, -1], [1, 0])
