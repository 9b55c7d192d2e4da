"""Files are written to what the user named: links, FIFOs, folders, modes, endings."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import socket
import stat
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from command_line import CUSTOMERS, QUICK, READ, SMALL_GRID, TRUSTED, is_one_sentence

from marginlab.errors import UserError
from marginlab.files import atomic_path, check_target, write_csv, write_npz, write_text
from marginlab.tabular import read_table, replace_labels

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, FIFOs and modes of POSIX")


def _mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def fifo(tmp_path):
    """A FIFO and a list that gets what is written to it."""
    path, found = tmp_path / "pipe.csv", []
    os.mkfifo(path)
    # Opened for both, so that neither end waits for a writer that never comes.
    handle = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    stop = threading.Event()

    def read():
        while True:
            ended = stop.is_set()
            try:
                found.append(os.read(handle, 65536))
            except BlockingIOError:
                if ended:
                    return
                stop.wait(0.01)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()

    def content():
        stop.set()
        thread.join(10)
        return b"".join(found)

    yield path, content
    content()
    os.close(handle)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "stored", tmp_path / "model.npz"
    link.symlink_to(target)
    for value in (1, 2):  # the first write makes what the link points to
        write_npz(link, x=np.array(value))
        assert link.is_symlink()
        assert np.load(target)["x"] == value
    assert {path.name for path in tmp_path.rglob("*")} == {"real", "stored", "model.npz"}


def test_a_fifo_is_written_to_and_stays(fifo):
    path, content = fifo
    write_text(path, "whole\n")
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert content() == b"whole\n"
    assert [other.name for other in path.parent.iterdir()] == ["pipe.csv"]


def test_nothing_half_made_reaches_a_fifo(fifo):
    path, content = fifo
    with pytest.raises(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("stop")
    assert content() == b""
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_an_open_pipe_is_written_to_by_its_number():
    read, write = os.pipe()
    try:
        check_target(f"/dev/fd/{write}")
        write_text(f"/dev/fd/{write}", "through")
        assert os.read(read, 100) == b"through"
    finally:
        os.close(read)
        os.close(write)


def test_new_files_follow_the_umask_and_old_ones_keep_their_mode(tmp_path):
    for umask, mode in ((0o077, 0o600), (0o002, 0o664)):
        path = tmp_path / f"{umask}.txt"
        before = os.umask(umask)
        try:
            write_text(path, "new")
        finally:
            os.umask(before)
        assert _mode(path) == mode
        path.chmod(0o640)
        write_text(path, "again")
        assert _mode(path) == 0o640


def test_a_folder_is_refused_by_its_own_name(tmp_path):
    for act in (check_target, lambda path: write_text(path, "text")):
        for path in (tmp_path, f"{tmp_path}/missing/"):
            with pytest.raises(UserError) as caught:
                act(path)
            assert str(caught.value) == f"{path} is a folder; name a file"
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_final_path(tmp_path):
    target = tmp_path / "gone" / "table.csv"
    with pytest.raises(OSError, match=r"table\.csv") as caught, atomic_path(target) as temporary:
        temporary.unlink()  # so that taking the name fails
    assert caught.value.filename == str(target)
    assert ".part-" not in str(caught.value)
    with pytest.raises(OSError, match="No space") as caught, atomic_path(target):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(target)
    with pytest.raises(OSError, match="input") as caught, atomic_path(target):
        raise FileNotFoundError(errno.ENOENT, "gone", "input.csv")
    assert caught.value.filename == "input.csv"


def test_what_cannot_be_written_is_told_early(tmp_path):
    with pytest.raises(UserError, match="folder that does not exist"):
        check_target(tmp_path / "no" / "table.csv")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot be written \(Not a directory\)"):
        check_target(tmp_path / "file" / "table.csv")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(UserError, match="cannot be written"):
        check_target(loop)
    check_target(tmp_path / "fine.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket ends at 108 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(UserError, match="s is a socket"):
            check_target("s")


@pytest.mark.parametrize(
    ("ending", "opened"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)]
)
def test_the_ending_compresses(tmp_path, ending, opened):
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "label": ["x", "y", "x", "y"]})
    path = tmp_path / f"in.csv{ending}"
    write_csv(frame, path)
    with opened(path, "rt") as stream:
        assert stream.read() == "a,label\n1,x\n2,y\n3,x\n4,y\n"
    out = tmp_path / f"out.csv{ending}"
    table = read_table(path)
    replace_labels(table, table.labels[::-1], out)
    assert read_table(out).labels.tolist() == ["y", "x", "y", "x"]
    with opened(out, "rt") as stream:
        assert stream.read() == "a,label\n1,y\n2,x\n3,y\n4,x\n"


def test_tsv_has_tabs(tmp_path):
    write_csv(pd.DataFrame({"a": [1], "b": [2]}), tmp_path / "t.tsv")
    assert (tmp_path / "t.tsv").read_bytes() == b"a\tb\n1\t2\n"


@pytest.mark.parametrize("name", ["o.parquet", "o.libsvm.gz", "o.npz", "o.zip"])
def test_another_ending_than_the_formats_is_refused(tmp_path, name):
    table = read_table(CUSTOMERS, label="outcome", categorical=True)
    with pytest.raises(UserError, match=r"would hold CSV, .* end it in \.csv"):
        replace_labels(table, table.labels, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def _no_work(*args, **kwargs):
    raise AssertionError("the output was to be checked before the work")


def test_outputs_are_checked_before_the_work(run, tmp_path, monkeypatch):
    for place in ("correct._estimator", "tune._choose", "bound._estimator", "predict.load_model"):
        monkeypatch.setattr(f"marginlab.commands.{place}", _no_work)
    folder, good = tmp_path / "dir", tmp_path / "good.csv"
    folder.mkdir()
    correct = ["correct", CUSTOMERS, *READ, *QUICK]
    tune = ["tune", CUSTOMERS, *READ, *SMALL_GRID]
    predict = ["predict", "model.npz", TRUSTED]
    for command, words in (
        ([*correct, "--votes", good, "--out", folder], f"--out {folder} is a folder; name a file"),
        ([*correct, "--out", good, "--votes", folder], f"--votes {folder} is a folder"),
        ([*correct, "--out", tmp_path / "no" / "o.csv"], "--out .* does not exist"),
        ([*correct, "--votes", good, "--out", tmp_path / "o.parquet"], "o.parquet would hold CSV"),
        ([*correct, "--votes", tmp_path / "v.parquet"], "--votes .* would hold CSV"),
        ([*correct, "--out", good, "--share", "outcome"], "has a column 'outcome' already"),
        ([*tune, "--table", good, "--out", folder], f"--out {folder} is a folder"),
        ([*tune, "--table", good, "--out", tmp_path / "m"], "--out .*npz"),
        ([*tune, "--table", tmp_path / "t.npz"], "--table .* would hold CSV"),
        (["bound", CUSTOMERS, *READ, "--save", tmp_path / "m"], "--save .*npz"),
        ([*predict, "--out", folder], f"--out {folder} is a folder"),
        ([*predict, "--out", tmp_path / "p.parquet"], "--out .* would hold CSV"),
    ):
        code, out, err = run(*command, "--quiet")
        assert (code, out) == (1, ""), err
        assert is_one_sentence(err)
        assert re.search(words, err), err
    assert [path.name for path in tmp_path.iterdir()] == ["dir"]


class _Full(io.BytesIO):
    def write(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_standard_output_is_called_by_its_name():
    table = read_table(CUSTOMERS, label="outcome", categorical=True)
    with pytest.raises(OSError, match="No space") as caught:
        replace_labels(table, table.labels, "-", stdout=_Full())
    assert caught.value.filename == "standard output"


def test_a_full_standard_output_ends_in_one_sentence():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full to be standard output")
    code = "import sys; from marginlab.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "correct", CUSTOMERS, *READ, *QUICK, "--quiet"]
    for options in ([], ["--out", "-"], ["--json"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [*command, *options], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert is_one_sentence(done.stderr), done.stderr
        assert "standard output: No space left on device" in done.stderr
