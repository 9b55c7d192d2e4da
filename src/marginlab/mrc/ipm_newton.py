"""The Newton system of the interior point: elimination per sample, one m x m matrix.

With a = beta/u, b = delta/t the pairs of sample i leave

    d beta_i = H_i (d s_i - d v) + k_i,   H_i = diag(ab/(a+b)) + g g^T / kappa,
    g = a/(a+b),   kappa = z/gamma + sum_y 1/(a+b),

and the features leave d mu = q - d . A d beta with d = mu+/r+ + mu-/r-. What remains
is (diag(1/d) + A H A^T) d mu = rhs, bordered by v.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marginlab.mrc.ipm_gram import NormalMatrix
from marginlab.mrc.presolve import Presolved

if TYPE_CHECKING:
    from marginlab.mrc.ipm_point import Point

__all__ = ["NewtonSystem"]


class NewtonSystem:
    """Factors the system at a point and solves it for any right-hand side."""

    def __init__(self) -> None:
        self.matrix = NormalMatrix()

    def use(self, samples: Presolved) -> None:
        """Take these samples, whose features must be the same ones each time."""
        self.phi = samples
        self.matrix.use(samples)

    def factor(self, p: Point) -> None:
        """Eliminate the samples and factor the matrix of the features."""
        a, b = p.beta / p.u, p.delta / p.t
        self.inverse = 1.0 / (a + b)
        self.g = a * self.inverse
        self.h = b * self.g
        self.kappa = p.z / p.gamma + self.inverse.sum(axis=1)
        self.ridge = 1.0 / (p.plus / p.r_plus + p.minus / p.r_minus)
        self.matrix.factor(self.h, self.g, self.kappa, self.ridge)
        row_sums = self.matrix.apply_weights(np.ones_like(self.g))
        self.border = self.phi.adjoint(row_sums)
        self.corner = float(row_sums.sum())
        self.border_solved = self.matrix.solve(self.border)

    def step(
        self,
        p: Point,
        target: list[np.ndarray],
        rest_plus: np.ndarray,
        rest_minus: np.ndarray,
        rest_sum: float,
    ) -> Point:
        """Direction that brings each pair's product change to ``target``.

        Parameters
        ----------
        p : Point
        target : list of ndarray
            Wanted x dz + z dx of the five kinds of pairs.
        rest_plus, rest_minus, rest_sum
            Residuals of the dual equations of r+, r- and sum beta = 1.
        """
        c_u, c_t, c_z, c_plus, c_minus = target
        push = c_u / p.u
        e = push + c_t / p.t
        lift = (e * self.inverse).sum(axis=1) + c_z / p.gamma
        k = push - self.g * e + self.g * (lift / self.kappa)[:, None]
        q = (c_plus - p.plus * rest_plus) / p.r_plus - (c_minus - p.minus * rest_minus) / p.r_minus
        d_mu, d_v = self._solve(self.ridge * q - self.phi.adjoint(k), rest_sum - float(k.sum()))
        ds = self.phi.scores(d_mu) - d_v
        d_gamma = ((self.g * ds).sum(axis=1) + lift) / self.kappa
        d_t = self.g * ds + (e - d_gamma[:, None]) * self.inverse
        d_beta = self.matrix.apply_weights(ds) + k
        moment = self.phi.adjoint(d_beta)
        d_r_plus, d_r_minus = rest_plus + moment, rest_minus - moment
        d_plus = (c_plus - p.plus * d_r_plus) / p.r_plus
        d_minus = (c_minus - p.minus * d_r_minus) / p.r_minus
        # The solve is exact to rounding only; what is left goes to the larger part, so
        # that the scores of the step stay those of d mu and primal rows stay exact.
        error = d_mu - (d_plus - d_minus)
        larger = p.plus >= p.minus
        return type(p)(
            d_plus + np.where(larger, error, 0.0),
            d_minus - np.where(larger, 0.0, error),
            d_v,
            d_t,
            d_t - ds,
            -d_t.sum(axis=1),
            d_beta,
            d_gamma,
            d_gamma[:, None] - d_beta,
            d_r_plus,
            d_r_minus,
        )

    def _solve(self, rhs: np.ndarray, rest: float) -> tuple[np.ndarray, float]:
        inner = self.matrix.solve(rhs)
        d_v = (self.border @ inner - rest) / (self.corner - self.border @ self.border_solved)
        return inner + d_v * self.border_solved, float(d_v)
