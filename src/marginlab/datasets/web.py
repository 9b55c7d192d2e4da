"""Downloads over the web: pooch's downloader, retries, a plain sentence on failure."""

from __future__ import annotations

import importlib.util
import socket
import sys
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from marginlab.errors import DataError

__all__ = ["download", "reachable"]

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


def reachable(urls: Iterable[str], timeout: float = 5.0) -> bool:
    """Whether the host of at least one address takes a connection.

    Behind a proxy nothing is tried and the answer is yes: only the proxy knows.

    Parameters
    ----------
    urls : iterable of str
    timeout : float
        Seconds to wait for each host.
    """
    for url in sorted({f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in urls}):
        parts = urlsplit(url)
        host, port = str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
        if parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host):
            return True
        try:
            socket.create_connection((host, port), timeout).close()
        except OSError:
            continue
        return True
    return False


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
