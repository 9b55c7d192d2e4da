"""The LIBSVM reader and writer: exact numbers, and one clear error for each mistake."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from marginlab.datasets.libsvm_format import (
    parse_libsvm,
    read_libsvm,
    values_digest,
    write_libsvm,
)
from marginlab.errors import DataError

GOOD = b"+1 1:0.5 3:-2\n-1\n1 2:1e-3 # a remark\n"


def test_reads_rows_labels_and_empty_rows():
    X, y = parse_libsvm(GOOD, n_features=4)
    assert X.shape == (3, 4)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(y, [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, -2, 0], [0, 0, 0, 0], [0, 1e-3, 0, 0]])
    assert X.has_canonical_format


def test_width_is_the_largest_index_when_not_given():
    assert parse_libsvm(b"1 7:1\n")[0].shape == (1, 7)
    assert parse_libsvm(b"1\n-1\n")[0].shape == (2, 0)


@pytest.mark.parametrize(
    "text",
    [
        b"1 1:2\r\n-1 2:3\r\n",
        b"1 1:2 \n-1 2:3 ",
        b"\xef\xbb\xbf1\t1:2\n-1 2:3\n\n\n",
        b"# a remark\n1 1:2\n-1 2:3\n",
    ],
)
def test_line_ends_blanks_and_remarks(text):
    X, y = parse_libsvm(text)
    np.testing.assert_array_equal(X.toarray(), [[2, 0], [0, 3]])
    np.testing.assert_array_equal(y, [1, -1])


@pytest.mark.parametrize("size", [59, 60, 61, 71, 300])
def test_numbers_of_any_length_are_read_whole(size):
    text = f"{'7' * size} 1:0.{'0' * size}25 2:{'1' * size}.5e-{size - 1}"
    X, y = parse_libsvm(text.encode())
    label, small, near_one = (float(part.split(":")[-1]) for part in text.split())
    assert y.tolist() == [label]
    assert X.toarray().tolist() == [[small, near_one]]


def test_what_is_too_small_for_a_double_is_not_stored():
    X, _ = parse_libsvm(b"1 1:2 2:-2e-361 3:4\n-1 1:1e-400\n")
    assert X.toarray().tolist() == [[2, 0, 4], [0, 0, 0]]
    assert X.nnz == 2
    assert X.indptr.tolist() == [0, 2, 2]


def test_zeros_that_are_spelled_out_are_not_stored():
    X, _ = parse_libsvm(b"1 1:0 2:5 3:-0.0\n")
    assert X.nnz == 1
    assert X.shape == (1, 3)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (b"1 1:1\n1 2:1 2:3\n", 2, "'2:3' repeats an index"),
        (b"1 3:1 2:3\n", 1, "'2:3' has a smaller index than the one before; sort"),
        (b"1 1:1\n1 0:1\n", 2, "'0:1' has index 0; indices count from 1"),
        (b"1 -3:1\n", 1, "'-3:1' has a negative index"),
        (b"1 1:nan\n", 1, "'1:nan' is not finite"),
        (b"1 1:-INF\n", 1, "'1:-INF' is not finite"),
        (b"1 1:1e400\n", 1, "'1e400' is beyond the range of a double"),
        (b"1 1:one\n", 1, "'1:one' has no numeric value"),
        (b"1 1:\n", 1, "'1:' has no numeric value"),
        (b"1 1:1_0\n", 1, "'1:1_0' has no numeric value"),
        (b"1 1:1e\n", 1, "'1:1e' has no numeric value"),
        (b"1 a:1\n", 1, "'a:1' has no whole-number index"),
        (b"1 1.5:1\n", 1, "'1.5:1' has no whole-number index"),
        (b"1 qid:3 1:1\n", 1, "'qid:3' has no whole-number index"),
        (b"1 7\n", 1, "'7' has no colon"),
        (b"cat 1:1\n", 1, "label 'cat' is not a number"),
        (b"1,2 1:1\n", 1, "label '1,2' is not a number"),
        (b"nan 1:1\n", 1, "label 'nan' is not a number"),
        (b"1:1 2:1\n", 1, "label '1:1' is not a number"),
        (b"1 9:1\n", 1, "'9:1' lies beyond the 8 features"),
        (b"1 99999999999999999999:1\n", 1, "lies beyond the 8 features"),
        (b"1 1:1\n\n1 1:1\n", 2, "the line is blank but rows follow"),
    ],
)
def test_a_malformed_entry_is_named_with_file_and_line(text, line, words):
    with pytest.raises(DataError) as caught:
        parse_libsvm(text, "my.txt", n_features=8)
    assert str(caught.value).startswith(f"my.txt, line {line}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no rows"),
        (b"\n \n", "holds no rows"),
        (b"<!DOCTYPE html><html>404</html>", "is a web page"),
        (b"  <html>", "is a web page"),
        (b"1 1:1\n\x00\x01\x02", "is a binary file"),
        (b"\x1f\x8bnot gzip", "is a damaged archive"),
        (gzip.compress(b"1 1:1\n" * 1000, mtime=0)[:-20], "is a damaged archive"),
        (b"BZhnope", "is a damaged archive"),
    ],
)
def test_other_content_is_refused(tmp_path, content, words):
    path = tmp_path / "file.t"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_libsvm(path)


@pytest.mark.parametrize("width", [0, -3, 2**31])
def test_a_senseless_width_is_refused(width):
    with pytest.raises(DataError, match="n_features"):
        parse_libsvm(GOOD, n_features=width)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match=r"nowhere.txt cannot be read .*check the path"):
        read_libsvm(tmp_path / "nowhere.txt")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_recognised(tmp_path, pack):
    path = tmp_path / "packed"
    path.write_bytes(pack(GOOD))
    X, y = read_libsvm(path, 3)
    assert (parse_libsvm(GOOD, n_features=3)[0] != X).nnz == 0
    assert y.size == 3


def test_an_archive_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("marginlab.datasets.libsvm_format._MAX_UNPACKED", 1000)
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        (tmp_path / "a").write_bytes(pack(b"1 1:1\n" * 1000))
        with pytest.raises(DataError, match="unpacks to more than 1000 bytes"):
            read_libsvm(tmp_path / "a")


def test_streams_and_standard_input(monkeypatch):
    expected = parse_libsvm(GOOD)[0].toarray()
    for stream in (io.BytesIO(GOOD), io.StringIO(GOOD.decode())):
        np.testing.assert_array_equal(read_libsvm(stream)[0].toarray(), expected)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD)))
    np.testing.assert_array_equal(read_libsvm("-")[0].toarray(), expected)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 1:x\n")))
    with pytest.raises(DataError, match="<standard input>, line 1"):
        read_libsvm("-")


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(NUMBERS, min_size=1, max_size=30))
@example([5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 0.1])
def test_every_number_is_the_double_that_python_reads(numbers):
    spellings = [repr(x) for x in numbers] + [f"{x:.25g}" for x in numbers]
    spellings += [f"{x:.17e}" for x in numbers]
    text = "".join(f"{word} 1:{word}\n" for word in spellings).encode()
    X, y = parse_libsvm(text, n_features=1)
    exact = np.array([float(word) for word in spellings])
    np.testing.assert_array_equal(y, exact)
    np.testing.assert_array_equal(X.toarray().ravel(), exact)


def test_more_long_numbers_than_the_first_scan_has_room_for():
    text = b"1 1:0.12345678901234567890123\n" * 3000
    X, _ = parse_libsvm(text)
    assert X.nnz == 3000
    assert set(X.data.tolist()) == {0.12345678901234567890123}


@given(st.integers(1, 10**18 - 1), st.integers(-345, 290))
@example(607215979524871550, -2)  # half way between two doubles
@example(9007199254740993, 0)
@example(9007199254740993, 23)
@example(22250738585072014, -324)  # the smallest normal number
@example(22250738585072011, -324)  # and one below it
@example(49406564584124654, -340)
@example(123456789012345678, -345)
def test_numbers_of_up_to_eighteen_digits_are_rounded_as_python_does(mantissa, power):
    word = f"{mantissa}e{power}"
    X, y = parse_libsvm(f"-{word} 1:{word}\n".encode(), n_features=1)
    assert y[0] == -float(word)
    assert X.toarray()[0, 0] == float(word)


@given(st.integers(2**52, 2**53 - 1), st.integers(-4, 4))
def test_ties_go_to_the_even_double(half, power):
    odd = 2 * half + 1  # between two doubles
    digits = odd << power if power >= 0 else odd * 5**-power
    word = f"{digits}e{min(power, 0)}"
    assert parse_libsvm(f"{word}\n".encode())[1][0] == float(word)


MATRICES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
    elements=st.one_of(st.just(0.0), NUMBERS),
)


@given(MATRICES, st.booleans())
def test_what_is_written_is_read_back_exactly(matrix, is_sparse):
    y = np.arange(matrix.shape[0]) / 3.0 - 1.0
    stream = io.StringIO()
    write_libsvm(stream, sparse.csr_matrix(matrix) if is_sparse else matrix, y)
    X, labels = parse_libsvm(stream.getvalue().encode(), n_features=matrix.shape[1])
    np.testing.assert_array_equal(X.toarray(), matrix)
    np.testing.assert_array_equal(labels, y)


def test_writer_to_file_and_standard_output(tmp_path, capsys):
    X = np.array([[1.0, 0.0, 2.5], [0.0, 0.0, 0.0]])
    write_libsvm(tmp_path / "out.txt", X, [1, -1])
    assert (tmp_path / "out.txt").read_text() == "1 1:1 3:2.5\n-1\n"
    write_libsvm("-", X, [1, -1])
    assert capsys.readouterr().out == "1 1:1 3:2.5\n-1\n"


def test_writer_refuses_what_the_format_cannot_hold(tmp_path):
    with pytest.raises(DataError, match="NaN or infinity"):
        write_libsvm(tmp_path / "a", np.array([[np.nan]]), [1])
    with pytest.raises(DataError, match="NaN or infinity"):
        write_libsvm(tmp_path / "a", np.array([[1.0]]), [np.inf])
    with pytest.raises(DataError, match="2 rows"):
        write_libsvm(tmp_path / "a", np.ones((2, 1)), [1])
    assert not (tmp_path / "a").exists()


@given(st.binary(max_size=200))
@example(b"1 1:1 ")
@example(b"1 1:")
@example(b"1 1")
@example(b"+")
@example(b"1 1:.e1")
@example(b"1e99999999999 1:1")
def test_any_bytes_are_rows_or_one_data_error(data):
    try:
        X, y = parse_libsvm(data)
    except DataError as error:
        assert str(error)
    else:
        assert X.shape[0] == y.size > 0
        assert np.isfinite(X.data).all()


FRAGMENTS = st.lists(
    st.sampled_from(
        ["1", "-1", "+1", " ", "\n", "1:1", "2:0.5", "3:-1e-2", ":", "#", "0", "\t", "\r\n", "e9"]
    ),
    max_size=40,
)


@given(FRAGMENTS)
def test_what_we_accept_scikit_learn_reads_alike(fragments):
    data = "".join(fragments).encode()
    try:
        X, y = parse_libsvm(data, n_features=50)
    except DataError:
        return
    peer_X, peer_y = load_svmlight_file(io.BytesIO(data), n_features=50, zero_based=False)
    np.testing.assert_array_equal(y, peer_y)
    np.testing.assert_array_equal(X.toarray(), peer_X.toarray())


def test_digest_of_values_ignores_the_spelling(tmp_path):
    (tmp_path / "a").write_bytes(b"+1 1:0.5 2:1\n0 1:2\n")
    (tmp_path / "b").write_bytes(b"1 1:5e-1 2:1.0 \r\n0 1:2\r\n")
    (tmp_path / "c").write_bytes(b"+1 1:0.5 2:1\n0 1:3\n")
    assert values_digest(tmp_path / "a") == values_digest(tmp_path / "b")
    assert values_digest(tmp_path / "a") != values_digest(tmp_path / "c")


@pytest.mark.parametrize(
    ("name", "width"), [("a9a", 123), ("w8a", 300), ("phishing", 68), ("splice", 60)]
)
def test_real_files_as_scikit_learn_reads_them(mirror, name, width):
    path = mirror / "libsvm" / name
    X, y = read_libsvm(path, width)
    peer_X, peer_y = load_svmlight_file(str(path), n_features=width, zero_based=False)
    assert X.shape == peer_X.shape
    assert (peer_X != X).nnz == 0
    np.testing.assert_array_equal(y, peer_y)
