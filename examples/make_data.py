"""Makes the example files: customers who stay or leave, some of them recorded wrongly.

Run from the project's root: python examples/make_data.py

customers.csv  500 rows; 60 of those who left are recorded as "stays", and a column
               "confidence" says how sure the clerk was.
trusted.csv    400 rows whose outcome was looked up, for checking.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

from marginlab.files import write_csv  # noqa: E402
from marginlab.seeds import rng  # noqa: E402

SEED = 20260101
REGIONS = ("east", "north", "west")
WRONG = 60


def customers(n: int, random: np.random.Generator) -> pd.DataFrame:
    """Customers with their true outcome: few visits, many complaints, short custom leave."""
    visits = random.gamma(4, 2, n)
    complaints = random.poisson(1.5, n)
    years = random.gamma(3, 2, n)
    spent = random.lognormal(4, 0.5, n)
    region = random.choice(REGIONS, n)
    risk = (
        1.2 * complaints
        - 0.35 * visits
        - 0.3 * years
        - 0.01 * spent
        + 0.6 * (region == "north")
        + 0.7 * random.normal(size=n)
    )
    return pd.DataFrame(
        {
            "visits": visits.round(1),
            "complaints": complaints,
            "years": years.round(1),
            "spent": spent.round(2),
            "region": region,
            "outcome": np.where(risk > -2.0, "leaves", "stays"),
        }
    )


def main() -> None:
    """Write both files beside this script."""
    noisy = customers(500, rng(SEED, "examples", "customers"))
    random = rng(SEED, "examples", "mistakes")
    wrong = random.choice(np.flatnonzero(noisy["outcome"] == "leaves"), WRONG, replace=False)
    noisy.loc[wrong, "outcome"] = "stays"
    sure = random.beta(8, 2, len(noisy))
    sure[wrong] = random.beta(3, 4, WRONG)
    noisy["confidence"] = sure.round(2)
    write_csv(noisy, HERE / "customers.csv")
    write_csv(customers(400, rng(SEED, "examples", "trusted")), HERE / "trusted.csv")


if __name__ == "__main__":
    main()
