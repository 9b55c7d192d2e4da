"""Compiled inner steps of `grid_l2`: one row of each array is one SVM of the grid.

A row is the primal problem min_{w,b} 1/2 |w|^2 + 1/2 sum_u [p_u (1 - f_u)_+^2 + m_u (1 + f_u)_+^2]
over the unique training rows u, where p_u (m_u) is the sum of the penalties C_i of the positive
(negative) points that share row u, w = sum_u beta_u phi(x_u) and f = K beta + b. The bias is
always at its optimum for the current w; conjugate gradients run in the inner product of the
kernel space, <g, h> = g^T K h, which costs one product with K a step.
"""

from __future__ import annotations

import numba as nb
import numpy as np

__all__ = ["advance_rows", "restart_rows", "search_rows"]

# With fast arithmetic the order of a sum is the compiler's choice. A function that is called exists
# twice, alone and inside its caller's code, and a process that compiles runs the one, a process
# that finds both in the cache the other: the last bits would differ from run to run. Parts
# that the compiler must inline exist once.
_part = nb.njit(cache=True, fastmath=True, forceinline=True)


@_part
def _best_bias(v, p, m, b):  # type: ignore[no-untyped-def]
    """Bias that minimises the loss for given K beta: Newton on a monotone function."""
    for _ in range(60):
        slope, gradient = 0.0, 0.0  # summed in float64
        shift = np.float32(b)
        for i in range(v.size):
            f = v[i] + shift
            up, down = max(np.float32(1) - f, np.float32(0)), max(np.float32(1) + f, np.float32(0))
            gradient += p[i] * up - m[i] * down
            slope += (p[i] if up > 0 else np.float32(0)) + (m[i] if down > 0 else np.float32(0))
        if slope <= 0:
            break
        step = gradient / slope
        b += step
        if abs(step) < 1e-6:
            break
    return b


@_part
def _restart(k, beta, v, p, m, bias, scale, grad, weight, d, kd, rho, cbar, residual, count):  # type: ignore[no-untyped-def]
    """Optimal bias, active losses, negative gradient and its residual at the current point."""
    b = _best_bias(v[k], p[k], m[k], bias[k])
    bias[k] = b
    shift, total, worst, active = np.float32(b), 0.0, np.float32(0), 0
    for i in range(v.shape[1]):
        f = v[k, i] + shift
        up, down = max(np.float32(1) - f, np.float32(0)), max(np.float32(1) + f, np.float32(0))
        h = (p[k, i] if up > 0 else np.float32(0)) + (m[k, i] if down > 0 else np.float32(0))
        r = p[k, i] * up - m[k, i] * down - beta[k, i]
        weight[k, i] = h
        grad[k, i] = r
        d[k, i] = 0
        kd[k, i] = 0
        total += h
        active += h > 0
        worst = max(worst, abs(r) * scale[k, i])
    rho[k] = 0.0
    cbar[k] = total / v.shape[1]
    residual[k] = worst
    count[k] = active


@nb.njit(cache=True)
def restart_rows(rows, beta, v, p, m, bias, scale, grad, weight, d, kd, rho, cbar, residual, count):  # type: ignore[no-untyped-def]
    """Begin conjugate gradients anew in the given rows."""
    for k in rows:
        _restart(k, beta, v, p, m, bias, scale, grad, weight, d, kd, rho, cbar, residual, count)


@_part
def _slope(v, p, m, b, kd, db, t, linear, quadratic):  # type: ignore[no-untyped-def]
    """First and second derivative of the objective at a step t along (d, db)."""
    first, second = linear + t * quadratic, quadratic
    shift, step = np.float32(b + t * db), np.float32(t)
    g, h = 0.0, 0.0
    bias_step = np.float32(db)
    for i in range(v.size):
        move = kd[i] + bias_step
        f = v[i] + step * kd[i] + shift
        up, down = max(np.float32(1) - f, np.float32(0)), max(np.float32(1) + f, np.float32(0))
        g += (m[i] * down - p[i] * up) * move
        weight = (p[i] if up > 0 else np.float32(0)) + (m[i] if down > 0 else np.float32(0))
        h += weight * move * move
    return first + g, second + h


@_part
def _search(k, beta, v, p, m, bias, d, kd, db):  # type: ignore[no-untyped-def]
    """Exact line search: safeguarded Newton on the piecewise linear derivative."""
    linear, quadratic = 0.0, 0.0
    for i in range(v.shape[1]):
        linear += d[k, i] * v[k, i]
        quadratic += d[k, i] * kd[k, i]
    t, low, high = 1.0, 0.0, np.inf
    for _ in range(40):
        first, second = _slope(v[k], p[k], m[k], bias[k], kd[k], db, t, linear, quadratic)
        if second <= 0:
            break
        if first > 0:
            high = min(high, t)
        else:
            low = max(low, t)
        new = t - first / second
        if new <= low or new >= high:
            new = 0.5 * (low + min(high, 2 * t + 1))
        done = abs(new - t) <= 1e-3 * t
        t = new
        if done:
            break
    step = np.float32(t)
    for i in range(v.shape[1]):
        beta[k, i] += step * d[k, i]
        v[k, i] += step * kd[k, i]
    bias[k] += t * db


@nb.njit(cache=True)
def search_rows(rows, beta, v, p, m, bias, d, kd, shifts):  # type: ignore[no-untyped-def]
    """Move the given rows along their directions, as far as the objective falls."""
    for j in range(rows.size):
        _search(rows[j], beta, v, p, m, bias, d, kd, shifts[j])


@_part
def _conjugate(k, z, kz, grad, direction, product, weight, rho):  # type: ignore[no-untyped-def]
    """New conjugate direction; returns its curvature and the weighted mean of K p."""
    top = 0.0
    for i in range(z.size):
        top += grad[k, i] * kz[i]
    ratio = np.float32(top / rho[k]) if rho[k] > 0 else np.float32(0)
    rho[k] = top
    curve, mean, total, square = 0.0, 0.0, 0.0, 0.0
    for i in range(z.size):
        q = kz[i] + ratio * product[k, i]
        s = z[i] + ratio * direction[k, i]
        direction[k, i] = s
        product[k, i] = q
        h = weight[k, i]
        curve += s * q
        mean += h * q
        total += h
        square += h * q * q
    mean = mean / total if total > 0 else 0.0
    return top, curve + square - total * mean * mean, mean


@_part
def _descend(k, step, mean, grad, direction, product, weight, scale, d, kd):  # type: ignore[no-untyped-def]
    """Step of conjugate gradients; returns the new residual and the bias along d."""
    a, centre, worst = np.float32(step), np.float32(mean), np.float32(0)
    total, moved = 0.0, 0.0
    for i in range(grad.shape[1]):
        h = weight[k, i]
        d[k, i] += a * direction[k, i]
        kd[k, i] += a * product[k, i]
        r = grad[k, i] - a * (direction[k, i] + h * (product[k, i] - centre))
        grad[k, i] = r
        worst = max(worst, abs(r) * scale[k, i])
        total += h
        moved += h * kd[k, i]
    return worst, (-moved / total if total > 0 else 0.0)


@nb.njit(cache=True)
def advance_rows(  # type: ignore[no-untyped-def]
    rows, z, kz, grad, direction, product, weight, scale, d, kd, rho, goal
):
    """One step of conjugate gradients in each row.

    Returns for each row the bias along the step so far, and whether the linear system is
    solved well enough for the set of active losses to be looked at again.
    """
    shifts, ready = np.zeros(rows.size), np.zeros(rows.size, np.bool_)
    for j in range(rows.size):
        k = rows[j]
        top, curve, mean = _conjugate(k, z[j], kz[j], grad, direction, product, weight, rho)
        if not (top > 0 and curve > 0):
            ready[j] = True
            continue
        worst, shifts[j] = _descend(
            k, top / curve, mean, grad, direction, product, weight, scale, d, kd
        )
        ready[j] = worst <= goal[j]
    return shifts, ready
