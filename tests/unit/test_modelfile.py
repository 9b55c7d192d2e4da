"""Saved models predict as the fitted ones do, and a bad file is one sentence."""

import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from marginlab.errors import DataError, UserError
from marginlab.modelfile import load_model, mrc_model, save_model, svm_model
from marginlab.mrc.estimator import MinimaxRiskClassifier
from marginlab.svm.weighted import WeightedSVC
from marginlab.tabular import Layout, Scaler

RNG = np.random.default_rng(7)
X = RNG.normal(size=(80, 3)) * [1, 10, 0.1]
SIGN = X[:, 0] + 0.1 * X[:, 1] > 0


def make(kind="svm", labels=("no", "yes"), form=np.asarray, classes=2, **options):
    data = form(X)
    scaler = Scaler.fit(data, "standard")
    layout = Layout("libsvm", 3)
    y = np.array(labels)[SIGN.astype(int)]
    if classes == 3:
        y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    scaled = scaler.apply(data)
    if kind == "svm":
        fitted = WeightedSVC(C=3.0, **options).fit(scaled, y, np.where(SIGN, 0.5, 1.0))
        return svm_model(fitted, scaled, y, layout, scaler, {"rows": 80}), fitted, scaled, data
    fitted = MinimaxRiskClassifier(random_state=1, **options).fit(scaled, y)
    return mrc_model(fitted, layout, scaler, {"rows": 80}), fitted, scaled, data


CASES = [
    {"kind": "svm"},
    {"kind": "svm", "labels": (-1, 1), "form": sparse.csr_matrix},
    {"kind": "svm", "kernel": "linear"},
    {"kind": "mrc", "features": "linear"},
    {"kind": "mrc", "features": "linear", "form": sparse.csr_matrix},
    {"kind": "mrc", "features": "fourier", "n_components": 20, "classes": 3},
    {"kind": "mrc", "features": "fourier", "n_components": 21},
]


@pytest.mark.parametrize("case", CASES)
def test_a_saved_model_predicts_as_the_fitted_one(tmp_path, case):
    model, fitted, scaled, data = make(**case)
    save_model(model, tmp_path / "model.npz")
    back = load_model(tmp_path / "model.npz")
    np.testing.assert_allclose(
        back.decision_function(data), fitted.decision_function(scaled), rtol=0, atol=1e-10
    )
    assert back.predict(data).tolist() == fitted.predict(scaled).tolist()
    assert back.facts["rows"] == 80


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model, *_ = make()
    for name in ("a.npz", "b.npz"):
        save_model(model, tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.npz"
    save_model(make()[0], path)
    return path


def changed(saved, target, **arrays):
    """A copy with some arrays exchanged; None leaves one out."""
    with np.load(saved) as stored:
        found = {name: stored[name] for name in stored.files} | arrays
    np.savez(target, **{name: array for name, array in found.items() if array is not None})
    return target


def head_of(saved, **entries):
    with np.load(saved) as stored:
        head = json.loads(stored["head"].tobytes()) | entries
    return np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)


def test_a_pickle_is_refused_and_not_run(saved, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    path = changed(saved, tmp_path / "m.npz", coef=np.array([Bomb()], dtype=object))
    (tmp_path / "ran").unlink(missing_ok=True)
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb()))
    (tmp_path / "ran").unlink(missing_ok=True)
    for bad in (path, tmp_path / "plain.npz"):
        with pytest.raises(DataError, match="not a marginlab model"):
            load_model(bad)
    assert not (tmp_path / "ran").exists()


def test_foreign_newer_and_damaged_files(saved, tmp_path):
    target = tmp_path / "m.npz"
    with pytest.raises(DataError, match="does not exist"):
        load_model(target)
    target.write_text("no archive")
    with pytest.raises(DataError, match="not a marginlab model"):
        load_model(target)
    np.savez(target, x=np.ones(2))
    with pytest.raises(DataError, match="not a marginlab model"):
        load_model(target)
    with pytest.raises(DataError, match="upgrade"):
        load_model(changed(saved, target, head=head_of(saved, format=99)))
    with pytest.raises(DataError, match="not a marginlab model"):
        load_model(changed(saved, target, head=head_of(saved, magic="other")))
    with pytest.raises(DataError, match="checksum"):
        load_model(changed(saved, target, coef=np.zeros(3)))
    with pytest.raises(DataError, match="checksum"):
        load_model(changed(saved, target, coef=None))
    with pytest.raises(DataError, match="damaged"):
        load_model(changed(saved, target, head=head_of(saved, kind="forest")))


def test_an_archive_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("marginlab.modelfile._MOST_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "m.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("head.npy", b"0" * 2000)
    with pytest.raises(DataError, match="unpacks to more"):
        load_model(tmp_path / "m.npz")


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_flipped_byte_is_noticed_or_harmless(saved, tmp_path_factory, place, flip):
    data = bytearray(saved.read_bytes())
    data[place % len(data)] ^= flip
    path = tmp_path_factory.getbasetemp() / "flipped.npz"
    path.write_bytes(bytes(data))
    try:
        model = load_model(path)
    except DataError as error:
        assert "\n" not in str(error)
    else:
        good = load_model(saved)
        np.testing.assert_array_equal(model.decision_function(X), good.decision_function(X))


def test_the_name_and_the_width_are_checked(tmp_path):
    model, *_ = make()
    with pytest.raises(UserError, match=r"\.npz"):
        save_model(model, tmp_path / "model.pkl")
    with pytest.raises(UserError, match="reads 3 features, but X has 2"):
        model.predict(X[:, :2])
