"""Data loading against scikit-learn's LIBSVM reader."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from marginlab.datasets.libsvm_format import read_libsvm, write_libsvm
from marginlab.experiments.timing import interleave
from marginlab.files import atomic_path
from marginlab.seeds import rng

__all__ = ["run"]


def run(quick: bool) -> pd.DataFrame:
    """Time both readers on generated sparse files of growing size.

    Parameters
    ----------
    quick : bool
        Two small files instead of three.

    Returns
    -------
    DataFrame
        Columns comparison, size, ours_seconds, peer_seconds, ratio, and the two peaks
        (not measured here: NaN).
    """
    sizes = (1000, 4000) if quick else (2000, 8000, 32000)
    return pd.DataFrame([_row(size) for size in sizes])


def _row(n_rows: int) -> dict[str, object]:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "generated")
        n_features = _write(path, n_rows)
        ours, peer = interleave(
            lambda: read_libsvm(path, n_features=n_features),
            lambda: load_svmlight_file(str(path), n_features=n_features, zero_based=False),
            repeats=5,
        )
    return {
        "comparison": "LIBSVM file: read_libsvm against load_svmlight_file",
        "size": f"rows={n_rows}",
        "ours_seconds": ours,
        "peer_seconds": peer,
        "ratio": peer / ours,
        "ours_peak_mb": np.nan,
        "peer_peak_mb": np.nan,
    }


def _write(path: object, n_rows: int) -> int:
    generator = rng(0, "bench", "libsvm", n_rows)
    X = sp.random(n_rows, 300, density=0.05, format="csr", random_state=generator)
    y = np.where(generator.random(n_rows) < 0.3, 1.0, -1.0)
    text = io.StringIO()
    write_libsvm(text, X, y)
    with atomic_path(str(path)) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")
    return 300
