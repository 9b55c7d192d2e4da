"""Prepared files, and the real data sets."""

import numpy as np
import pytest
from scipy import sparse

from marginlab.datasets import (
    dataset_names,
    load_dataset,
    load_registry,
    read_prepared,
    save_prepared,
)
from marginlab.datasets.fetch import can_be_had
from marginlab.datasets.prepared import Dataset
from marginlab.errors import DataError

# ---------------------------------------------------------------- prepared files


def dataset_of(X_train, X_test, **extra):
    y = np.array([1, -1], dtype=np.int64)
    rows = (np.resize(y, X_train.shape[0]), np.resize(y, X_test.shape[0]))
    return Dataset(X_train, rows[0], X_test, rows[1], {"name": "x", "classes": ["a", "b"]}, extra)


@pytest.mark.parametrize("kind", ["dense", "sparse", "images", "counts", "empty"])
def test_prepared_files_give_back_what_was_saved(tmp_path, kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 7))
    if kind == "sparse":
        X = sparse.csr_matrix(X * (rng.random((40, 7)) < 0.3))
    elif kind == "images":
        X = rng.integers(0, 256, (300, 784)) / 255.0
    elif kind == "counts":
        X = sparse.random(2000, 800, density=0.1, format="csr", rng=1)
        X.data = np.ceil(5 * X.data)
    test = X[:0] if kind == "empty" else X[:3]
    dataset = dataset_of(X, test, q_train=rng.random(X.shape[0]))
    save_prepared(dataset, tmp_path / "x.npz")
    again = read_prepared(tmp_path / "x.npz")
    for part in ("X_train", "X_test"):
        ours, theirs = getattr(dataset, part), getattr(again, part)
        assert sparse.issparse(ours) == sparse.issparse(theirs)
        dense = [m.toarray() if sparse.issparse(m) else m for m in (ours, theirs)]
        np.testing.assert_array_equal(*dense)
        assert theirs.dtype == np.float64
    np.testing.assert_array_equal(again.y_train, dataset.y_train)
    np.testing.assert_array_equal(again.extra["q_train"], dataset.extra["q_train"])
    assert again.meta == dataset.meta
    first = (tmp_path / "x.npz").read_bytes()
    save_prepared(again, tmp_path / "x.npz")
    assert (tmp_path / "x.npz").read_bytes() == first
    if kind == "images":
        assert len(first) < 300 * 784 * 2


def test_missing_and_damaged_prepared_files(tmp_path):
    with pytest.raises(DataError, match="missing; run the rule prepare_data"):
        read_prepared(tmp_path / "x.npz")
    save_prepared(dataset_of(np.ones((2, 2)), np.ones((2, 2))), tmp_path / "x.npz")
    content = (tmp_path / "x.npz").read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"hello"):
        (tmp_path / "x.npz").write_bytes(damaged)
        with pytest.raises(DataError, match="damaged"):
            read_prepared(tmp_path / "x.npz")


# ---------------------------------------------------------------- real data


def real(name, mirror, tmp_path):
    within, reason = can_be_had(name, mirror=mirror, cache=tmp_path, offline=True)
    if not within or "package" in reason:
        pytest.skip(f"{name}: {reason}")
    return load_dataset(name, mirror=mirror, cache=tmp_path, offline=True)


@pytest.mark.parametrize("name", [n for n in dataset_names() if "mnist" not in n])
def test_real_sets_hold_what_the_registry_says(mirror, tmp_path, name):
    # load_dataset compares shapes and class counts itself; here: kinds and labels.
    dataset = real(name, mirror, tmp_path)
    spec = load_registry().dataset(name)
    assert sparse.issparse(dataset.X_train) == (
        spec.format in ("libsvm", "mat") or bool(spec.options.get("sparse"))
    )
    labels = set(np.unique(dataset.y_train).tolist())
    expected = {-1, 1} if spec.n_classes == 2 else set(range(spec.n_classes))
    assert labels == expected
    assert dataset.X_train.dtype == np.float64
    assert dataset.X_test.shape[1] == spec.n_features


PACKAGED = [name for name in dataset_names() if name.endswith("_keel")]
PACKAGED += ["letter", "segment", "satellite", "optdigits", "comp_vs_sci_short"]


@pytest.mark.network
@pytest.mark.parametrize("name", PACKAGED)
def test_package_sets_hold_what_the_registry_says(package_sources, name):
    dataset = load_dataset(name, mirror="", cache=package_sources.cache, offline=True)
    assert np.isfinite(dataset.X_train.sum())
    assert dataset.y_train.size > 0


@pytest.mark.network
@pytest.mark.slow
def test_mnist_pair_from_its_package(package_sources):
    dataset = load_dataset("mnist_3_8", mirror="", cache=package_sources.cache, offline=True)
    assert dataset.X_train.shape == (1000, 784)
    assert dataset.X_train.max() == 1.0
    assert dataset.y_test.size == 1984


def test_subjects_of_parkinson_are_on_one_side(mirror, tmp_path):
    dataset = real("parkinson", mirror, tmp_path)
    train, test = dataset.extra["subject_train"], dataset.extra["subject_test"]
    assert not set(train) & set(test)
    q, y = dataset.extra["q_train"], dataset.y_train
    assert (q[y == -1] == 1).all()
    assert q[y == 1].min() == 0
    assert q[y == 1].max() == 1


def test_duration_of_bank_is_a_score_and_no_feature(mirror, tmp_path):
    dataset = real("bank", mirror, tmp_path)
    q = dataset.extra["q_train"]
    assert q.min() == 0
    assert q.max() == 1
    duration = dataset.extra["duration_train"]
    for column in dataset.X_train.T:
        if np.ptp(column) > 0:
            assert abs(np.corrcoef(column, duration)[0, 1]) < 0.5


def test_splice_spans_the_whole_range(mirror, tmp_path):
    dataset = real("splice", mirror, tmp_path)
    values = np.unique(dataset.X_train.toarray())
    np.testing.assert_allclose(values, [-1, -1 / 3, 1 / 3, 1])
