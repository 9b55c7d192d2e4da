"""Label probabilities h(y|x) of a minimax risk classifier."""

from __future__ import annotations

import numpy as np

from marginlab.mrc.oracle import sample_maximum

__all__ = ["label_probabilities"]


def label_probabilities(scores: np.ndarray) -> np.ndarray:
    """Probabilities h(y|x) = max(0, Phi(x, y) . mu - t(x)), with t(x) so that they sum to one.

    Where h(y|x) >= Phi(x, y) . mu - phi(mu), a label drawn by h is wrong with a probability
    of at most 1 + phi(mu) - E Phi . mu, which (3) minimises: every such h is a minimax rule
    (Mazuelas et al.), and how the rest of the mass is shared out is free. phi(mu) is a
    maximum over the training rows and the subsets C of labels; t(x) is that maximum for the
    one row x, as Algorithm 2 finds it, so h keeps the condition there and the order of the
    scores everywhere. The authors' MRCpy divides max(0, Phi(x, y) . mu - phi(mu)) by its
    sum; for two labels and phi(mu) = -1/2 that is the same.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, n_classes)
        As `MinimaxRiskClassifier.decision_function` gives them.

    Returns
    -------
    ndarray of shape (n, n_classes)
    """
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    # Differences to the largest score keep their digits where scores are huge.
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.maximum(scores - sample_maximum(scores)[:, None], 0.0)
