"""A registry of toy files for the tests of fetching."""

import hashlib

from marginlab.datasets.registry import FileSpec, Registry

CONTENT = b"+1 1:1\n-1 2:1\n"


def sha(data):
    return hashlib.sha256(data).hexdigest()


def make_registry(tmp_path, *, packages=(), **files):
    specs = {name: FileSpec(name=name, **entry) for name, entry in files.items()}
    return Registry(tmp_path, 0, {p.name: p for p in packages}, specs, {})
