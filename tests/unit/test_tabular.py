"""A user's file as X and y, and back: CSV, LIBSVM, Parquet, standard input."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from marginlab.errors import DataError, MarginlabError, UserError
from marginlab.tabular import Layout, Scaler, read_table, replace_labels
from marginlab.tabular.labels import like_classes

CSV = "age,city,label\n1.5,Paris,yes\n2,Rome,no\n3,Paris,no\n"


@pytest.fixture
def made(tmp_path):
    """A function that writes bytes or text and gives the path."""

    def make(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def written(table, labels, **options):
    out = io.BytesIO()
    replace_labels(table, np.asarray(labels), "-", out, **options)
    return out.getvalue()


def test_csv_with_categories(made):
    table = read_table(made(CSV), categorical=True)
    assert table.layout.feature_names() == ["age", "city=Paris", "city=Rome"]
    np.testing.assert_array_equal(table.X, [[1.5, 1, 0], [2, 0, 1], [3, 1, 0]])
    assert table.y.tolist() == ["yes", "no", "no"]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_separators(made, mark):
    table = read_table(made("a,b,class\n1,2,+1\n3,4,-1\n".replace(",", mark)))
    assert table.y.tolist() == [1, -1]
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert written(table, [-1, 1]).decode() == "a,b,class\n1,2,-1\n3,4,+1\n".replace(",", mark)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_recognised_by_content(made, pack):
    assert read_table(made(pack(CSV.encode()), "data.csv.gz"), categorical=True).X.shape == (3, 3)


def test_a_bare_array_of_numbers_has_no_header(made):
    path = made("5.1,3.5,0\n1,2,1\n")
    assert read_table(path, label="-1").y.tolist() == [0, 1]
    assert read_table(path, label="3").y.tolist() == [0, 1]
    # the header that pandas writes for a bare array
    assert read_table(made("0,1,2\n5,6,7\n"), label="2").y.tolist() == [7]
    assert read_table(made("a,b,1\nc,d,2\n"), label="3", header=False, categorical=True).y.size == 2


def test_labels_keep_their_kind_and_spelling(made):
    table = read_table(made("a,label\n1,+1\n2,-1\n3,1.0\n"))
    assert table.y.tolist() == [1, -1, 1]
    assert written(table, [-1, 1, 1]).decode() == "a,label\n1,-1\n2,+1\n3,+1\n"
    assert read_table(made("a,label\n1,0.5\n2,1\n")).y.tolist() == ["0.5", "1.0"]


def test_labels_of_a_second_file_take_the_form_of_the_first():
    text, broken = np.array(["1", "2", "none"]), np.array(["1.0", "2.5"])
    assert like_classes(np.array([1, 2]), text).tolist() == ["1", "2"]
    assert like_classes(np.array([1, 1]), broken).tolist() == ["1.0", "1.0"]
    assert like_classes(np.array([1, 2]), np.array([1, 2])).tolist() == [1, 2]


def test_csv_cells_other_than_the_label_stay_as_they_were(made):
    text = 'id,label,note\n007,yes,"a, b"\n1.50,no,NA\n'
    table = read_table(made(text), drop=["note"])
    assert written(table, ["no", "yes"]).decode() == text.replace("yes", "?").replace(
        "no,NA", "yes,NA"
    ).replace("?", "no")


def test_libsvm_only_the_label_changes(made):
    text = "+1 1:0.50 3:1e0 # first\n  -1 2:3\n\n"
    table = read_table(made(text, "data"))
    assert sparse.issparse(table.X) or table.X.shape == (2, 3)
    assert written(table, [-1, 1]).decode() == "-1 1:0.50 3:1e0 # first\n+1 2:3\n\n"


def test_parquet_keeps_types(made):
    frame = pd.DataFrame({"a": [1.0, 2.0], "n": [3, 4], "label": [True, False]})
    out = io.BytesIO()
    frame.to_parquet(out)
    table = read_table(made(out.getvalue(), "data.parquet"))
    assert table.y.tolist() == ["True", "False"]
    back = pd.read_parquet(io.BytesIO(written(table, ["False", "True"])))
    assert back["label"].tolist() == [False, True]
    assert back.dtypes.tolist() == frame.dtypes.tolist()


def test_standard_input_is_told_by_content(made):
    table = read_table("-", stdin=io.BytesIO(b"+1 1:1 7:0.5\n-1 2:1\n"))
    assert table.layout == Layout("libsvm", 7)
    assert table.source == "standard input"
    assert read_table("-", stdin=io.BytesIO(CSV.encode()), categorical=True).X.shape == (3, 3)


def test_a_second_file_is_read_with_the_columns_of_the_first(made):
    first = read_table(made(CSV), categorical=True)
    other = made("label,city,extra,age\nno,Rome,x,9\n", "other.csv")
    assert read_table(other, layout=first.layout).X.tolist() == [[9, 0, 1]]
    assert Layout.from_json(first.layout.to_json()) == first.layout
    bare = made("city,age\nRome,9\n", "bare.csv")
    assert read_table(bare, layout=first.layout, need_labels=False).y is None


def test_a_narrow_second_libsvm_file_is_padded_and_a_wide_one_is_an_error(made):
    first = read_table(made("1 3:1\n-1 1:1\n", "first"))
    assert read_table(made("1 1:1\n", "second"), layout=first.layout).X.shape == (1, 3)
    with pytest.raises(DataError, match="--n-features 4"):
        read_table(made("1 4:1\n", "third"), layout=first.layout)
    assert read_table(made("1 3:1\n", "fourth"), n_features=9).X.shape == (1, 9)


def test_an_extra_column(made):
    table = read_table(made("a,label\n1,yes\n2,no\n"))
    text = written(table, ["no", "no"], extra=("share", np.array([0.25, 1 / 3]))).decode()
    assert text == "a,label,share\n1,no,0.25\n2,no,0.3333333333\n"
    with pytest.raises(DataError, match="already"):
        written(table, ["no", "no"], extra=("a", np.ones(2)))
    bare = read_table(made("1 1:1\n-1 2:1\n", "bare"))
    with pytest.raises(DataError, match="no column names"):
        written(bare, [1, 1], extra=("share", np.ones(2)))


MISTAKES = {
    "empty": ("", {}, "is empty"),
    "header only": ("a,label\n", {}, "no rows"),
    "no label": ("a,b\n1,x\n", {}, "which column holds the labels"),
    "two guesses": ("y,label\n1,2\n", {}, "'y' and 'label'"),
    "unknown label": (CSV, {"label": "outcome"}, "no column 'outcome'"),
    "unknown drop": (CSV, {"drop": ["town"]}, "no column 'town' for --drop"),
    "missing value": ("a,label\n,1\n2,0\n", {}, "'a' has 1 missing value .first in row 1"),
    "infinite": ("a,label\ninf,1\n2,0\n", {}, "'a' has 1 infinite value"),
    "missing label": ("a,label\n1,\n2,0\n", {}, "'label' has 1 empty cell "),
    "text": (CSV, {}, "'city' holds text .'Paris' in row 1.*--categorical"),
    "decimal comma": ("a;label\n1,5;1\n2;0\n", {}, "write decimals with a point"),
    "ragged": ("a,label\n1,0\n1,2,3\n", {}, "line 3: 3 cells where the first line has 2"),
    "same names": ("a,a,label\n1,2,0\n", {}, "two columns named 'a'"),
    "web page": ("<html></html>", {}, "web page"),
    "only the label": ("label\n1\n0\n", {}, "no column of features"),
    "weight": ("a,q,label\n1,x,0\n", {"weight": "q"}, "'q' must hold numbers"),
    "bad format": ("a,label\n1,0\n", {"format": "xls"}, "format 'xls' is not known"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence_that_names_the_file(made, case):
    content, options, words = MISTAKES[case]
    with pytest.raises(UserError, match=words) as caught:
        read_table(made(content), **options)
    assert "\n" not in str(caught.value)
    if case != "bad format":
        assert "data.csv" in str(caught.value)


def test_more_mistakes(made, tmp_path):
    many = "c,label\n" + "".join(f"v{i},{i % 2}\n" for i in range(300))
    with pytest.raises(DataError, match="300 different values"):
        read_table(made(many), categorical=True)
    for content, name, words in (
        (b"\xff\xfe\x00a", "x.csv", "not UTF-8"),
        (b"a\x00b,label\n", "x.csv", "binary"),
        (b"PAR1 and so on", "x", "Parquet"),
        (gzip.compress(b"a,label\n1,2\n", mtime=0)[:-6], "x.csv", "damaged archive"),
        (b"1 2:3 1:4\n", "x", "line 1"),
    ):
        with pytest.raises(DataError, match=words):
            read_table(made(content, name))
    with pytest.raises(DataError, match="does not exist"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    libsvm = made("1 1:1\n-1 2:1\n", "sparse")
    with pytest.raises(DataError, match="no named columns"):
        read_table(libsvm, label="a")
    first = read_table(made(CSV), categorical=True)
    with pytest.raises(DataError, match="give both alike"):
        read_table(libsvm, layout=first.layout)
    with pytest.raises(DataError, match="has no column 'age'"):
        read_table(made("city,label\nRome,no\n"), layout=first.layout)
    with pytest.raises(DataError, match="'Oslo' in row 1"):
        read_table(made("age,city,label\n1,Oslo,no\n"), layout=first.layout)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_are_one_sentence(data):
    try:
        table = read_table("-", stdin=io.BytesIO(data), label="1", categorical=True)
    except MarginlabError as error:
        assert "\n" not in str(error)
    else:
        assert np.isfinite(table.X.data if sparse.issparse(table.X) else table.X).all()


@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.sampled_from(["yes", "no", "ja, nein"])),
        min_size=1,
        max_size=8,
    )
)
def test_rewriting_a_csv_with_its_own_labels_changes_no_value(rows):
    frame = pd.DataFrame(rows, columns=["a", "label"])
    data = frame.to_csv(index=False).encode()
    table = read_table("-", stdin=io.BytesIO(data))
    again = read_table("-", stdin=io.BytesIO(written(table, table.y)))
    np.testing.assert_array_equal(table.X, again.X)
    np.testing.assert_array_equal(table.X[:, 0], frame["a"])
    assert again.y.tolist() == table.y.tolist()


@pytest.mark.parametrize("kind", ["none", "minmax", "standard"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_scaling(kind, form):
    X = np.array([[0.0, 5, 2], [4, 5, 0], [8, 5, 0]])
    if form is np.asarray:
        X += 2  # sparse data has no offset: its zeros stay zeros
    scaler = Scaler.fit(form(X), kind)
    scaled = scaler.apply(form(X))
    scaled = scaled.toarray() if sparse.issparse(scaled) else scaled
    assert scaler.constant.tolist() == [False, True, False]
    if kind == "none":
        np.testing.assert_array_equal(scaled, X)
    elif kind == "minmax":
        np.testing.assert_allclose(scaled[:, [0, 2]], [[0, 1], [0.5, 0], [1, 0]])
    else:
        np.testing.assert_allclose(scaled.std(axis=0), [1, 0, 1], atol=1e-12)
        assert form is not np.asarray or np.allclose(scaled.mean(axis=0), 0)
    assert kind == "none" or not scaled[:, 1].any()


def test_auto_scaling_leaves_features_of_the_unit_ball_alone():
    assert Scaler.fit(np.array([[-1.0, 0], [1, 1]])).kind == "none"
    assert Scaler.fit(np.array([[-1.0, 0], [1, 1.5]])).kind == "minmax"
    assert Scaler.fit(sparse.csr_matrix([[-1.0, 0], [1, 1.5]])).kind == "maxabs"
    with pytest.raises(UserError, match="scale"):
        Scaler.fit(np.eye(2), "log")
