"""Downloads over the web: pooch's downloader, retries, a plain sentence on failure."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

from marginlab.errors import DataError

__all__ = ["download"]

_TIMEOUT = 30.0  # seconds without an answer


def download(url: str, target: str | Path, attempts: int = 3, pause: float = 1.0) -> None:
    """Download ``url`` to ``target``; the caller checks the sha256.

    Parameters
    ----------
    url : str
    target : str or Path
        File to write.
    attempts : int
        Tries in all.
    pause : float
        Seconds before the second try; it doubles each time.

    Raises
    ------
    DataError
        If no try succeeds, with the last reason.
    """
    import pooch

    fetch = pooch.HTTPDownloader(progressbar=_bar(), timeout=_TIMEOUT)
    reason = "no attempt was made"
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            fetch(url, str(target), None)
            return
        except Exception as error:
            reason, final = _reason(error)
            if final:
                break
    raise DataError(reason)


def _bar() -> bool:
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None


def _reason(error: Exception) -> tuple[str, bool]:
    """The failure in words, and whether another try is pointless."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = error.response.status_code
        return f"the server answered {status} {error.response.reason}", 400 <= status < 500
    if isinstance(error, requests.Timeout):
        return f"no answer within {_TIMEOUT:.0f} s", False
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached", False
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the transfer broke off before its end", False
    if isinstance(error, requests.RequestException):
        return f"the transfer failed ({type(error).__name__})", False
    raise error
