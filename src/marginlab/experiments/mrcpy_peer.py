"""Runs in mrcpy's own interpreter: CPU seconds of its generation on a saved problem.

Called as ``python mrcpy_peer.py problem.npz``; nothing of marginlab is imported here,
and marginlab imports nothing of mrcpy.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

_SETTINGS = {"fit_intercept": True, "n_max": 400, "k_max": 400, "eps1": 1e-2}


def main(file: str) -> None:
    """Solve and print risk and seconds.

    Parameters
    ----------
    file : str
        Archive with psi (leading ones), tau, lam and the number of labels k.
    """
    from MRCpy import MRC
    from MRCpy.phi import BasePhi

    data = np.load(file)
    n_classes = int(data["k"])
    X = data["psi"][:, 1:]
    phi = BasePhi(n_classes, fit_intercept=True).fit(X)
    model: Any = MRC(loss="0-1", phi=phi, solver="ccg", random_state=0, **_SETTINGS)
    model.classes_ = np.arange(n_classes)
    model.n_classes = n_classes
    start = time.process_time()
    tau, lam = (data[name].reshape(n_classes, -1) for name in ("tau", "lam"))
    model.minimax_risk(X, tau, lam, n_classes)
    seconds = time.process_time() - start
    print("risk", float(model.upper_), "seconds", seconds)


if __name__ == "__main__":
    main(sys.argv[1])
