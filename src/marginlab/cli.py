"""The command ``marginlab``: parses arguments, runs a command, ends errors in one sentence."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module

from marginlab.commands.idle import check_idle
from marginlab.commands.parser import build_parser
from marginlab.errors import MarginlabError

__all__ = ["main"]

#: Exit codes beside 0: a mistake or failed check, wrong usage, a defect of ours.
MISTAKE, USAGE, DEFECT, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141

_STDOUT = "standard output"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    int
        Exit code: 0 done, 1 a mistake of the user's or a failed check, 2 wrong usage
        (raised by argparse), 3 a defect, 130 interrupted.
    """
    parser = build_parser()
    args = parser.parse_args(argv)
    if not hasattr(args, "module"):
        parser.print_help(sys.stderr)
        return USAGE
    try:
        code = _run(args)
        _flush_stdout()
        return code
    except BrokenPipeError:
        # The reader has gone (as with `| head`); keep the interpreter from complaining.
        _silence_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return _fail("interrupted; nothing half-written is left", INTERRUPTED)
    except MarginlabError as error:
        return _fail(" ".join(str(error).split()), MISTAKE)
    except OSError as error:
        if error.filename == _STDOUT:
            _silence_stdout()  # what is left in its buffer would fail again at exit
        return _fail(_os_sentence(error), MISTAKE)
    except MemoryError:
        return _fail("not enough memory; give fewer rows or close other programs", MISTAKE)
    except Exception as error:
        return _defect(error, args)


def _run(args: argparse.Namespace) -> int:
    check_idle(args)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning(bool(getattr(args, "quiet", False)))
        command = import_module(f"marginlab.commands.{args.module}")
        return int(getattr(command, args.function)(args) or 0)


def _fail(sentence: str, code: int) -> int:
    sys.stderr.write(f"marginlab: {sentence}\n")
    return code


def _os_sentence(error: OSError) -> str:
    where = error.filename or "a file"
    reason = error.strerror or str(error)
    return f"{where}: {reason}; check the path, its permissions and the free space"


def _defect(error: Exception, args: argparse.Namespace) -> int:
    if args.debug:
        traceback.print_exception(error)
    detail = " ".join(str(error).split())[:200]
    return _fail(
        f"a defect in marginlab: {type(error).__name__}: {detail}; "
        f"run again with --debug and report what it prints",
        DEFECT,
    )


def _show_warning(quiet: bool):  # type: ignore[no-untyped-def]
    def show(message, category, filename, lineno, file=None, line=None) -> None:  # type: ignore[no-untyped-def]
        if not quiet and issubclass(category, UserWarning):
            sys.stderr.write(f"note: {' '.join(str(message).split())}\n")

    return show


def _flush_stdout() -> None:
    from marginlab.files import named_errors  # here: it loads NumPy, which --help does without

    with named_errors(_STDOUT):
        sys.stdout.flush()


def _silence_stdout() -> None:
    devnull = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(devnull, sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(main())
