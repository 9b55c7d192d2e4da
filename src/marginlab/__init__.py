"""Learning with guarantees: SubSVMs, the span-rule and minimax risk classifiers.

The public names load on first use, so ``import marginlab`` stays cheap for the
command line and for short workflow jobs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from marginlab.numba_cache import ensure_cache_folder

__version__ = "0.1.0"

_HOME = {
    "SubSVMs": "marginlab.subsvms",
    "WeightedSVC": "marginlab.svm.weighted",
    "SpanSearch": "marginlab.selection",
    "MinimaxRiskClassifier": "marginlab.mrc.estimator",
}

__all__ = ["MinimaxRiskClassifier", "SpanSearch", "SubSVMs", "WeightedSVC", "__version__"]

ensure_cache_folder()

if TYPE_CHECKING:
    from marginlab.mrc.estimator import MinimaxRiskClassifier
    from marginlab.selection import SpanSearch
    from marginlab.subsvms import SubSVMs
    from marginlab.svm.weighted import WeightedSVC


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'marginlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
