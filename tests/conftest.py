"""Shared by all tests: one thread, the project's root as working folder."""

import os
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]

# The same examples every time, and no deadline: the first call of a compiled
# function takes seconds.
settings.register_profile(
    "project",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("project")


@pytest.fixture(autouse=True)
def _in_project_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def mirror():
    """The mirror folder; the test is skipped where none is named."""
    folder = os.environ.get("MARGINLAB_MIRROR", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data: name a mirror folder in MARGINLAB_MIRROR")
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def package_sources(tmp_path_factory):
    """No mirror, no web, one cache a session; skipped where pip reaches no index."""
    from marginlab.datasets.fetch import Sources
    from marginlab.datasets.registry import load_registry
    from marginlab.datasets.wheels import find_wheel
    from marginlab.errors import DataError

    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # shared by the workers
    sources = Sources(None, folder / "packages", offline=True)
    try:
        find_wheel(load_registry().packages["mrcpy"], sources.folders())
    except DataError as error:
        pytest.skip(f"needs the Python package index: {error}")
    return sources
