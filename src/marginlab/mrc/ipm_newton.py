"""The Newton system of the interior point: elimination per sample, one matrix of features.

With a = beta/u, b = delta/t the pairs of sample i leave

    d beta_i = H_i (d s_i - d v) + k_i,   H_i = diag(ab/(a+b)) + g g^T / kappa,
    g = a/(a+b),   kappa = z/gamma + sum_y 1/(a+b),

and the features leave d mu = q - d . A d beta with d = mu+/r+ + mu-/r-. What remains
is (diag(1/d) + A H A^T) d mu = rhs, bordered by v.
"""

from __future__ import annotations

import numpy as np

from marginlab.mrc.ipm_core import corner
from marginlab.mrc.ipm_gram import NormalMatrix
from marginlab.mrc.ipm_point import Point, parts
from marginlab.mrc.presolve import Presolved

__all__ = ["NewtonSystem"]

MANY_CORRECTORS = 5  # correctors where a factor costs far more than a solve
DEAR = 1000.0  # operations of a factor for one of a solve from which that is so
PASSES = 30  # operations of a solve for each pair of sample and label


class NewtonSystem:
    """Factors the system at a point and solves it for any right-hand side."""

    def __init__(self) -> None:
        self.matrix = NormalMatrix()

    def use(self, samples: Presolved) -> None:
        """Take these samples, whose features must be the same ones each time."""
        self.phi = samples
        self.matrix.use(samples)

    def correctors(self) -> int:
        """Centrality correctors that are worth their solves."""
        (n, k), m = self.phi.closed.shape, len(self.phi.kept)
        return MANY_CORRECTORS if m * m * (n + m / 3) > DEAR * (m * m + PASSES * n * k) else 2

    def factor(self, p: Point) -> None:
        """Eliminate the samples and factor the matrix of the features."""
        a, b = p.beta / p.u, p.delta / p.t
        self.inverse = 1.0 / (a + b)
        self.g = a * self.inverse
        self.kappa = p.z / p.gamma + self.inverse.sum(axis=1)
        self.ridge = 1.0 / (p.plus / p.r_plus + p.minus / p.r_minus)
        self.matrix.factor(b * self.g, self.g, self.kappa, self.ridge)
        row_sums = self.matrix.apply_weights(np.ones_like(self.g))
        self.border = self.phi.adjoint(row_sums)
        self.border_solved = self.matrix.solve(self.border)
        self.corner = corner(float(row_sums.sum()), float(self.border @ self.border_solved))

    def step(
        self, p: Point, target: np.ndarray, rests: tuple[np.ndarray, np.ndarray, float]
    ) -> Point:
        """Direction that brings each pair's product change to ``target``.

        Parameters
        ----------
        p : Point
        target : ndarray of shape (pairs,)
            Wanted x dz + z dx.
        rests : tuple
            Residuals of the dual equations of r+, r- and sum beta = 1.
        """
        c_u, c_t, c_z, c_plus, c_minus = parts(target, *p.u.shape)
        rest_plus, rest_minus, rest_sum = rests
        push = c_u / p.u
        e = push + c_t / p.t
        lift = (e * self.inverse).sum(axis=1) + c_z / p.gamma
        k = push - self.g * (e - (lift / self.kappa)[:, None])
        q = (c_plus - p.plus * rest_plus) / p.r_plus - (c_minus - p.minus * rest_minus) / p.r_minus
        d = p.like()
        d_mu, d.free = self._solve(self.ridge * q - self.phi.adjoint(k), rest_sum - float(k.sum()))
        ds = self.phi.scores(d_mu) - d.free
        pull = self.g * ds
        d.gamma[:] = (pull.sum(axis=1) + lift) / self.kappa
        d.t[:] = pull + (e - d.gamma[:, None]) * self.inverse
        d.u[:] = d.t - ds
        d.z[:] = -d.t.sum(axis=1)
        d.beta[:] = self.matrix.apply_weights(ds) + k
        d.delta[:] = d.gamma[:, None] - d.beta
        moment = self.phi.adjoint(d.beta)
        d.r_plus[:], d.r_minus[:] = rest_plus + moment, rest_minus - moment
        d.plus[:] = (c_plus - p.plus * d.r_plus) / p.r_plus
        d.minus[:] = (c_minus - p.minus * d.r_minus) / p.r_minus
        # The solve is exact to rounding only; what is left goes to the larger part, so
        # that the scores of the step stay those of d mu and primal rows stay exact.
        error = d_mu - (d.plus - d.minus)
        larger = p.plus >= p.minus
        d.plus += np.where(larger, error, 0.0)
        d.minus -= np.where(larger, 0.0, error)
        return d

    def _solve(self, rhs: np.ndarray, rest: float) -> tuple[np.ndarray, float]:
        inner = self.matrix.solve(rhs)
        d_v = float((self.border @ inner - rest) / self.corner)
        return inner + d_v * self.border_solved, d_v
