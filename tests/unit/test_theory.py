import numpy as np
import pytest

from marginlab.errors import UserError
from marginlab.noise import flip_labels
from marginlab.theory import (
    clean_shares,
    eta,
    eta_hoeffding,
    eta_worst,
    size_balanced,
    size_global_minimum,
    size_local_minimum,
)

RHO = np.arange(1, 10) / 10
R = np.arange(4, 61)
P = np.arange(1, 100) / 100


def test_clean_shares_count_what_flip_labels_does():
    y = np.repeat([1, -1], [200, 600])
    for alpha in (0, 0.25, 1):
        noisy = flip_labels(y, 0.75, alpha, np.random.default_rng(0))
        of_a, of_b = clean_shares(0.75, alpha, 0.25)
        assert of_a == pytest.approx(np.mean(y[noisy == 1] == 1), abs=0.01)
        assert of_b == pytest.approx(np.mean(y[noisy == -1] == -1), abs=0.01)


def test_eta_against_sampling():
    rng = np.random.default_rng(0)
    s, r, p, rho, alpha, beta = 20, 8, 0.5, 0.6, 0.5, 0.3
    of_a, of_b = clean_shares(rho, alpha, beta)
    share_a, share_b = of_a * p, of_b * (1 - p)
    draws = rng.multinomial(s, [share_a, share_b, 1 - share_a - share_b], size=200_000)
    expected = (draws[:, 0] < r / 2).mean() + (draws[:, 1] < r / 2).mean()
    assert eta(s, r, p, rho, alpha, beta) == pytest.approx(expected, abs=0.005)


def test_worst_case_bounds_every_attack():
    for rho in RHO:
        worst = eta_worst(30, 8, P, rho)
        for alpha in np.linspace(0, 1, 5):
            for beta in (0.05, 0.3, 0.5):
                assert (eta(30, 8, P, rho, alpha, beta) <= worst + 1e-12).all()


def test_worst_shares_are_28():
    assert clean_shares(0.75, 1, 0.3)[0] == pytest.approx(1 / 1.75)
    assert clean_shares(0.75, 0, 0.5)[1] == pytest.approx(1 / 1.75)


def test_5_is_36_at_rho_one():
    assert np.allclose(size_balanced(R), size_global_minimum(R, 1.0), rtol=1e-14, atol=0)


def test_conditions_are_ordered():
    for rho in RHO:
        assert (size_local_minimum(R, rho) >= (1 + rho) * (R - 2)).all()
        assert (size_global_minimum(R, rho) >= size_local_minimum(R, rho)).all()


@pytest.mark.parametrize("rho", RHO)
def test_balanced_sampling_minimises_the_exact_worst_case(rho):
    for r in R:
        for extra in (0, 1, 10):
            values = eta_worst(np.ceil(size_local_minimum(r, rho)) + extra, r, P, rho)
            assert values.min() >= values[49] * (1 - 1e-12)


@pytest.mark.parametrize("rho", RHO)
def test_balanced_sampling_minimises_the_closed_form_from_36_on(rho):
    for r in R:
        values = eta_hoeffding(np.ceil(size_global_minimum(r, rho)), r, P, rho)
        assert np.nanmin(values) >= values[49] * (1 - 1e-12)


def test_small_samples_are_worst_at_one_half():
    values = eta_worst(20, 20, P, 0.75)
    assert values.argmax() == 49


def test_the_half_in_30_is_no_strict_bound():
    # clean share .4, one point wanted more than one: tails .337, terms .335
    assert eta_worst(5, 4, 0.5, 0.25) > eta_hoeffding(5, 4, 0.5, 0.25)


def test_undefined_where_hoeffding_does_not_apply():
    assert np.isnan(eta_hoeffding(20, 20, 0.5, 0.75))


def test_errors():
    with pytest.raises(UserError, match="rho"):
        eta_worst(10, 4, 0.5, 1.5)
    with pytest.raises(UserError, match="r >= 2"):
        size_balanced(0)
