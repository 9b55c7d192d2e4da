"""Image files: IDX arrays, and MNIST as a package pickles it.

A pickle can run code. This one is opened only after its sha256 matched (`fetch`), and
by an unpickler that admits nothing but the three names that rebuild a NumPy array.
"""

from __future__ import annotations

import gzip
import io
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core.multiarray import _reconstruct

from marginlab.errors import DataError

__all__ = ["mnist_to_idx", "read_idx", "safe_unpickle"]

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


def mnist_to_idx(data: bytes, part: str, content: str) -> bytes:
    """The official IDX file of MNIST from a gzipped pickle.

    Parameters
    ----------
    data : bytes
        Gzipped pickle of (train, validation, test), each (X, y), X = grey / 256.
    part : str
        ``train`` (train and validation together: the official 60,000) or ``test``.
    content : str
        ``images`` or ``labels``.

    Returns
    -------
    bytes
        Byte for byte the publisher's file, as the registry's sha256 proves.

    Raises
    ------
    DataError
        If the pickle is damaged or its grey values are not whole numbers.
    """
    parts = safe_unpickle(_gunzip(data), "the MNIST pickle")
    try:
        pairs = list(parts[:2] if part == "train" else parts[2:3])
        column = 0 if content == "images" else 1
        values = np.concatenate([np.asarray(pair[column]) for pair in pairs])
    except (ValueError, TypeError, IndexError):
        raise DataError("the MNIST pickle does not hold three pairs of images and labels") from None
    if content == "images":
        values = values.reshape(-1, 28, 28) * 256.0
    whole = np.rint(values).astype(np.uint8)
    if np.abs(values - whole).max() > 1e-4:
        raise DataError("the MNIST pickle holds values that are not grey / 256")
    return _idx_header(whole.shape) + whole.tobytes()


def _gunzip(data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            content = stream.read(_MAX_PICKLE + 1)
    except (OSError, EOFError, zlib.error):
        raise DataError("the MNIST pickle is a damaged gzip archive") from None
    if len(content) > _MAX_PICKLE:
        raise DataError(f"the MNIST pickle unpacks to more than {_MAX_PICKLE} bytes")
    return content


def _idx_header(shape: tuple[int, ...]) -> bytes:
    return bytes((0, 0, 8, len(shape))) + np.array(shape, dtype=">u4").tobytes()


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
