"""Generated data sets."""

import numpy as np
import pytest

from marginlab.datasets import load_dataset, load_registry
from marginlab.datasets.generators import (
    ringnorm,
    ringnorm_unbalanced,
    two_gaussians,
    twonorm,
    waveform,
)
from marginlab.errors import DataError


def test_generators_have_the_moments_of_their_definitions():
    rng = np.random.default_rng(5)
    a = 2 / np.sqrt(20)
    for make, mean, variance, other_mean, other_variance in (
        (ringnorm, 0.0, 4.0, a, 1.0),
        (twonorm, a, 1.0, -a, 1.0),
        (ringnorm_unbalanced, 1.0, 1.0, 0.0, 4.0),
    ):
        X, y = make(20_000, rng, 20)
        assert X.shape == (20_000, 20)
        assert y.dtype == np.int64
        for label, m, v in ((1, mean, variance), (-1, other_mean, other_variance)):
            assert abs(X[y == label].mean() - m) < 0.02
            assert abs(X[y == label].var() - v) < 0.05
    assert abs((y == 1).mean() - 0.3) < 0.02


def test_waveform_classes():
    X, y = waveform(20_000, np.random.default_rng(6))
    assert abs((y == 1).mean() - 1 / 3) < 0.02
    position = np.arange(1, 22)
    waves = [np.maximum(6.0 - np.abs(position - p), 0) for p in (7, 11, 15)]
    expected = (waves[0] + waves[1]) / 2
    np.testing.assert_allclose(X[y == 1].mean(axis=0), expected, atol=0.1)
    rest = (waves[0] + waves[2] + waves[1] + waves[2]) / 4
    np.testing.assert_allclose(X[y == -1].mean(axis=0), rest, atol=0.1)


@pytest.mark.parametrize("d", [2, 16, 30])
@pytest.mark.parametrize("beta", [0.05, 0.3, 0.5])
def test_two_gaussians_keep_their_margin(d, beta):
    X, y = two_gaussians(1000, np.random.default_rng(7), d=d, beta=beta)
    assert 980 <= y.size <= 1000
    assert (y * X[:, 0] >= 0.1).all()
    assert abs((y == 1).mean() - beta) < 0.02
    assert abs(X[:, 1:].var() - 0.1) < 0.02
    assert abs(X[y == 1, 0].mean() - 1) < 0.2


def test_two_gaussians_need_both_classes():
    with pytest.raises(DataError, match="leaves a class"):
        two_gaussians(10, np.random.default_rng(0), beta=0.0)


GENERATED = [name for name, spec in load_registry().datasets.items() if spec.generator]


@pytest.mark.parametrize("name", GENERATED)
def test_generated_sets_are_the_same_each_time(name):
    first, second = load_dataset(name), load_dataset(name)
    np.testing.assert_array_equal(first.X_train, second.X_train)
    assert not np.array_equal(first.X_train[:50], first.X_test[:50])
    assert load_registry().dataset(name).counts
