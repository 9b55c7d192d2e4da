"""What every workflow script does around its work: a log, and errors people can read."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

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
    log = path.open("w", encoding="utf-8", buffering=1)
    sys.stdout = sys.stderr = log
    try:
        yield
        _note(log, f"done in {time.monotonic() - start:.1f} s\n")
    except MarginlabError as error:
        terminal_err.write(f"marginlab: {snakemake.rule}: {error}\n")
        _note(log, f"error: {error}\n")
        raise SystemExit(1) from None
    except OSError as error:
        sentence = _os_sentence(error, getattr(snakemake, "output", ()))
        terminal_err.write(f"marginlab: {snakemake.rule}: {sentence}\n")
        _note(log, traceback.format_exc())
        raise SystemExit(1) from None
    except Exception:
        _note(log, traceback.format_exc())
        raise
    finally:
        sys.stdout, sys.stderr = terminal_out, terminal_err
        with suppress(OSError):  # the disk may be full
            log.close()


def _note(log: TextIO, text: str) -> None:
    # A full disk must not keep the sentence from the terminal, nor fail a job that is done.
    with suppress(OSError):
        log.write(text)


def _os_sentence(error: OSError, output: Sequence[str]) -> str:
    where = error.filename or (output[0] if len(output) else "a file")
    return f"{error.strerror or error} ({where}); free space or mend the permissions and run again"
