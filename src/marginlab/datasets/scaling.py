"""Scaling of features: by the training part, or by a fixed number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from marginlab.errors import ConfigError

__all__ = ["scale_parts", "unit_interval"]


def scale_parts(steps: Mapping[str, Any], train: Any, test: Any) -> tuple[Any, Any]:
    """Apply the registry's preprocessing to both parts.

    Parameters
    ----------
    steps : mapping
        ``minmax: [low, high]`` maps each feature's range in the training part to
        [low, high] (constant features to low; test values may lie outside);
        ``divide: c`` divides by a constant. Empty: nothing is done.
    train, test : ndarray or csr_matrix

    Returns
    -------
    tuple of two arrays of the same kind
    """
    for step, setting in steps.items():
        if step == "divide":
            train, test = train / float(setting), test / float(setting)
        elif step == "minmax":
            train, test = _minmax(train, test, float(setting[0]), float(setting[1]))
        else:
            raise ConfigError(f"preprocessing {step!r} is unknown; use minmax or divide")
    return train, test


def _minmax(train: Any, test: Any, low: float, high: float) -> tuple[Any, Any]:
    is_sparse = sparse.issparse(train)
    dense = [part.toarray() if is_sparse else part for part in (train, test)]
    bottom, top = dense[0].min(axis=0), dense[0].max(axis=0)
    width = np.where(top > bottom, top - bottom, 1.0)
    scaled = [low + (high - low) * ((part - bottom) / width) for part in dense]
    return tuple(sparse.csr_matrix(part) for part in scaled) if is_sparse else tuple(scaled)


def unit_interval(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Scale scores to [0, 1] by the range of ``reference``; values outside are clipped.

    Parameters
    ----------
    values, reference : ndarray, shape (n,) and (m,)
    """
    low, high = float(reference.min()), float(reference.max())
    return np.clip((values - low) / (high - low if high > low else 1.0), 0.0, 1.0)
