"""Fetching from folders and the web: sources in order, sha256 before use, clear sentences."""

import functools
import gzip
import http.server
import threading

import pytest
from toy_registry import CONTENT, make_registry, sha

from marginlab.datasets.fetch import (
    Sources,
    can_be_had,
    fetch_dataset,
    fetch_file,
    has_no_source,
    web_addresses,
)
from marginlab.datasets.registry import load_registry
from marginlab.datasets.web import download, reachable
from marginlab.errors import DataError


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing."""

    def do_GET(self):
        self.server.hits.append(self.path)
        if self.path == "/flaky" and len(self.server.hits) < 2:
            self.send_error(503)
        elif self.path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(CONTENT)
        else:
            super().do_GET()


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "site"
    folder.mkdir()
    handler = functools.partial(_Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        running.hits, running.folder = [], folder
        running.url = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


# ---------------------------------------------------------------- folders


def test_the_mirror_comes_first_and_is_used_in_place(tmp_path, sources):
    path = sources.mirror / "a.txt"
    path.write_bytes(CONTENT)
    registry = make_registry(tmp_path, **{"a.txt": {"sha256": sha(CONTENT)}})
    assert fetch_file("a.txt", sources, registry) == path
    assert not sources.cache.exists()


def test_a_stale_mirror_file_is_passed_over_for_the_cache(tmp_path, sources):
    (sources.mirror / "a.txt").write_bytes(b"old")
    sources.cache.mkdir()
    (sources.cache / "a.txt").write_bytes(CONTENT)
    registry = make_registry(tmp_path, **{"a.txt": {"sha256": sha(CONTENT)}})
    assert fetch_file("a.txt", sources, registry) == sources.cache / "a.txt"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"old", "stale, truncated or another file (3 bytes"),
        (b"  <!DOCTYPE html>", "a web page instead of data"),
    ],
)
def test_every_source_tried_is_told_and_where_to_put_the_file(tmp_path, sources, content, words):
    (sources.mirror / "a.txt").write_bytes(content)
    entry = {"sha256": sha(CONTENT), "url": "http://127.0.0.1:9/a.txt"}
    registry = make_registry(tmp_path, **{"a.txt": entry})
    offline = Sources(sources.mirror, sources.cache, offline=True)
    with pytest.raises(DataError) as caught:
        fetch_file("a.txt", offline, registry)
    text = str(caught.value)
    assert f"{sources.mirror / 'a.txt'} was passed over: it is {words}" in text
    assert f"{sources.cache / 'a.txt'} is not there" in text
    assert "web http://127.0.0.1:9/a.txt: not asked, since offline is set" in text
    assert f"put the file from http://127.0.0.1:9/a.txt at {sources.mirror / 'a.txt'}" in text
    assert not (sources.cache / "a.txt").exists()


def test_a_mirror_folder_that_does_not_exist_is_told(tmp_path):
    registry = make_registry(tmp_path, **{"a.txt": {"sha256": sha(CONTENT)}})
    with pytest.raises(DataError, match=r"mirror folder .*nowhere does not exist"):
        fetch_file("a.txt", Sources(tmp_path / "nowhere", tmp_path / "cache"), registry)


def test_other_line_ends_are_accepted_by_the_values(tmp_path, sources):
    from marginlab.datasets.libsvm_format import values_digest

    (tmp_path / "unix").write_bytes(CONTENT)
    (sources.mirror / "a.txt").write_bytes(CONTENT.replace(b"\n", b"\r\n"))
    entry = {"sha256": sha(CONTENT), "values_sha256": values_digest(tmp_path / "unix")}
    registry = make_registry(tmp_path, **{"a.txt": entry})
    assert fetch_file("a.txt", sources, registry) == sources.mirror / "a.txt"
    (sources.mirror / "a.txt").write_bytes(CONTENT.replace(b"2:1", b"2:3"))
    with pytest.raises(DataError, match="was passed over"):
        fetch_file("a.txt", sources, registry)


def test_an_unknown_sha256_is_refused_until_the_user_gives_one(tmp_path, sources):
    (sources.mirror / "a.txt").write_bytes(CONTENT)
    registry = make_registry(tmp_path, **{"a.txt": {"sha256": None, "url": "http://x/a.txt"}})
    with pytest.raises(DataError, match=r"sha256 of a.txt is not known.*SHA256SUMS"):
        fetch_file("a.txt", sources, registry)
    (sources.mirror / "SHA256SUMS").write_text(f"{sha(CONTENT)}  a.txt\n")
    assert fetch_file("a.txt", sources, registry) == sources.mirror / "a.txt"
    (sources.mirror / "SHA256SUMS").write_text(f"{sha(b'other')}  a.txt\n")
    offline = Sources(sources.mirror, sources.cache, offline=True)
    with pytest.raises(DataError, match="was passed over"):
        fetch_file("a.txt", offline, registry)


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path, server):
    (server.folder / "a.txt").write_bytes(CONTENT)
    (tmp_path / "file").write_text("in the way")
    entry = {"sha256": sha(CONTENT), "url": f"{server.url}/a.txt"}
    registry = make_registry(tmp_path, **{"a.txt": entry})
    with pytest.raises(DataError, match=r"cannot be written .*MARGINLAB_CACHE"):
        fetch_file("a.txt", Sources(None, tmp_path / "file" / "cache"), registry)


def test_a_system_file_is_unpacked_and_checked(tmp_path, sources):
    system = tmp_path / "set.gz"
    entry = {"sha256": sha(CONTENT), "system": str(system), "unpack": "gzip"}
    registry = make_registry(tmp_path, **{"a.txt": entry})
    with pytest.raises(DataError, match="it is not installed"):
        fetch_file("a.txt", sources, registry)
    system.write_bytes(gzip.compress(CONTENT)[:-9])
    with pytest.raises(DataError, match="a damaged gzip archive"):
        fetch_file("a.txt", sources, registry)
    system.write_bytes(gzip.compress(CONTENT))
    assert fetch_file("a.txt", sources, registry).read_bytes() == CONTENT


def test_what_unpacks_to_too_much_is_refused(tmp_path, sources):
    system = tmp_path / "set.gz"
    system.write_bytes(gzip.compress(bytes(10_000)))
    entry = {"sha256": sha(bytes(10_000)), "system": str(system), "unpack": "gzip"}
    registry = make_registry(tmp_path, **{"a.txt": entry | {"max_bytes": 9_999}})
    with pytest.raises(DataError, match="more than the 9999 bytes allowed"):
        fetch_file("a.txt", sources, registry)


# ---------------------------------------------------------------- web


def test_web_files_are_kept_in_the_cache(tmp_path, sources, server):
    (server.folder / "a.txt").write_bytes(CONTENT)
    entry = {"sha256": sha(CONTENT), "url": f"{server.url}/a.txt"}
    registry = make_registry(tmp_path, **{"deep/a.txt": entry})
    path = fetch_file("deep/a.txt", sources, registry)
    assert path == sources.cache / "deep" / "a.txt"
    assert path.read_bytes() == CONTENT
    assert fetch_file("deep/a.txt", sources, registry) == path
    assert server.hits == ["/a.txt"]


def test_a_web_file_that_is_packed_is_unpacked(tmp_path, sources, server):
    (server.folder / "a.gz").write_bytes(gzip.compress(CONTENT))
    entry = {"sha256": sha(CONTENT), "url": f"{server.url}/a.gz", "unpack": "gzip"}
    registry = make_registry(tmp_path, **{"a.txt": entry})
    assert fetch_file("a.txt", sources, registry).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html>sign in</html>", "what came was refused: it is a web page instead of data"),
        (CONTENT[:5], "what came was refused: it is stale, truncated or another file"),
    ],
)
def test_a_wrong_download_is_refused_and_leaves_nothing(tmp_path, sources, server, content, words):
    (server.folder / "a.txt").write_bytes(content)
    entry = {"sha256": sha(CONTENT), "url": f"{server.url}/a.txt"}
    registry = make_registry(tmp_path, **{"a.txt": entry})
    with pytest.raises(DataError, match=words):
        fetch_file("a.txt", sources, registry)
    assert list(sources.cache.iterdir()) == []


def test_a_missing_page_is_not_asked_for_again(tmp_path, server):
    with pytest.raises(DataError, match="the server answered 404"):
        download(f"{server.url}/none.txt", tmp_path / "out", pause=0.01)
    assert len(server.hits) == 1


def test_a_server_in_trouble_is_asked_again(tmp_path, server):
    (server.folder / "flaky").write_bytes(CONTENT)
    download(f"{server.url}/flaky", tmp_path / "out", pause=0.01)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert len(server.hits) == 2


def test_a_transfer_that_breaks_off_is_told_after_all_tries(tmp_path, server):
    with pytest.raises(DataError, match="broke off"):
        download(f"{server.url}/short", tmp_path / "out", pause=0.01)
    assert len(server.hits) == 3


def test_an_unreachable_server_is_told(tmp_path):
    with pytest.raises(DataError, match="cannot be reached"):
        download("http://127.0.0.1:9/a", tmp_path / "out", attempts=2, pause=0.01)


def test_a_host_is_reachable_or_not(server, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert reachable([f"{server.url}/a", "http://127.0.0.1:9/b"])
    assert not reachable(["http://127.0.0.1:9/b"])
    assert not reachable([])
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert reachable(["http://nowhere.invalid/b"])  # only the proxy knows


# ---------------------------------------------------------------- whole sets


def test_settings_come_from_arguments_then_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MARGINLAB_MIRROR", str(tmp_path / "m"))
    monkeypatch.setenv("MARGINLAB_CACHE", str(tmp_path / "c"))
    monkeypatch.setenv("MARGINLAB_OFFLINE", "1")
    assert Sources.find() == Sources(tmp_path / "m", tmp_path / "c", True)
    given = Sources.find(tmp_path / "x", tmp_path / "y", False)
    assert given == Sources(tmp_path / "x", tmp_path / "y", False)
    for name in ("MIRROR", "CACHE", "OFFLINE"):
        monkeypatch.delenv(f"MARGINLAB_{name}")
    assert Sources.find("", "").mirror is None
    assert Sources.find("", "").cache.name == "marginlab"


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """No mirror, an empty cache, no web."""
    monkeypatch.setenv("MARGINLAB_MIRROR", "")
    monkeypatch.setenv("MARGINLAB_CACHE", str(tmp_path / "empty"))
    monkeypatch.setenv("MARGINLAB_OFFLINE", "1")
    return tmp_path / "empty"


@pytest.mark.parametrize(
    ("name", "within", "words"),
    [
        ("a1a", True, "recipe"),
        ("splice", True, "recipe"),
        ("letter", True, "package"),
        ("twonorm_generated", True, "generated"),
        ("w1a", False, "libsvm/w1a is neither in the mirror nor in the cache, and no web"),
        ("banana", False, "no web address serves this file; the publisher's site is gone"),
        ("yearbook", False, "which no source here carries"),
        ("rcv1", False, "is not known to this project"),
    ],
)
def test_what_can_be_had_is_told_without_network(nothing, name, within, words):
    found, reason = can_be_had(name)
    assert found is within
    assert words in reason
    assert not nothing.exists()


def test_with_a_web_the_web_counts(nothing):
    assert can_be_had("mushrooms", offline=False) == (True, "web")
    assert can_be_had("w1a", offline=False)[0] is True
    assert can_be_had("banana", offline=False)[0] is False


def test_sets_that_nobody_can_have_are_told_from_those_that_are_not_here(nothing):
    names = ("yearbook", "cats_vs_dogs", "rcv1", "banana", "w1a", "twonorm_generated")
    assert [has_no_source(name) for name in names] == [True, True, True, False, False, False]
    nothing.mkdir()
    line = f"{'a' * 64}  libsvm/rcv1_train.binary.bz2\n"
    (nothing / "SHA256SUMS").write_text(line)
    assert not has_no_source("rcv1")


def test_addresses_of_a_set_and_of_what_it_is_rebuilt_from():
    ends = [url.rsplit("/", 1)[1] for url in web_addresses("w1a")]
    assert sorted(ends) == ["w1a", "w1a.t", "w8a"]
    assert web_addresses("twonorm_generated") == []


def test_files_in_the_mirror_or_cache_count(nothing, tmp_path):
    for part in ("libsvm/w1a", "libsvm/w1a.t"):
        (tmp_path / "m" / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / part).write_bytes(b"x")
    assert can_be_had("w1a", mirror=tmp_path / "m") == (True, "mirror")
    assert can_be_had("w1a", cache=tmp_path / "m") == (True, "cache")


def test_a_set_that_no_source_carries_says_why(tmp_path):
    with pytest.raises(DataError, match=r"'yearbook' cannot be had: .*ResNet18"):
        fetch_dataset("yearbook", Sources(None, tmp_path), load_registry())
