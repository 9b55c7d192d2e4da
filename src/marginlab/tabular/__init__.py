"""A user's own data file (CSV, LIBSVM, Parquet, standard input) as X and y, and back."""

from __future__ import annotations

from marginlab.tabular.layout import Layout
from marginlab.tabular.raw import RawTable, read_raw
from marginlab.tabular.reading import Table, read_table
from marginlab.tabular.scaling import Scaler
from marginlab.tabular.writing import replace_labels

__all__ = ["Layout", "RawTable", "Scaler", "Table", "read_raw", "read_table", "replace_labels"]
