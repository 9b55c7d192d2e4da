"""A process that compiles and one that finds the code in the cache give the same bytes."""

import os
import subprocess
import sys

import pytest
from tiny_run import ROOT

SCRIPT = """
import hashlib
import numpy as np
import scipy.sparse as sp
from marginlab.selection import SpanSearch
from marginlab.subsvms import SubSVMs
from marginlab.svm.grid_l2 import solve_grid
from marginlab.svm.weighted import WeightedSVC

def told(name, *arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(name, digest.hexdigest())

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 20))
X[:150, 0] += 1.5
y = np.repeat([1, -1], 150)
y[::7] *= -1
sparse = sp.csr_matrix(np.where(abs(X) > 1, X, 0))
for loss in ("l2", "l1"):
    for rows in (X, sparse):
        model = SubSVMs(n_svms=50, sample_size=30, loss=loss, random_state=0).fit(rows, y)
        told(f"SubSVMs {loss}", model.votes_, np.float64(model.kkt_residual_))
for kernel in ("rbf", "linear"):
    svc = WeightedSVC(kernel=kernel, C=3.0).fit(X, y)
    spans = svc.spans("closed"), svc.spans("boxed")
    told(f"WeightedSVC {kernel}", svc.alpha_, svc.decision_values_, *spans)
search = SpanSearch(WeightedSVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}).fit(X, y)
told("SpanSearch", search.results_.select_dtypes("number").to_numpy())
kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 20).astype(np.float32)
C = np.repeat(np.array([1, 10, 100], np.float32), 3)[:, None]
W = np.tile(np.array([1, 3, 0.3], np.float32), 3)[:, None]
grid = solve_grid(kernel, C * W * np.float32(y > 0), C * np.float32(y < 0), tol=1e-3)
told("solve_grid", *(value for value in vars(grid).values() if isinstance(value, np.ndarray)))
"""


@pytest.mark.slow
def test_compiling_and_cached_processes_agree(tmp_path):
    env = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for _ in range(2)
    )
    assert len(first) == 8
    assert first == second
