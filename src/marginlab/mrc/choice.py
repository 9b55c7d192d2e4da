"""Which method and solver "auto" stands for, by size; the figures behind it are measured.

CPU seconds, one thread: generation with HiGHS as master (h), our interior point on the
compact form, which takes up samples as it needs them (c), HiGHS's interior point on the
whole program (f). Generation ends at a gap of 1e-3, ours at 1e-6.

    house16, linear (m = 17)                    h 0.005 c 0.05
    letter, 2 labels (m = 17)                   h 0.007 c 0.03
    optdigits, 2 labels (m = 65)                h 0.011 c 0.03
    dry_bean, linear, 7 labels (m = 119)        h 0.15  c 0.14
    letter, 8 labels, 150 samples (m = 136)     h 0.13  c 0.03  f 17
    satellite, linear, 6 labels (m = 222)       h 0.72  c 0.14  f 18.9 (compact)
    optdigits, 4 labels (m = 260)               h 0.46  c 0.16
    pulsar, 400 raw Fourier features            h 0.26  c 0.7
    house16, 400 raw Fourier features           h 0.05  c 0.6
    house16, 400 scaled Fourier features        h 4.3   c 0.6
    letter, 2 labels, 400 Fourier features      h 1.3   c 0.23
    letter, 26 labels, 15,098 samples (m = 442) h 13    c 0.7
    optdigits, linear, 10 labels (m = 650)      h 6.1   c 0.9   f 35.5 (compact)
    dry_bean, 100 Fourier features (m = 707)    h 3.8   c 2.0
    satellite, 400 Fourier features (m = 2,406)         c 22
    optdigits, 400 Fourier features (m = 4,010)         c 67
    mnist, 5,000 samples (m = 7,850)            h none in 300   c 153
    comp_vs_sci text, lambda_0 = .1             h 0.20          f 3.6
    comp_vs_sci text, lambda_0 = .05            h 2.9           f 5.6
    comp_vs_sci text, lambda_0 = .03            h over 30       f 8.3
    comp_vs_sci text, lambda_0 = .01                            f 38

(text on another machine). Where few constraints matter, generation wins by some tenths
of a second; where many do, it loses by factors, so from FEW components on ours is taken.
"""

from __future__ import annotations

import scipy.sparse as sp

from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.ipm import interior_megabytes

__all__ = ["MANY_FEATURES", "choose"]

MANY_FEATURES = 5000  # sparse data with more columns: features are generated too
SPARSE_SOLUTION = 3.0  # lambda_0 sqrt(n) from which few features of sparse text matter
FEW = 100  # components of Phi below which generation with the simplex is the fastest
WIDE_BINARY = 300  # columns from which interior points beat the simplex as master
MANY = 8000  # and beyond which the interior point's m x m matrix is too dear
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
    return ("compact", "ipm") if _wide(problem) else ("ccg", "highs")


def _wide(problem: MrcProblem) -> bool:
    m = problem.phi.n_features
    return FEW <= m <= MANY and interior_megabytes(problem) <= MEMORY_MB


def _master(problem: MrcProblem) -> str:
    psi = problem.phi.psi
    wide = problem.n_classes == 2 and not sp.issparse(psi) and psi.shape[1] >= WIDE_BINARY
    return "ipm" if wide else "highs"
