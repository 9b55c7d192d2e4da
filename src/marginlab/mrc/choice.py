"""Which method and solver "auto" stands for, by size; the figures behind it are measured.

CPU seconds, one thread: generation with HiGHS (h) or our interior point as master (i), our
interior point on the compact form (c), HiGHS's interior point on the whole program (f).

    pulsar, 400 raw Fourier features            h 0.13  i 0.35  c 3.8   f 32
    house16, 400 raw Fourier features           h 0.05          c 3.1   f 26
    house16, 400 scaled Fourier features        h 2.1   i 0.8   c 2.8
    satellite, linear, 6 labels                 h 0.47  i 0.6   c 0.9   f 10.5 (compact)
    optdigits, linear, 10 labels (m = 650)      h 3.3   i 7.2   c 2.5   f 18.6 (compact)
    letter, 26 labels, 15,098 samples           h 5.2   i 5.4   c 19
    satellite, 400 Fourier features (m = 2,406)                 c 23
    optdigits, 400 Fourier features (m = 4,010)                 c 54
    comp_vs_sci text, lambda_0 = .1             h 0.20                  f 3.6
    comp_vs_sci text, lambda_0 = .05            h 2.9                   f 5.6
    comp_vs_sci text, lambda_0 = .03            h over 30               f 8.3
    comp_vs_sci text, lambda_0 = .01                                    f 38
"""

from __future__ import annotations

import scipy.sparse as sp

from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.ipm import interior_megabytes

__all__ = ["MANY_FEATURES", "choose"]

MANY_FEATURES = 5000  # sparse data with more columns: features are generated too
SPARSE_SOLUTION = 3.0  # lambda_0 sqrt(n) from which few features of sparse text matter
WIDE_BINARY = 300  # columns from which interior points beat the simplex as master
WIDE_BLOCKS = 400  # components of Phi from which the compact form beats generation
MANY_PAIRS = 150_000  # (sample, label) pairs beyond which it does not
MEMORY_MB = 4096.0


def choose(problem: MrcProblem, method: str, solver: str) -> tuple[str, str]:
    """Method and solver to use, with "auto" resolved.

    Parameters
    ----------
    problem : MrcProblem
    method, solver : str
        As given to the estimator.

    Returns
    -------
    method, solver : str
    """
    if solver != "auto":
        default = {"highs-ipm": "compact", "ipm": "compact"}.get(solver, "ccg")
        return (default if method == "auto" else method), solver
    if method == "ccg":
        return method, _master(problem)
    if method in ("lp", "compact", "subgradient"):
        own = method == "compact" and interior_megabytes(problem) <= MEMORY_MB
        return method, "ipm" if own else "highs-ipm"
    return _best(problem)


def _best(problem: MrcProblem) -> tuple[str, str]:
    psi, n, k = problem.phi.psi, problem.phi.n_samples, problem.n_classes
    if sp.issparse(psi) and psi.shape[1] > MANY_FEATURES:
        if problem.lambda_0 * n**0.5 >= SPARSE_SOLUTION:
            return "ccg", "highs"
        return ("lp" if k == 2 else "compact"), "highs-ipm"
    fits = interior_megabytes(problem) <= MEMORY_MB
    if k > 2 and problem.phi.n_features >= WIDE_BLOCKS and n * k <= MANY_PAIRS and fits:
        return "compact", "ipm"
    return "ccg", _master(problem)


def _master(problem: MrcProblem) -> str:
    psi = problem.phi.psi
    wide = problem.n_classes == 2 and not sp.issparse(psi) and psi.shape[1] >= WIDE_BINARY
    return "ipm" if wide else "highs"
