"""What every workflow script does around its work: a log, and errors people can read."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from marginlab.errors import MarginlabError

__all__ = ["job"]


@contextmanager
def job(snakemake: Any) -> Iterator[None]:
    """Send output to the rule's log; end a foreseen error in one sentence.

    Parameters
    ----------
    snakemake : object
        The object that Snakemake gives a script.

    Notes
    -----
    A foreseen error (`MarginlabError`) is printed as one sentence, in the log and on
    the terminal; anything else is a defect, and its traceback goes to the log too.
    """
    path = Path(snakemake.log[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal_out, terminal_err = sys.stdout, sys.stderr
    start = time.monotonic()
    with path.open("w", encoding="utf-8", buffering=1) as log:
        sys.stdout = sys.stderr = log
        try:
            yield
            log.write(f"done in {time.monotonic() - start:.1f} s\n")
        except MarginlabError as error:
            log.write(f"error: {error}\n")
            terminal_err.write(f"marginlab: {snakemake.rule}: {error}\n")
            raise SystemExit(1) from None
        except OSError as error:
            log.write(traceback.format_exc())
            terminal_err.write(f"marginlab: {snakemake.rule}: {_os_sentence(error)}\n")
            raise SystemExit(1) from None
        except Exception:
            log.write(traceback.format_exc())
            raise
        finally:
            sys.stdout, sys.stderr = terminal_out, terminal_err


def _os_sentence(error: OSError) -> str:
    where = error.filename or "a file"
    return f"{error.strerror or error} ({where}); free space or mend the permissions and run again"
