"""The fuzzer's inputs, and random ones, through the compiled reader."""

from pathlib import Path

import pytest
from fuzz_libsvm import check, plain_rows
from hypothesis import given, settings
from hypothesis import strategies as st

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_both_readers_agree_on_the_corpus(path):
    check(path.read_bytes())


PIECES = st.sampled_from(
    [*" \n\t\r:#+-.eE0179", " 1:", " 2:", "e-3", "e+30", "\n1 ", "1 1:1\n", "0" * 70, "9" * 65]
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40))
def test_both_readers_agree_on_pieces_of_the_format(pieces):
    check("".join(pieces).encode())


def test_the_plain_reader_itself():
    assert plain_rows(b"+1 1:0.5 3:2 # x\n-1\n") == [(1.0, {1: 0.5, 3: 2.0}), (-1.0, {})]
    for broken in (b"", b"x", b"1 0:1", b"1 2:1 1:1", b"1 1:1 1:1", b"1 1:", b"1\n\n1", b"1e999"):
        assert plain_rows(broken) is None
