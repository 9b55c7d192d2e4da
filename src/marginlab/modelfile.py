"""Saved models: NumPy arrays and JSON in one .npz, no pickle, checked on load.

Opening a model file runs no code of its author's, whatever it holds.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginlab import __version__
from marginlab.errors import DataError, UserError
from marginlab.files import write_npz
from marginlab.mrc.features import FourierFeatures, hstack_ones
from marginlab.mrc.probabilities import label_probabilities
from marginlab.svm.kernels import linear_gram, rbf_blocks, resolve_gamma
from marginlab.tabular import Layout, Scaler

__all__ = ["FORMAT_VERSION", "SavedModel", "load_model", "mrc_model", "save_model", "svm_model"]

_MAGIC = "marginlab model"
#: Raised whenever an older reader would misread a newer file.
FORMAT_VERSION = 1
_KINDS = {
    "svm": {"coef", "intercept"},
    "mrc": {"coef"},
}
_ARRAYS = {
    *("coef", "intercept", "directions", "rows"),
    *("rows_data", "rows_indices", "rows_indptr", "rows_shape"),
    *("scale_offset", "scale_factor", "scale_constant"),
}
_MOST_BYTES = 4 * 2**30


@dataclass(frozen=True)
class SavedModel:
    """A classifier that predicts from arrays alone.

    Attributes
    ----------
    kind : {"svm", "mrc"}
        Weighted SVM, or minimax risk classifier.
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    layout : Layout
        Columns that the model reads.
    scaler : Scaler
        Applied to the features first.
    arrays : dict of str to array
        "coef" and, by kind, "intercept" and "rows" (support vectors), or
        "directions" (of the random Fourier features).
    facts : dict
        Parameters and results, plain values: what was fitted and how well.
    """

    kind: str
    classes: NDArray[Any]
    layout: Layout
    scaler: Scaler
    arrays: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of rows before scaling.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Features as `layout` reads them.

        Returns
        -------
        ndarray of shape (n,) for two labels (positive: the second), else (n, n_classes)
        """
        if X.shape[1] != self.layout.n_features:
            raise UserError(
                f"the model reads {self.layout.n_features} features, but X has {X.shape[1]}"
            )
        scaled = self.scaler.apply(X)
        return self._svm(scaled) if self.kind == "svm" else self._mrc(scaled)

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of rows before scaling, shape (n,)."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes[codes]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities as `MinimaxRiskClassifier.predict_proba` gives them.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Features before scaling.

        Returns
        -------
        ndarray of shape (n, n_classes)

        Raises
        ------
        UserError
            If the model is a weighted SVM.
        """
        if self.kind == "svm":
            raise UserError(
                "the model is an SVM, whose scores are no probabilities; a minimax risk classifier "
                "(marginlab bound --save) has them"
            )
        return label_probabilities(self.decision_function(X))

    def _svm(self, X: Any) -> NDArray[np.float64]:
        rows, coef = self.arrays["rows"], self.arrays["coef"]
        if self.facts["kernel"] == "linear":
            return np.asarray(coef @ linear_gram(rows, X)) + float(self.arrays["intercept"])
        values = np.empty(X.shape[0])
        for part, block in rbf_blocks(rows, X, float(self.facts["gamma"])):
            values[part] = coef @ block
        return values + float(self.arrays["intercept"])

    def _mrc(self, X: Any) -> NDArray[np.float64]:
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        if "directions" in self.arrays:
            size = self.arrays["coef"].shape[1] - 1
            X = FourierFeatures(self.arrays["directions"], size)(X)
        blocks = np.asarray(hstack_ones(X) @ self.arrays["coef"].T)
        return -blocks[:, 0] if len(self.classes) == 2 else blocks


def svm_model(
    model: Any, X: Any, y: NDArray[Any], layout: Layout, scaler: Scaler, facts: dict[str, Any]
) -> SavedModel:
    """A fitted `WeightedSVC` as a saved model.

    Parameters
    ----------
    model : WeightedSVC
    X : ndarray or CSR matrix of shape (n, d)
        The scaled rows that it was fitted on.
    y : ndarray of shape (n,)
        Their labels.
    layout, scaler
        How a file becomes X.
    facts : dict
        Plain values to keep beside it.
    """
    used = np.flatnonzero(model.alpha_ > 0)
    coef = model.alpha_[used] * np.where(np.asarray(y)[used] == model.classes_[1], 1.0, -1.0)
    arrays = {"coef": coef, "intercept": np.float64(model.intercept_), "rows": X[used]}
    kept = {"kernel": model.kernel, "gamma": resolve_gamma(model.gamma, X.shape[1]), "C": model.C}
    return SavedModel("svm", model.classes_, layout, scaler, arrays, kept | facts)


def mrc_model(model: Any, layout: Layout, scaler: Scaler, facts: dict[str, Any]) -> SavedModel:
    """A fitted `MinimaxRiskClassifier` as a saved model; parameters as in `svm_model`."""
    arrays = {"coef": model.coef_}
    if model._fourier is not None:
        arrays["directions"] = model._fourier.directions
    return SavedModel("mrc", model.classes_, layout, scaler, arrays, facts)


def save_model(model: SavedModel, path: str | Path) -> None:
    """Write a model, whole or not at all.

    Parameters
    ----------
    model : SavedModel
    path : str or Path
        Must end in .npz.
    """
    if Path(path).suffix != ".npz":
        raise UserError(f"{path}: name the model file with the ending .npz")
    arrays = _flat(model)
    head = {
        "magic": _MAGIC,
        "format": FORMAT_VERSION,
        "marginlab": __version__,
        "kind": model.kind,
        "classes": model.classes.tolist(),
        "layout": model.layout.to_json(),
        "scale": model.scaler.kind,
        "facts": model.facts,
        "sha256": _digest(arrays),
    }
    text = json.dumps(head, sort_keys=True, allow_nan=False).encode()
    write_npz(path, head=np.frombuffer(text, dtype=np.uint8), **arrays)


def load_model(path: str | Path) -> SavedModel:
    """Read a model and check it: format, version, digest, shapes.

    Raises
    ------
    DataError
        If the file is no model, damaged, or from a newer version.
    """
    stored = _read(Path(path))
    head = _head(Path(path), stored)
    try:
        return _build(head, stored)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, DataError):
            raise DataError(f"{path}: {error}") from None
        raise DataError(f"{path} is a damaged model file; save the model again") from None


def _flat(model: SavedModel) -> dict[str, NDArray[Any]]:
    arrays = dict(model.arrays)
    rows = arrays.pop("rows", None)
    if sparse.issparse(rows):
        rows = sparse.csr_matrix(rows)
        arrays |= {
            "rows_data": rows.data,
            "rows_indices": rows.indices,
            "rows_indptr": rows.indptr,
            "rows_shape": np.array(rows.shape),
        }
    elif rows is not None:
        arrays["rows"] = rows
    scaler = model.scaler
    arrays |= {"scale_offset": scaler.offset, "scale_factor": scaler.factor}
    arrays["scale_constant"] = scaler.constant
    return {name: np.asarray(array) for name, array in arrays.items()}


def _digest(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _read(path: Path) -> dict[str, NDArray[Any]]:
    foreign = f"{path} is not a marginlab model; give a file saved by tune --out or bound --save"
    if not path.exists():
        raise DataError(f"{path} does not exist; check the path of the model")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a model in it, saved by tune or bound")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = {member.filename.removesuffix(".npy") for member in members}
            if "head" not in names or names - _ARRAYS - {"head"}:
                raise DataError(foreign)
            # A small archive can unpack to any size: look before loading.
            if sum(member.file_size for member in members) > _MOST_BYTES:
                raise DataError(f"{path} unpacks to more than 4 GB; it is no model to be trusted")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except DataError:
        raise
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError, NotImplementedError):
        raise DataError(foreign) from None
    except Exception:  # zlib and the header parser raise what they like on damage
        raise DataError(f"{path} is a damaged model file; save the model again") from None


def _head(path: Path, stored: dict[str, NDArray[Any]]) -> dict[str, Any]:
    try:
        head = json.loads(stored.pop("head").tobytes())
        known = head["magic"] == _MAGIC
        version, digest = int(head["format"]), str(head["sha256"])
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise DataError(f"{path} is not a marginlab model; give one saved by tune or bound")
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path} was saved by marginlab {head.get('marginlab')} in format {version}; this "
            f"version reads up to {FORMAT_VERSION}: upgrade marginlab"
        )
    if digest != _digest(stored):
        raise DataError(f"{path} is damaged (its checksum does not match); save the model again")
    return dict(head)


def _build(head: dict[str, Any], stored: dict[str, NDArray[Any]]) -> SavedModel:
    kind, layout = str(head["kind"]), Layout.from_json(head["layout"])
    missing = _KINDS[kind] - set(stored)
    if missing:
        raise DataError(f"the model has no array {missing.pop()!r}; save it again")
    scaler = Scaler(
        str(head["scale"]),
        stored.pop("scale_offset"),
        stored.pop("scale_factor"),
        stored.pop("scale_constant"),
    )
    if "rows_data" in stored:
        parts = tuple(stored.pop(f"rows_{name}") for name in ("data", "indices", "indptr"))
        shape = tuple(map(int, stored.pop("rows_shape")))
        rows = sparse.csr_matrix(parts, shape=shape)
        rows.check_format(full_check=True)
        stored["rows"] = rows
    classes = np.array(head["classes"])
    model = SavedModel(kind, classes, layout, scaler, dict(stored), dict(head["facts"]))
    _check(model)
    return model


def _check(model: SavedModel) -> None:
    # One prediction exercises every shape; coefficients must be numbers.
    if not np.isfinite(model.arrays["coef"]).all() or len(model.classes) < 2:
        raise DataError("the model's coefficients are no numbers; save it again")
    scores = model.decision_function(np.zeros((1, model.layout.n_features)))
    if not np.isfinite(scores).all():
        raise DataError("the model gives no number for a row; save it again")
