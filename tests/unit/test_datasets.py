"""Registry, preparation, splits, scaling, generators and prepared files."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from marginlab.datasets import (
    dataset_names,
    entry_hash,
    load_dataset,
    load_registry,
    read_prepared,
    save_prepared,
    verify,
)
from marginlab.datasets.fetch import can_be_had
from marginlab.datasets.generators import (
    ringnorm,
    ringnorm_unbalanced,
    two_gaussians,
    twonorm,
    waveform,
)
from marginlab.datasets.prepared import Dataset
from marginlab.datasets.record import list_data, record_files
from marginlab.datasets.registry import registry_path
from marginlab.datasets.scaling import scale_parts, unit_interval
from marginlab.datasets.splits import split_rows, stratified_sizes
from marginlab.errors import ConfigError, DataError

SCHEMA = Path("config/schemas/datasets.schema.yaml")
PAPER_1 = "a1a a2a a3a a4a a5a splice mushrooms svmguide1 w1a w2a w3a w4a w5a".split()  # noqa: SIM905


# ---------------------------------------------------------------- the registry


def test_the_registry_follows_its_schema():
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    raw = yaml.safe_load(registry_path().read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(raw, schema)


def test_unknown_keys_are_errors_of_the_schema():
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    raw = yaml.safe_load(registry_path().read_text(encoding="utf-8"))
    raw["datasets"]["a1a"]["licens"] = "typo"
    with pytest.raises(jsonschema.ValidationError, match="licens"):
        jsonschema.validate(raw, schema)


def test_registry_agrees_with_table_1_of_paper_1():
    published = pd.read_csv("config/published/subsvms_datasets.csv").set_index("dataset")
    assert sorted(published.index) == sorted(PAPER_1)
    registry = load_registry()
    for name, row in published.iterrows():
        spec = registry.dataset(name)
        assert spec.n_features == row.n_features
        for part in ("train", "test"):
            assert sum(spec.counts[part]) == row[f"n_{part}"]
            assert spec.counts[part][1] == row[f"n_{part}_minority"]


def test_every_set_states_what_a_reader_asks():
    registry = load_registry()
    for spec in registry.datasets.values():
        assert spec.licence
        assert spec.citation
        assert spec.address
        if spec.files and spec.format != "libsvm":
            assert spec.counts or spec.pool, spec.name
        reachable = [registry.file(file) for file in registry.inputs(spec.name)]
        if any(not (f.url or f.recipe or f.package) for f in reachable):
            assert spec.unavailable, f"{spec.name}: say why it cannot be had"


def test_every_source_that_a_file_names_is_described():
    registry = load_registry()
    for file in registry.files.values():
        if file.package:
            assert file.package in registry.packages
        if file.recipe:
            assert file.recipe["of"] in registry.files


def test_names_by_paper():
    assert set(PAPER_1) <= set(dataset_names("subsvms"))
    assert {"banana", "parkinson", "bank", "mnist_even_odd"} <= set(dataset_names("span"))
    assert {"pulsar", "yearbook", "rcv1", "fashion_mnist"} <= set(dataset_names("mrc"))
    assert set(dataset_names("span")) <= set(dataset_names())


def test_a_wrong_name_gets_near_ones():
    with pytest.raises(DataError, match="no data set is called 'a1b'; did you mean a1a"):
        load_dataset("a1b")
    with pytest.raises(DataError, match="see dataset_names"):
        load_dataset("quux?")


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A copy of the registry with edits, used instead of the project's."""

    def edit(change):
        raw = yaml.safe_load(registry_path().read_text(encoding="utf-8"))
        change(raw)
        path = tmp_path / "datasets.yaml"
        path.write_text(yaml.safe_dump(raw, sort_keys=False), encoding="utf-8")
        monkeypatch.setenv("MARGINLAB_DATASETS", str(path))
        return path

    return edit


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda raw: raw["datasets"]["a1a"].update(colour=3), "colour"),
        (lambda raw: raw["datasets"]["a1a"].update(positive="x"), "names 'x' as positive"),
        (lambda raw: raw["datasets"]["a1a"]["files"].update(test=["no"]), "'no' is used but not"),
        (lambda raw: raw["datasets"]["yearbook"].pop("unavailable"), "no reason"),
        (lambda raw: raw.pop("files"), "files"),
    ],
)
def test_a_mistake_in_the_registry_is_one_sentence(edited, change, words):
    edited(change)
    with pytest.raises(ConfigError, match=words) as caught:
        load_registry()
    assert "\n" not in str(caught.value)


def test_a_registry_that_is_no_yaml_or_missing(tmp_path):
    with pytest.raises(ConfigError, match="missing"):
        load_registry(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [1\n")
    with pytest.raises(ConfigError, match="not a valid registry"):
        load_registry(tmp_path / "bad.yaml")


def test_entry_hash_changes_with_its_own_set_alone(edited):
    before = {name: entry_hash(name) for name in ("a1a", "splice")}
    edited(lambda raw: raw["datasets"]["a1a"].update(note="another"))
    assert entry_hash("a1a") != before["a1a"]
    assert entry_hash("splice") == before["splice"]


# ---------------------------------------------------------------- preparation of tiny sets


@pytest.fixture
def tiny(tmp_path, edited, monkeypatch):
    """Two tiny data sets in a mirror folder of their own."""
    from hashlib import sha256

    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("MARGINLAB_MIRROR", str(folder))
    monkeypatch.setenv("MARGINLAB_CACHE", str(tmp_path / "cache"))
    contents = {
        "train.txt": "7 1:1 3:4\n8 1:3\n8 1:2\n",
        "test.txt": "8 1:5 2:1\n",
        "pool.csv": "".join(f"{i},{i % 4},{'bca'[i % 3]}\n" for i in range(24)),
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    common = {"papers": [], "licence": "none", "citation": "none", "address": "none"}
    text = {
        "title": "Tiny text",
        "format": "libsvm",
        "files": {"train": ["train.txt"], "test": ["test.txt"]},
        "n_features": 3,
        "classes": {"eight": [8], "seven": [7]},
        "positive": "seven",
        "counts": {"train": [2, 1], "test": [1, 0]},
        "preprocessing": {"minmax": [-1, 1]},
    }
    table = {
        "title": "Tiny table",
        "format": "csv",
        "files": {"pool": ["pool.csv"]},
        "n_features": 2,
        "classes": {"a": ["a"], "b": ["b"], "c": ["c"]},
        "pool": [8, 8, 8],
        "split": {"kind": "stratified", "train": 12, "test": 6},
        "counts": {"train": [4, 4, 4], "test": [2, 2, 2]},
    }

    def build(change=lambda text, table: None):
        change(text, table)

        def apply(raw):
            for name, data in contents.items():
                raw["files"][name] = {"sha256": sha256(data.encode()).hexdigest()}
            raw["datasets"]["tiny_text"] = common | text
            raw["datasets"]["tiny_table"] = common | table

        edited(apply)
        return folder

    return build


def test_text_set_is_named_scaled_and_described(tiny):
    tiny()
    dataset = load_dataset("tiny_text")
    assert sparse.issparse(dataset.X_train)
    np.testing.assert_array_equal(dataset.y_train, [1, -1, -1])
    np.testing.assert_array_equal(dataset.y_test, [-1])
    # Column 2 is constant in training: it goes to -1; column 1 maps 1..3, the test value 5 to 3.
    np.testing.assert_allclose(dataset.X_train.toarray(), [[-1, -1, 1], [1, -1, -1], [0, -1, -1]])
    np.testing.assert_allclose(dataset.X_test.toarray(), [[3, 1, -1]])
    assert dataset.meta["positive"] == "seven"
    assert set(dataset.meta["files"]) == {"train.txt", "test.txt"}
    assert verify("tiny_text")["counts_train"] == [2, 1]


def test_pool_is_split_by_seed_and_class(tiny):
    tiny()
    first, second = load_dataset("tiny_table"), load_dataset("tiny_table")
    np.testing.assert_array_equal(first.X_train, second.X_train)
    rows = np.concatenate([first.X_train[:, 0], first.X_test[:, 0]])
    assert len(set(rows.tolist())) == 18
    np.testing.assert_array_equal(np.bincount(first.y_train), [4, 4, 4])
    for X, y in ((first.X_train, first.y_train), (first.X_test, first.y_test)):
        np.testing.assert_array_equal((X[:, 0] + 1) % 3, y)  # the file has i -> "bca"[i % 3]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (
            "tiny_text",
            lambda text, table: text.update(classes={"eight": [8], "seven": [6]}),
            "label 7.0 is none of the registry's",
        ),
        (
            "tiny_text",
            lambda text, table: text.update(counts={"train": [1, 2]}),
            "train part has class counts [2, 1], not [1, 2]",
        ),
        ("tiny_text", lambda text, table: text.update(n_features=2), "beyond the 2 features"),
        (
            "tiny_text",
            lambda text, table: text.update(counts={}, rows={"train": 9}),
            "has 3 rows, not 9",
        ),
        ("tiny_table", lambda text, table: table.update(n_features=5), "the registry says 5"),
        (
            "tiny_table",
            lambda text, table: table.update(pool=[9, 8, 7]),
            "pool part has class counts [8, 8, 8]",
        ),
        (
            "tiny_table",
            lambda text, table: table.update(split={"kind": "stratified", "train": 20, "test": 20}),
            "20 + 20 rows was asked of 24",
        ),
        ("tiny_table", lambda text, table: table.update(options={"skip": 30}), "not the table"),
    ],
)
def test_a_number_that_disagrees_with_the_file_is_an_error(tiny, name, change, words):
    tiny(change)
    with pytest.raises(DataError) as caught:
        load_dataset(name)
    assert words in str(caught.value)


def test_records_and_list(tiny, tmp_path):
    tiny()
    record_files("tiny_text", tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["files"]["train.txt"]["bytes"] == 22
    assert str(tmp_path) not in (tmp_path / "record.json").read_text()
    save_prepared(load_dataset("tiny_text"), tmp_path / "a.npz")
    frame = list_data([tmp_path / "a.npz"], {"gone": "nobody has it"})
    assert frame.loc[0, "n_train"] == 3
    assert frame.loc[0, "smallest_class_train"] == 1
    assert frame.loc[1, "note"] == "no data: nobody has it"


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


# ---------------------------------------------------------------- splits and scaling


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


# ---------------------------------------------------------------- generators


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
