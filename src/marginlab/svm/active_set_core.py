"""The compiled part of the solvers for tiny subsets (`marginlab.svm.active_set` is the door).

All compiled functions that call one another stand in this one file: Numba's cache looks for
changes in a function's own file only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["EPS", "KKT_TOLERANCE", "newton", "smo", "train"]

#: Largest KKT residual that is accepted, before scaling for very large C.
KKT_TOLERANCE = 1e-10
EPS = float(np.finfo(np.float64).eps)
_MAX_STEPS = 200
_REFINE = 1e-12  # members of the active set may disagree on the intercept by this much
_MAX_SMO = 5_000_000
# Reordered sums vectorise; NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "nsz", "arcp"}
_SORTED = {"nnan", "nsz"}  # comparisons vectorise; a NaN ends the search, and the residual tells


@njit(cache=True, nogil=True)
def train(K, y, subsets, cost, l2, beta, intercept, residual, steps):  # type: ignore[no-untyped-def]
    """Train a machine on each subset; ``K`` holds their kernel matrices."""
    for j in range(subsets.shape[0]):
        _train_one(K[j], y, subsets[j], cost, l2, j, beta, intercept, residual, steps)


@njit(cache=True, nogil=True)
def _train_one(  # type: ignore[no-untyped-def]
    K, y, subset, cost, l2, j, beta, intercept, residual, steps
):
    size = len(subset)
    labels = np.empty(size)
    costs = np.empty(size)
    total = 0.0
    for i in range(size):
        labels[i] = y[subset[i]]
        costs[i] = cost[subset[i]]
        total += labels[i]
    if abs(total) == size:
        # only one class was drawn: the constant classifier
        intercept[j] = labels[0]
    elif l2:
        intercept[j], residual[j], steps[j] = newton(K, labels, costs, beta[j])
    else:
        intercept[j], residual[j], steps[j] = smo(K, labels, costs, beta[j])


# --- L2 loss: active-set Newton ---------------------------------------------------


@njit(cache=True, nogil=True)
def newton(K, y, cost, beta):  # type: ignore[no-untyped-def]
    """Fill ``beta``; return intercept, KKT residual, steps."""
    n = len(y)
    active = np.ones(n, dtype=np.bool_)
    work = np.empty((n, n))
    new, f_new, f = np.empty(n), np.empty(n), np.zeros(n)
    b = 0.0
    steps = 0
    for step in range(_MAX_STEPS):
        steps = step + 1
        if not active.any():
            active[:] = True
        b_new = _stationary(K, y, cost, active, work, new, f_new)
        f_new += b_new
        changed = _changes(y, new, f_new, active)
        t = 1.0
        if changed and step > 0:
            t = _line_search(y, cost, beta, f - b, new, f_new - b_new, b, b_new)
        for i in range(n):
            beta[i] += t * (new[i] - beta[i])
            f[i] += t * (f_new[i] - f[i])
        b += t * (b_new - b)
        if not changed:
            break
        for i in range(n):
            # at a full step the sign of beta decides for members, free of rounding
            if t == 1.0 and active[i]:
                active[i] = y[i] * new[i] > 0.0
            else:
                active[i] = y[i] * f[i] < 1.0
    return b, _residual_l2(K, y, cost, beta, b), steps


@njit(cache=True, nogil=True)
def _changes(y, beta, f, active):  # type: ignore[no-untyped-def]
    # whether the active set differs by more than rounding
    for i in range(len(y)):
        if active[i]:
            if y[i] * beta[i] < -1e-13:
                return True
        elif y[i] * f[i] < 1.0 - 1e-13:
            return True
    return False


@njit(cache=True, nogil=True, fastmath=_FAST)
def _stationary(K, y, cost, active, U, beta, g):  # type: ignore[no-untyped-def]
    """Solve the system of the active set into ``beta`` and ``g`` = K beta; return b."""
    members = np.flatnonzero(active)
    n = len(members)
    for i in range(n):
        row, out = K[members[i]], U[i]
        for k in range(i, n):
            out[k] = row[members[k]]
        out[i] += 1.0 / cost[members[i]]
    _cholesky(U, n)
    v, u = y[members], np.ones(n)
    _solve(U, n, v)
    _solve(U, n, u)
    b = v.sum() / u.sum()
    beta[:] = 0.0
    for i in range(n):
        beta[members[i]] = v[i] - b * u[i]
    b, spread = _offset(K, y, cost, members, beta, g, v)
    if not spread < _REFINE:
        # one step of iterative refinement; sum beta = 0 is kept
        _solve(U, n, v)
        excess = (v.sum() + beta.sum()) / u.sum()
        for i in range(n):
            beta[members[i]] += v[i] - excess * u[i]
        b, spread = _offset(K, y, cost, members, beta, g, v)
    return b


@njit(cache=True, nogil=True, fastmath=_FAST)
def _offset(K, y, cost, members, beta, g, rest):  # type: ignore[no-untyped-def]
    """Fill ``g`` = K beta; return the mean b of y - K beta - D beta and its spread.

    At an exact solution all members agree on b; ``rest`` is what they differ by.
    """
    _decision(K, beta, 0.0, g)
    for i in range(len(members)):
        at = members[i]
        rest[i] = y[at] - beta[at] / cost[at] - g[at]
    b = rest.mean()
    spread = 0.0
    for i in range(len(members)):
        rest[i] -= b
        spread = max(spread, abs(rest[i]))
    return b, spread


@njit(cache=True, nogil=True, fastmath=_FAST)
def _cholesky(U, n):  # type: ignore[no-untyped-def]
    # U^T U in the upper triangle, in place, two pivots a pass: every inner loop runs
    # along a row and adds multiples of rows, which vectorises without reductions
    k = 0
    while k < n:
        top = U[k]
        _scale(top, k, n)
        if k + 1 == n:
            break
        low = U[k + 1]
        for c in range(k + 1, n):
            low[c] -= top[k + 1] * top[c]
        _scale(low, k + 1, n)
        for i in range(k + 2, n):
            row, first, second = U[i], top[i], low[i]
            for c in range(i, n):
                row[c] -= first * top[c] + second * low[c]
        k += 2


@njit(cache=True, nogil=True, fastmath=_FAST)
def _scale(row, k, n):  # type: ignore[no-untyped-def]
    # a row of the factor from its pivot on; NaN where the matrix is not positive
    pivot = row[k]
    root = np.sqrt(pivot) if pivot > 0.0 else np.nan
    row[k] = root
    for c in range(k + 1, n):
        row[c] /= root


@njit(cache=True, nogil=True, fastmath=_FAST)
def _solve(U, n, x):  # type: ignore[no-untyped-def]
    # U^T U z = x in place
    for i in range(n):
        row = U[i]
        x[i] /= row[i]
        value = x[i]
        for k in range(i + 1, n):
            x[k] -= value * row[k]
    for i in range(n - 1, -1, -1):
        row = U[i]
        total = 0.0
        for k in range(i + 1, n):
            total += row[k] * x[k]
        x[i] = (x[i] - total) / row[i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _decision(K, beta, b, f):  # type: ignore[no-untyped-def]
    n = len(beta)
    for i in range(n):
        total = 0.0
        for k in range(n):
            total += K[i, k] * beta[k]
        f[i] = total + b


@njit(cache=True, nogil=True)
def _line_search(y, cost, beta, g, new, g_new, b, b_new):  # type: ignore[no-untyped-def]
    """Minimise the objective on the segment from the current to the new point.

    Its derivative is continuous, increasing and piecewise linear: Newton's method on
    it, kept inside a bracket, ends after finitely many steps.
    """
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(60):
        slope, bend = 0.0, 0.0
        for i in range(len(y)):
            d_g = g_new[i] - g[i]
            d_beta = new[i] - beta[i]
            slope += (beta[i] + t * d_beta) * d_g
            bend += d_beta * d_g
            d_f = d_g + b_new - b
            slack = 1.0 - y[i] * (g[i] + b + t * d_f)
            if slack > 0.0:
                slope -= cost[i] * slack * y[i] * d_f
                bend += cost[i] * d_f * d_f
        if slope <= 0.0:
            low = t
            if t == 1.0:
                return t
        else:
            high = t
        step = slope / bend if bend > 0.0 else 0.0
        if abs(step) <= 1e-14 * t:
            break
        t -= step
        if not low < t < high:
            t = 0.5 * (low + high)
    return t


@njit(cache=True, nogil=True)
def _residual_l2(K, y, cost, beta, b):  # type: ignore[no-untyped-def]
    n = len(y)
    f = np.empty(n)
    _decision(K, beta, b, f)
    worst = abs(beta.sum())
    for i in range(n):
        if beta[i] == 0.0:
            gap = max(0.0, 1.0 - y[i] * f[i])
        else:
            gap = max(abs(y[i] - f[i] - beta[i] / cost[i]), -y[i] * beta[i])
        # a NaN must not pass as small
        worst = gap if not gap <= worst else worst
    return worst


# --- L1 loss: sequential minimal optimisation ---------------------------------------


@njit(cache=True, nogil=True)
def smo(K, y, cost, beta):  # type: ignore[no-untyped-def]
    """Fill ``beta``; return intercept, KKT residual, updates.

    ``g`` holds y - K beta: at the optimum it equals b on free points, is at least b
    where beta can still not rise, and at most b where it cannot fall.
    """
    n = len(y)
    g = y.copy()
    low, high, diagonal, gain = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for m in range(n):
        low[m], high[m] = (0.0, cost[m]) if y[m] > 0 else (-cost[m], 0.0)
        diagonal[m] = K[m, m]
    updates, fresh = 0, True
    stop = 0.2 * KKT_TOLERANCE
    while updates < _MAX_SMO:
        i, k = _working_pair(K, diagonal, low, high, beta, g, stop, gain)
        if (k < 0 and not fresh) or updates % 1000 == 999:
            # rounding has piled up in g: an end, too, must hold for a fresh one
            _decision(K, -beta, 0.0, g)
            g += y
            fresh = True
            # with a very large C the rounding of f alone exceeds the tolerance
            stop = max(0.2 * KKT_TOLERANCE, 64 * EPS * np.abs(beta).sum())
            i, k = _working_pair(K, diagonal, low, high, beta, g, stop, gain)
        if k < 0:
            break
        updates += 1
        fresh = False
        curvature = max(diagonal[i] + diagonal[k] - 2.0 * K[i, k], 1e-12)
        room_i, room_k = high[i] - beta[i], beta[k] - low[k]
        step = min((g[i] - g[k]) / curvature, room_i, room_k)
        # land on the bound exactly, so that bounded points are known as such
        beta[i] = high[i] if step == room_i else beta[i] + step
        beta[k] = low[k] if step == room_k else beta[k] - step
        _update(g, K[i], K[k], step)
    b = _intercept_l1(y, cost, beta, g)
    return b, _residual_l1(y, cost, beta, g, b), updates


@njit(cache=True, nogil=True, fastmath=_FAST)
def _update(g, row_i, row_k, step):  # type: ignore[no-untyped-def]
    for m in range(len(g)):
        g[m] -= step * (row_i[m] - row_k[m])


@njit(cache=True, nogil=True)
def _can_rise(y, cost, beta):  # type: ignore[no-untyped-def]
    return beta < cost if y > 0 else beta < 0.0


@njit(cache=True, nogil=True)
def _can_fall(y, cost, beta):  # type: ignore[no-untyped-def]
    return beta > 0.0 if y > 0 else beta > -cost


@njit(cache=True, nogil=True)
def _working_pair(K, diagonal, low, high, beta, g, stop, gain):  # type: ignore[no-untyped-def]
    """The steepest rising point, and the falling partner of the largest decrease.

    The partner is -1 where no pair violates the optimum by ``stop``. Smaller gaps are no
    partners either: between duplicates they are rounding, and moves without end.
    """
    i = _steepest(beta, high, g)
    if i < 0 or _gains(K[i], diagonal, diagonal[i], low, beta, g, g[i], stop, gain) <= 0.0:
        return i, -1
    return i, np.argmax(gain)


@njit(cache=True, nogil=True, fastmath=_SORTED)
def _steepest(beta, high, g):  # type: ignore[no-untyped-def]
    """First point of the largest g among those that can rise; -1 if none can."""
    largest = -np.inf
    for m in range(len(g)):
        largest = max(largest, g[m] if beta[m] < high[m] else -np.inf)
    for m in range(len(g)):
        if g[m] == largest and beta[m] < high[m]:
            return m
    return -1


@njit(cache=True, nogil=True, fastmath=_SORTED)
def _gains(row, diagonal, own, low, beta, g, g_i, stop, gain):  # type: ignore[no-untyped-def]
    """Fill in twice the decrease that each partner gives, 0 for no partner; the largest."""
    largest = 0.0
    for m in range(len(g)):
        gap = g_i - g[m]
        value = gap * gap / max(own + diagonal[m] - 2.0 * row[m], 1e-12)
        gain[m] = value if gap >= stop and beta[m] > low[m] else 0.0
        largest = max(largest, gain[m])
    return largest


@njit(cache=True, nogil=True)
def _intercept_l1(y, cost, beta, g):  # type: ignore[no-untyped-def]
    low, high = -np.inf, np.inf
    for m in range(len(y)):
        if _can_rise(y[m], cost[m], beta[m]):
            low = max(low, g[m])
        if _can_fall(y[m], cost[m], beta[m]):
            high = min(high, g[m])
    if np.isinf(low):
        return high
    if np.isinf(high):
        return low
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _residual_l1(y, cost, beta, g, b):  # type: ignore[no-untyped-def]
    worst = abs(beta.sum())
    for m in range(len(y)):
        gap = 0.0
        if _can_rise(y[m], cost[m], beta[m]):
            gap = max(gap, g[m] - b)
        if _can_fall(y[m], cost[m], beta[m]):
            gap = max(gap, b - g[m])
        worst = gap if not gap <= worst else worst
    return worst
