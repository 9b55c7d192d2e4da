"""Image files: IDX arrays, and the MNIST pickle of a package.

A pickle can run code. This one is opened only after its sha256 matched (`fetch`), and
by an unpickler that admits nothing but the three names that rebuild a NumPy array.
"""

from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core.multiarray import _reconstruct

from marginlab.errors import DataError

__all__ = ["read_idx", "read_mnist_pickle", "safe_unpickle"]

_MAX_PICKLE = 512 * 2**20
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickler that rebuilds NumPy arrays and refuses every other name."""

    def find_class(self, module: str, name: str) -> Any:
        """The object behind an admitted name."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not an array")
        return _reconstruct if name == "_reconstruct" else getattr(np, name)


def safe_unpickle(data: bytes, name: str) -> Any:
    """Unpickle tuples, lists, numbers and NumPy arrays; refuse anything else.

    Parameters
    ----------
    data : bytes
    name : str
        What the error calls the file.

    Raises
    ------
    DataError
        If the pickle is damaged or names anything but an array.
    """
    try:
        return _ArrayUnpickler(io.BytesIO(data), encoding="latin1").load()
    except Exception as error:  # a damaged pickle fails in many ways
        raise DataError(f"{name} was refused as a pickle of arrays ({error})") from None


def read_mnist_pickle(path: str | Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """MNIST as grey values 0 to 255.

    Parameters
    ----------
    path : str or Path
        Gzipped pickle of (train, validation, test), each (X, y), X = grey / 256.
    part : str
        ``train`` (train and validation together: the official 60,000) or ``test``.

    Returns
    -------
    X : ndarray of float64, shape (n, 784)
    y : ndarray of float64, shape (n,)
        Digits 0 to 9.

    Raises
    ------
    DataError
        If the file is damaged or its grey values are not whole numbers.
    """
    try:
        with gzip.open(path) as stream:
            data = stream.read(_MAX_PICKLE + 1)
    except (OSError, EOFError):
        raise DataError(f"{path} is a damaged gzip archive; delete it and run again") from None
    if len(data) > _MAX_PICKLE:
        raise DataError(f"{path} unpacks to more than {_MAX_PICKLE} bytes; it is another file")
    content = safe_unpickle(data, str(path))
    try:
        parts = list(content[:2] if part == "train" else content[2:3])
        X = np.concatenate([np.asarray(pair[0], dtype=np.float64) for pair in parts]) * 256.0
        y = np.concatenate([np.asarray(pair[1], dtype=np.float64) for pair in parts])
    except (ValueError, TypeError, IndexError):
        raise DataError(f"{path} does not hold three pairs of images and labels") from None
    grey = np.rint(X)
    if X.ndim != 2 or np.abs(X - grey).max() > 1e-4:
        raise DataError(f"{path} holds values that are not grey / 256; it is another file")
    return grey, y


def read_idx(path: str | Path) -> np.ndarray:
    """Array of an IDX file (unsigned bytes, any number of dimensions).

    Raises
    ------
    DataError
        If the header or the length is wrong.
    """
    data = Path(path).read_bytes()
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise DataError(f"{path} is not an IDX file of bytes; fetch it again")
    n_dims = data[3]
    start = 4 + 4 * n_dims
    shape = tuple(np.frombuffer(data[4:start], dtype=">u4").astype(int).tolist())
    if len(shape) != n_dims or len(data) != start + int(np.prod(shape)):
        raise DataError(f"{path} is cut short: {len(data)} bytes for shape {shape}; fetch it again")
    return np.frombuffer(data, dtype=np.uint8, offset=start).reshape(shape)
