"""Writes examples/own_data.ipynb; run it from the project's root after a change of the cells."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent

CELLS = [
    (
        "markdown",
        """# marginlab on your own data

500 customers stay or leave; some who left are recorded as staying (`customers.csv`). 400 more
were looked up (`trusted.csv`). The steps are those of `docs/tutorial.md`; put your own file in
place of the first one.""",
    ),
    (
        "code",
        """from pathlib import Path

import numpy as np

from marginlab import MinimaxRiskClassifier, SpanSearch, SubSVMs, WeightedSVC
from marginlab.tabular import Scaler, read_table

folder = Path("examples") if Path("examples").is_dir() else Path(".")
table = read_table(
    folder / "customers.csv", label="outcome", drop=["confidence"], categorical=True
)
trusted = read_table(folder / "trusted.csv", layout=table.layout)
scaler = Scaler.fit(table.X, "minmax")
X, y = scaler.apply(table.X), table.y
X_test, y_test = scaler.apply(trusted.X), trusted.y
print(X.shape, {label: int((y == label).sum()) for label in np.unique(y)})""",
    ),
    (
        "markdown",
        """## 1. Correct the labels

A thousand SVMs on small class-balanced subsets vote on every row. `votes_` is the share of them
that says `classes_[1]`.""",
    ),
    (
        "code",
        """subsvms = SubSVMs(random_state=0).fit(X, y)
corrected = subsvms.labels_corrected_
share = np.where(corrected == subsvms.classes_[1], subsvms.votes_, 1 - subsvms.votes_)
print("labels changed:", int((corrected != y).sum()))
surest = np.flatnonzero(corrected != y)
surest = surest[np.argsort(-share[surest])][:5]
for row in surest:
    print(f"row {row + 1}: {y[row]} -> {corrected[row]}, {share[row]:.0%} of the SVMs")""",
    ),
    (
        "markdown",
        """## 2. Choose the weights and C of an SVM by the span-rule

The share of votes behind a label becomes the weight of its row, through a map whose slope and
middle are chosen too. No cross-validation: each setting costs one training.""",
    ),
    (
        "code",
        """def logistic(scores, slope, middle):
    return 0.01 + 0.99 / (1 + np.exp(-slope * (scores - middle)))


search = SpanSearch(
    WeightedSVC(),
    {
        "C": [1, 4, 16, 64],
        "gamma": [0.25 / X.shape[1], 1 / X.shape[1]],
        "weight_map": [logistic],
        "slope": [5.0, 10.0],
        "middle": [0.3, 0.6],
    },
)
search.fit(X, corrected, sample_weight=2 * share - 1 + 1e-6)
best = {key: value for key, value in search.best_params_.items() if key != "weight_map"}
print("chosen:", best)
print(f"span-rule estimate on the corrected labels: {search.best_score_:.3f}")""",
    ),
    (
        "markdown",
        """## 3. A classifier that knows its worst case

The upper bound holds for every distribution whose feature means lie within `lambda_0` standard
deviations of the sample's.""",
    ),
    (
        "code",
        """bound = MinimaxRiskClassifier(features="fourier", n_components=100, random_state=0)
bound.fit(X, corrected)
print(f"worst-case error: {bound.upper_bound_:.3f} (no rule does better than "
      f"{bound.lower_bound_:.3f})")""",
    ),
    (
        "markdown",
        """## 4. Did it help?

Errors on the rows that were looked up, against an SVM on the labels as they came.""",
    ),
    (
        "code",
        """plain = WeightedSVC(C=16).fit(X, y)
errors = {
    "SVM on the labels as given": np.mean(plain.predict(X_test) != y_test),
    "SubSVMs' vote": np.mean(subsvms.predict(X_test) != y_test),
    "weighted SVM, corrected labels": np.mean(search.predict(X_test) != y_test),
    "minimax risk classifier, corrected labels": np.mean(bound.predict(X_test) != y_test),
}
for name, error in errors.items():
    print(f"{error:.3f}  {name}")""",
    ),
]


def notebook() -> dict[str, object]:
    """The notebook as Jupyter's format 4.5, without outputs."""
    cells = []
    for number, (kind, source) in enumerate(CELLS):
        cell: dict[str, object] = {
            "cell_type": kind,
            "id": f"cell-{number}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def main() -> None:
    """Write the notebook beside this script."""
    text = json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n"
    (HERE / "own_data.ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
