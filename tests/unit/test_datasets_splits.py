"""Splits into training and test rows, and scaling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginlab.datasets.scaling import scale_parts, unit_interval
from marginlab.datasets.splits import split_rows, stratified_sizes
from marginlab.errors import ConfigError


@given(st.lists(st.integers(1, 60), min_size=2, max_size=6), st.integers(0, 2**31), st.data())
def test_a_stratified_split_has_no_row_twice_and_fair_shares(counts, seed, data):
    y = np.repeat(np.arange(len(counts)), counts)
    train = data.draw(st.integers(0, y.size))
    test = data.draw(st.integers(0, y.size - train))
    split = {"kind": "stratified", "train": train, "test": test}
    first, second = split_rows(split, y, {}, np.random.default_rng(seed))
    assert first.size == train
    assert second.size == test
    assert np.intersect1d(first, second).size == 0
    assert (np.diff(first) > 0).all()
    found = np.bincount(y[first], minlength=len(counts))
    assert (np.abs(found - np.array(counts) * train / y.size) < 1).all()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any), st.data())
def test_stratified_sizes_add_up_and_never_exceed_a_class(counts, data):
    total = data.draw(st.integers(0, sum(counts)))
    sizes = stratified_sizes(np.array(counts), total)
    assert sizes.sum() == total
    assert (sizes <= counts).all()


def test_groups_stay_together():
    group = np.repeat(np.arange(10), 3)
    y = np.where(group < 6, 1, -1)
    split = {"kind": "by_group", "group": "subject", "train": 5}
    train, test = split_rows(split, y, {"subject": group}, np.random.default_rng(0))
    assert not set(group[train]) & set(group[test])
    assert train.size + test.size == 30
    assert (y[train] == 1).sum() == 9


def test_scaling_takes_its_range_from_training_alone():
    train, test = np.array([[0.0, 5], [4, 5]]), np.array([[8.0, 6]])
    scaled = scale_parts({"minmax": [0, 1]}, train, test)
    np.testing.assert_array_equal(scaled[0], [[0, 0], [1, 0]])
    np.testing.assert_array_equal(scaled[1], [[2, 1]])
    np.testing.assert_array_equal(scale_parts({"divide": 4}, train, test)[1], [[2, 1.5]])
    assert scale_parts({}, train, test)[0] is train
    with pytest.raises(ConfigError, match="'wash' is unknown"):
        scale_parts({"wash": 1}, train, test)


def test_unit_interval_clips_and_survives_a_constant():
    reference = np.array([10.0, 20.0])
    np.testing.assert_allclose(unit_interval(np.array([5.0, 15, 30]), reference), [0, 0.5, 1])
    np.testing.assert_allclose(unit_interval(np.array([7.0]), np.array([7.0, 7.0])), [0])
