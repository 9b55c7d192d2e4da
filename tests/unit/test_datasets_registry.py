"""The registry of data sets, and tiny sets prepared from it."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import sparse

from marginlab.datasets import (
    dataset_names,
    entry_hash,
    load_dataset,
    load_registry,
    save_prepared,
    verify,
)
from marginlab.datasets.record import list_data, record_files
from marginlab.datasets.registry import registry_path
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
