"""Paper 1's baselines: scores, folds, bags and choices against plain computations."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from marginlab.datasets import Dataset
from marginlab.datasets.prepared import save_prepared
from marginlab.errors import DataError
from marginlab.experiments import subsvms_peers
from marginlab.experiments.subsvms_baselines import choose_blind, run_baselines
from marginlab.experiments.subsvms_grid import (
    GridData,
    class_penalties,
    cross_validate,
    fold_scores,
    point_scores,
    run_gamma,
    split_folds,
)
from marginlab.experiments.subsvms_uci import corrupt
from marginlab.files import write_npz
from marginlab.measures import accuracy, auc, bac, sif
from marginlab.seeds import rng

SETTINGS = {
    "C": [1.0, 10.0],
    "W": [0.3, 1.0],
    "gamma": [0.3, 3.0],
    "cv_folds": 3,
    "cv_splits": 2,
    "cv_splits_large": 1,
    "cv_repeats_large": 1,
    "large_rows": 1000,
    "bags": 4,
    "tolerance": 1e-3,
}


def _dataset(seed=0, n=80, name="blobs"):
    random = np.random.default_rng(seed)
    y = np.where(np.arange(2 * n) % 3 == 0, 1, -1)
    X = np.round(random.standard_normal((2 * n, 3)) + 0.9 * y[:, None], 1)
    return Dataset(X[:n], y[:n], X[n:], y[n:], {"name": name})


def _files(folder, name="blobs", seed=0):
    data = folder / f"{name}.npz"
    save_prepared(_dataset(seed, name=name), data)
    noise = {}
    for alpha in ("clean", "0.5"):
        noise[alpha] = folder / f"{name}_{alpha}.npz"
        corrupt(data, noise[alpha], alpha=alpha, rho=0.75, repeats=2, seed=1)
    return data, noise


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baselines")
    data, noise = _files(folder)
    table, grid = folder / "table.csv", folder / "grid.npz"
    run_baselines(data, noise, table, grid, settings=SETTINGS, run="quick", seed=5)
    return pd.read_csv(table), grid


def _svc(X, y, costs, gamma):
    squares = (X**2).sum(axis=1)
    gram = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))
    model = SVC(C=1e10, kernel="precomputed", tol=1e-8).fit(gram + np.diag(1 / costs), y)

    def decide(Z):
        cross = np.exp(-gamma * ((Z[:, None] - X[None]) ** 2).sum(axis=2))
        return cross[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]

    return decide


def test_point_scores_are_the_measures():
    random = np.random.default_rng(0)
    scores = np.round(random.standard_normal((3, 25)), 1).astype(np.float32)
    counts = random.integers(0, 4, (25, 2)).astype(float)
    found = point_scores(scores, counts)
    rows = np.repeat(np.arange(25), counts.sum(axis=1).astype(int))
    truth = np.concatenate([[-1] * int(a) + [1] * int(b) for a, b in counts])
    for values, f in zip(found, scores[:, rows], strict=True):
        predicted = np.where(f > 0, 1, -1)
        expected = [
            accuracy(truth, predicted), bac(truth, predicted), sif(truth, predicted),
            auc(truth, f),
        ]  # fmt: skip
        np.testing.assert_allclose(values, expected, atol=1e-6)
        assert values[3] == pytest.approx(roc_auc_score(truth, f))


def test_grid_scores_are_those_of_libsvm():
    dataset = _dataset()
    gamma, y = 0.4, dataset.y_train
    done = run_gamma(
        GridData.of(dataset), y[None], gamma, settings=SETTINGS | {"tolerance": 1e-5},
        splits=0, folded=np.ones(1, bool), seed=0, name="blobs",
    )  # fmt: skip
    costs = class_penalties(y, SETTINGS["C"], SETTINGS["W"])
    for k, (c, w) in enumerate(np.ndindex(2, 2)):
        f = _svc(dataset.X_train, y, costs[k], gamma)(dataset.X_test)
        predicted = np.where(f > 0, 1, -1)
        expected = [accuracy(dataset.y_test, predicted), bac(dataset.y_test, predicted)]
        np.testing.assert_allclose(done.scores[0, c, w, :2], expected, atol=0.02)
        assert done.scores[0, c, w, 3] == pytest.approx(auc(dataset.y_test, f), abs=5e-3)


def test_cross_validation_is_that_of_libsvm():
    dataset = _dataset(3)
    y, data = dataset.y_train, GridData.of(dataset)
    costs = class_penalties(y, [10.0], [0.3, 1.0])
    fold = split_folds(len(y), 4, np.random.default_rng(0))
    right = cross_validate(data, data.kernel(0.4), y[None], costs[None], fold, tol=1e-5)
    plain, balanced = fold_scores(right, y[None])
    for k in range(2):
        right, agreement = 0, []
        for number in range(4):
            on = fold != number
            f = _svc(dataset.X_train[on], y[on], costs[k][on], 0.4)(dataset.X_train[~on])
            right += (np.where(f > 0, 1, -1) == y[~on]).sum()
            agreement += [*zip(y[~on], np.where(f > 0, 1, -1), strict=True)]
        assert plain[0, k] == pytest.approx(right / len(y), abs=1.5 / len(y))
        expected = bac(*np.array(agreement).T)
        assert balanced[0, k] == pytest.approx(expected, abs=1.5 / np.bincount(y + 1).max())


def test_cv_by_bac_takes_the_point_that_a_plain_search_takes(tmp_path):
    random = np.random.default_rng(6)
    y = np.where(np.arange(240) % 6 == 0, 1, -1)
    X = random.standard_normal((240, 2)) + 1.1 * (y[:, None] > 0)
    data = tmp_path / "skew.npz"
    save_prepared(Dataset(X[:120], y[:120], X[120:], y[120:], {"name": "skew"}), data)
    noise = tmp_path / "noise.npz"
    corrupt(data, noise, alpha="0.5", rho=0.3, repeats=1, seed=1)
    labels = np.load(noise)["y_noisy"][0].astype(int)
    settings = SETTINGS | {"W": [0.3, 1.0, 5.0], "cv_splits": 1, "tolerance": 1e-5}
    run_baselines(
        data, {"0.5": noise}, tmp_path / "t.csv", tmp_path / "g.npz",
        settings=settings, run="quick", seed=5,
    )  # fmt: skip
    fold = split_folds(120, 3, rng(5, "subsvms", "skew", "folds", 0))
    rare = 1 if (labels == 1).sum() < (labels == -1).sum() else -1
    best: dict[str, tuple[float, float]] = {"accuracy": (-1, 0), "bac": (-1, 0)}
    for gamma in (0.3 / 2, 3.0 / 2):
        for C in settings["C"]:
            for W in settings["W"]:
                costs = np.where(labels == rare, C * W, C)
                guess = np.zeros(120, int)
                for on in (fold != k for k in range(3)):
                    decide = _svc(X[:120][on], labels[on], costs[on], gamma)
                    guess[~on] = np.where(decide(X[:120][~on]) > 0, 1, -1)
                test = np.where(_svc(X[:120], labels, costs, gamma)(X[120:]) > 0, 1, -1)
                for measure, of in (("accuracy", accuracy), ("bac", bac)):
                    if of(labels, guess) > best[measure][0]:
                        best[measure] = (of(labels, guess), bac(y[120:], test))
    frame = pd.read_csv(tmp_path / "t.csv")
    found = frame[frame.measure == "bac"].set_index("method").value
    assert found["CV-SVM (BAC)"] == pytest.approx(best["bac"][1], abs=1e-6)
    assert found["CV-SVM"] == pytest.approx(best["accuracy"][1], abs=1e-6)
    # the two choices differ here, so each can be wrong by itself
    assert best["bac"][1] > best["accuracy"][1] + 0.05


def test_class_weights_follow_the_corrupted_minority():
    y = np.array([1, 1, 1, -1])
    np.testing.assert_array_equal(
        class_penalties(y, [2.0], [0.5, 1.0]), [[2, 2, 2, 1], [2, 2, 2, 2]]
    )


def test_folds_are_equal_and_seeded():
    fold = split_folds(10, 4, np.random.default_rng(1))
    assert sorted(np.bincount(fold)) == [2, 2, 3, 3]
    np.testing.assert_array_equal(fold, split_folds(10, 4, np.random.default_rng(1)))


def test_table_has_every_method_and_oracles_are_at_least_as_accurate(outcome):
    frame, _ = outcome
    means = frame[frame.measure == "accuracy"].set_index(["method", "setting", "repeat"]).value
    methods = {"Oracle-SVM", "Oracle-SVM (W searched)", "Bag-SVM", "CV-SVM", "CV-SVM (BAC)"}
    assert set(frame.method) == methods
    for setting, repeat in (("clean", 0), ("alpha=0.5", 0), ("alpha=0.5", 1)):
        searched = means["Oracle-SVM (W searched)", setting, repeat]
        assert searched >= means["Oracle-SVM", setting, repeat]
        assert searched >= means["CV-SVM", setting, repeat]
        assert searched >= means["CV-SVM (BAC)", setting, repeat]
    residuals = frame[frame.measure == "kkt_residual"].value
    assert residuals.max() <= 10 * SETTINGS["tolerance"]
    assert (frame[frame.measure == "cv_splits"].value == 2).all()


def test_large_sets_cross_validate_the_first_corruptions_only(tmp_path):
    data, noise = _files(tmp_path)
    settings = SETTINGS | {"large_rows": 0}
    run_baselines(
        data, noise, tmp_path / "t.csv", tmp_path / "g.npz", settings=settings, run="quick", seed=5
    )
    frame = pd.read_csv(tmp_path / "t.csv")
    splits = frame[frame.measure == "cv_splits"].set_index(["setting", "repeat"]).value
    assert splits["alpha=0.5", 0] == 1
    assert splits["alpha=0.5", 1] == 0
    for method in ("CV-SVM", "CV-SVM (BAC)"):
        folds = frame[(frame.method == method) & (frame.measure == "bac")]
        assert (folds.repeat == 0).all()
        assert len(folds) == 2


def test_same_tables_twice(outcome, tmp_path):
    data, noise = _files(tmp_path)
    run_baselines(
        data, noise, tmp_path / "t.csv", tmp_path / "g.npz", settings=SETTINGS, run="quick", seed=5
    )
    frames = [outcome[0], pd.read_csv(tmp_path / "t.csv")]
    first, second = (f[~f.measure.str.startswith("seconds")] for f in frames)
    pd.testing.assert_frame_equal(first, second)


def test_blind_takes_the_best_average(outcome, tmp_path):
    data, noise = _files(tmp_path, "other", seed=4)
    other = tmp_path / "other_grid.npz"
    run_baselines(data, noise, tmp_path / "t.csv", other, settings=SETTINGS, run="quick", seed=5)
    grids = [outcome[1], other]
    choose_blind(grids, tmp_path / "blind.csv", tmp_path / "choice.csv", run="quick")
    frame, choice = pd.read_csv(tmp_path / "blind.csv"), pd.read_csv(tmp_path / "choice.csv")
    scores = [np.load(path)["scores"][0, :, :, 1, 0] for path in grids]  # clean, W = 1
    mean = np.mean(scores, axis=0)
    picked = choice[choice.setting == "clean"].set_index("measure").value
    g = SETTINGS["gamma"].index(picked["gamma_times_d"])
    c = SETTINGS["C"].index(picked["C"])
    assert mean[g, c] == mean.max()
    rows = frame[(frame.setting == "clean") & (frame.measure == "accuracy")]
    np.testing.assert_allclose(rows.set_index("dataset").value[["blobs", "other"]],
                               [s[g, c] for s in scores])  # fmt: skip


def test_blind_of_a_damaged_file_says_so(tmp_path):
    write_npz(tmp_path / "grid.npz", meta=np.array(json.dumps({})))
    with pytest.raises(DataError, match="holds no grid scores"):
        choose_blind([tmp_path / "grid.npz"], tmp_path / "b.csv", tmp_path / "c.csv", run="quick")


def test_blind_without_data_writes_empty_tables(tmp_path):
    choose_blind([], tmp_path / "b.csv", tmp_path / "c.csv", run="quick")
    assert pd.read_csv(tmp_path / "b.csv").empty


@pytest.mark.parametrize("installed", [False, True])
def test_peers(tmp_path, monkeypatch, capsys, installed):
    data, noise = _files(tmp_path)
    monkeypatch.setattr(subsvms_peers, "find_spec", lambda _: object() if installed else None)
    monkeypatch.setattr(subsvms_peers, "_issues", lambda X, y: X[:, 0] * y < -1)
    options = {"C": 1.0, "gamma": "1/d", "repeats": 1, "n_svms": 5}
    subsvms_peers.run_peers(data, noise, tmp_path / "t.csv", settings=options, run="quick", seed=0)
    frame = pd.read_csv(tmp_path / "t.csv")
    expected = {subsvms_peers.BALANCED, subsvms_peers.BAGGING}
    assert set(frame.method) == expected | ({subsvms_peers.CLEANLAB} if installed else set())
    assert ("cleanlab is not installed" in capsys.readouterr().out) is not installed
    assert (frame[frame.measure == "bac"].value > 0.5).all()


def test_cleanlab_finds_flipped_labels():
    pytest.importorskip("cleanlab", reason="needs the optional package cleanlab")
    dataset = _dataset(7, 200)
    y = dataset.y_train.copy()
    y[:10] *= -1
    found = subsvms_peers._issues(dataset.X_train, y)
    assert found[:10].mean() > found[10:].mean()


@pytest.mark.parametrize("machines", [6, 9])
def test_answers_of_peers_are_scikit_learns(machines):
    rng_ = np.random.default_rng(3)
    X = rng_.normal(size=(120, 3))
    y = np.where(X[:, 0] + rng_.normal(size=120) > 0.8, 1, -1)
    bags = BaggingClassifier(
        subsvms_peers.BagSVC(), n_estimators=machines, max_samples=6, random_state=1
    )
    for model in (SVC(class_weight="balanced").fit(X, y), bags.fit(X, y)):
        labels, values = subsvms_peers.answers(model, X)
        np.testing.assert_array_equal(labels, model.predict(X))
        np.testing.assert_allclose(values, model.decision_function(X), atol=1e-12)
    machines_of = np.array([m.predict(X) for m in bags.estimators_])
    tied = (machines_of == 1).sum(axis=0) * 2 == machines
    assert tied.any() == (machines == 6), "six machines tie on some rows, nine never"


def test_bags_of_one_class_vote_for_it():
    """With few errors a uniform bag often has one class only, which SVC refuses."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = np.where(np.arange(60) < 3, 1, -1)
    bags = BaggingClassifier(subsvms_peers.BagSVC(), n_estimators=9, max_samples=5, random_state=0)
    bags.fit(X, y)
    constants = [machine.constant_ for machine in bags.estimators_]
    assert 0 in constants, "this case is meant to draw bags of the larger class"
    assert None in constants, "and bags of both"
    assert set(bags.predict(X)) <= {-1, 1}
    lone = subsvms_peers.BagSVC().fit(X, np.ones(60))
    assert (lone.predict(X) == 1).all()
    assert (lone.decision_function(X) == 1.0).all()
    assert (bags.decision_function(X) < 0).mean() > 0.5
