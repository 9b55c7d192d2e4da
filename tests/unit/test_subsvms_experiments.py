import numpy as np
import pandas as pd
import pytest

from marginlab.datasets import Dataset, save_prepared
from marginlab.errors import ConfigError, DataError
from marginlab.experiments.subsvms_claims import judge_claims
from marginlab.experiments.subsvms_report import (
    folds_note,
    score_table,
    settings_of,
    write_result_tables,
)
from marginlab.experiments.subsvms_synthetic import curves, powers_of_two, run_synthetic
from marginlab.experiments.subsvms_uci import correct_dataset, corrupt, read_noise
from marginlab.results import Results, read_results
from marginlab.svm.active_set import solve_l2
from marginlab.svm.kernels import rbf_gram
from marginlab.svm.newton import train_l2

MODEL = {"n_svms": 60, "sample_size": "log2", "C": 100.0, "gamma": "1/d"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Tidy rows of a small data set: clean and one direction of attack."""
    folder = tmp_path_factory.mktemp("paper1")
    rng = np.random.default_rng(0)
    y = np.where(np.arange(400) % 3 == 0, 1, -1)
    X = rng.normal(size=(400, 3)) + 1.2 * y[:, None]
    data = Dataset(X[:250], y[:250], X[250:], y[250:], {"name": "toy"})
    save_prepared(data, folder / "toy.npz")
    noise = {alpha: folder / f"noise{alpha}.npz" for alpha in ("clean", "0.0")}
    arrays = {alpha: folder / f"{alpha}.npz" for alpha in noise}
    for alpha, path in noise.items():
        corrupt(folder / "toy.npz", path, alpha=alpha, rho=0.75, repeats=2, seed=1)
    options = {"settings": MODEL, "run": "test", "seed": 1}
    correct_dataset(folder / "toy.npz", noise, folder / "toy.csv", arrays, **options)
    return folder, [folder / "toy.csv"]


def test_rows_and_arrays(runs):
    folder, paths = runs
    rows = read_results(paths)
    assert set(rows["setting"]) == {"clean", "alpha=0.0"}
    assert rows[rows["measure"] == "bac"].groupby("setting").size().to_dict() == {
        "alpha=0.0": 2,
        "clean": 1,
    }
    assert rows.loc[rows["measure"] == "kkt_residual", "value"].max() <= 1e-10
    with np.load(folder / "0.0.npz") as arrays:
        assert arrays["labels_corrected"].shape == (2, 250)
        assert set(np.unique(arrays["labels_corrected"])) <= {-1, 1}
        assert ((arrays["votes"] >= 0) & (arrays["votes"] <= 1)).all()
    means = rows.groupby(["setting", "measure"])["value"].mean()
    # this attack takes the minority apart, and the votes give it back
    assert means["alpha=0.0", "recovery_bac_noisy"] < 0.7
    assert means["alpha=0.0", "recovery_bac_corrected"] > 0.85
    assert abs(means["clean", "bac"] - means["clean", "bac_retrained"]) < 0.05


def test_corruption_is_the_named_stream(runs):
    folder, _ = runs
    again = folder / "again.npz"
    corrupt(folder / "toy.npz", again, alpha="0.0", rho=0.75, repeats=2, seed=1)
    assert np.array_equal(read_noise(again), read_noise(folder / "noise0.0.npz"))
    assert not np.array_equal(*read_noise(again))
    with pytest.raises(DataError, match="corrupted labels"):
        read_noise(folder / "toy.csv")


def test_directions_in_one_job_are_those_of_one_job_each(runs, tmp_path):
    folder, paths = runs
    rows = read_results(paths)
    alone = []
    for alpha in ("clean", "0.0"):
        noise, table = {alpha: folder / f"noise{alpha}.npz"}, tmp_path / f"{alpha}.csv"
        arrays = {alpha: tmp_path / f"{alpha}.npz"}
        correct_dataset(
            folder / "toy.npz", noise, table, arrays, settings=MODEL, run="test", seed=1
        )
        alone.append(table)
        with np.load(arrays[alpha]) as one, np.load(folder / f"{alpha}.npz") as together:
            np.testing.assert_array_equal(one["votes"], together["votes"])
    first, second = (
        frame[~frame["measure"].str.startswith("seconds")].reset_index(drop=True)
        for frame in (rows, read_results(alone))
    )
    pd.testing.assert_frame_equal(first, second)


def test_tables(runs, tmp_path):
    _, paths = runs
    names = ["table2_bac", "table5_auc", "label_recovery", "time_table3", "time_table7"]
    write_result_tables(names, paths, tmp_path, ["toy", "absent"])
    table = pd.read_csv(tmp_path / "table2_bac.csv")
    own = table[table["method"] == "SubSVMs"].set_index("labels")
    assert own["toy"].notna().all()
    assert own["absent"].isna().all()
    recovery = pd.read_csv(tmp_path / "label_recovery.csv")
    assert len(recovery) == 2
    with pytest.raises(ConfigError, match="table9"):
        write_result_tables(["table9"], paths, tmp_path, ["toy"])


def test_bold_is_a_lead_of_five_points(tmp_path):
    results = Results("test", "subsvms")
    for method, value in (("Oracle-SVM", 0.70), ("CV-SVM", 0.60), ("SubSVMs", 0.75)):
        results.add("a", method, "clean", 0, "bac", value)
        results.add("b", method, "clean", 0, "bac", 0.7 + (value - 0.7) / 2)
    results.write(tmp_path / "rows.csv")
    write_result_tables(["table2_bac"], [tmp_path / "rows.csv"], tmp_path, ["a", "b"])
    text = (tmp_path / "table2_bac.md").read_text()
    assert "**0.750**" in text
    assert "**0.725**" not in text


def test_the_note_counts_splits_and_corruptions():
    results = Results("test", "subsvms")
    for name, splits, repeats in (("a", 5, 10), ("b", 1, 3), ("c", 1, 3)):
        results.add(name, "CV-SVM", "clean", 0, "cv_splits", splits)
        for k in range(10):
            value = splits if k < repeats else 0
            results.add(name, "CV-SVM", "alpha=0.5", k, "cv_splits", value)
    note = folds_note(results.frame(), ["a", "b", "c", "absent"])
    assert "5 random splits on 10 corruptions of each direction on a;" in note
    assert "1 random split on 3 corruptions of each direction on b, c." in note
    assert folds_note(results.frame(), ["absent"]) == ""


def test_the_claim_of_a_lead_names_our_stronger_peers():
    results = Results("test", "subsvms")
    methods = {"SubSVMs": 0.8, "CV-SVM (BAC)": 0.9, "Oracle-SVM (W searched)": 0.8}
    for method in ("Oracle-SVM", "Blind-SVM", "Bag-SVM", "CV-SVM"):
        methods[method] = 0.6
    for method, value in methods.items():
        results.add("a", method, "clean", 0, "bac", value)
    published = pd.read_csv("config/published/subsvms_claims.csv")
    table = judge_claims(published, results.frame(), read_results([])).set_index("claim")
    evidence = table.loc["subsvms_leads", "evidence"]
    assert "our Oracle-SVM (W searched) ahead by 0.05 in 0 of 1, behind in 0" in evidence
    assert "our CV-SVM (BAC) ahead by 0.05 in 0 of 1, behind in 1" in evidence


def test_settings_are_ordered():
    rows = pd.DataFrame({"setting": ["alpha=0.0", "clean", "alpha=1.0", "alpha=0.25"]})
    assert settings_of(rows) == ["clean", "alpha=1.0", "alpha=0.25", "alpha=0.0"]
    assert score_table(
        pd.DataFrame(columns=["setting", "method", "dataset", "measure", "value"]), "bac", [], []
    ).empty


@pytest.fixture(scope="module")
def gaussians(tmp_path_factory):
    path = tmp_path_factory.mktemp("gaussians") / "d2.csv"
    settings = {
        "n_rows": 300,
        "betas": [0.2, 0.4],
        "alphas": [0.0, 1.0],
        "rho": 0.75,
        "corruptions": 2,
        "n_svms": 128,
        "sample_size": "log2",
        "gamma": "1/d",
    }
    run_synthetic(path, d=2, C=1.0, settings=settings, run="test", seed=0)
    return read_results([path])


def test_curves_of_the_gaussians(gaussians):
    assert powers_of_two(100) == [1, 2, 4, 8, 16, 32, 64]
    frame = curves(gaussians).set_index(["method", "machines"])
    assert (frame["data_sets"] == 8).all()
    assert (frame["worst"] <= frame["average"]).all()
    balanced, uniform = ("SubSVMs balanced C=1", 128), ("SubSVMs uniform C=1", 128)
    assert frame.loc[balanced, "average"] > 0.95
    assert frame.loc[balanced, "worst"] > frame.loc[uniform, "worst"]


def test_claims_are_judged_and_missing_rows_are_no_data(gaussians, runs):
    published = pd.read_csv("config/published/subsvms_claims.csv")
    table = judge_claims(published, read_results(runs[1]), gaussians).set_index("claim")
    assert set(table["verdict"]) <= {"holds", "partly", "fails", "no data"}
    assert table.loc["hoeffding_form_is_a_bound", "verdict"] == "fails"
    assert table.loc["balanced_sampling_is_minimax", "verdict"] == "holds"
    assert table.loc["subsvms_leads", "verdict"] == "no data"
    nothing = judge_claims(published, read_results([]), read_results([]))
    measured = nothing[~nothing["claim"].isin(["balanced_sampling_is_minimax"])]
    assert (measured["verdict"] == "no data").sum() >= 14
    with pytest.raises(DataError, match="no rule"):
        judge_claims(published.assign(claim="unheard_of"), read_results([]), read_results([]))


@pytest.mark.parametrize("seed", range(6))
def test_large_solver_agrees_with_the_small_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, 1.0, -1.0)
    K = rbf_gram(X, None, 0.5)
    beta, b, _, _ = solve_l2(K, y, np.full(80, 100.0))
    for start in (None, rng.random(80) < 0.3, np.zeros(80, dtype=bool)):
        mine, offset = train_l2(K, y, 100.0, start)
        assert np.abs(K @ (mine - beta) + offset - b).max() < 1e-8
    constant = train_l2(K, np.ones(80), 100.0)
    assert not constant[0].any()
    assert constant[1] == 1.0
