"""All options of the command line. It imports nothing heavy: --help must be instant."""

from __future__ import annotations

import argparse
from typing import Any

from marginlab import __version__
from marginlab.commands.help_texts import (
    BOUND,
    COMPARE,
    CORRECT,
    DATASETS,
    DOCTOR,
    INTRO,
    PREDICT,
    START,
    TUNE,
)
from marginlab.commands.idle import Store
from marginlab.commands.values import (
    at_least,
    gamma,
    number_list,
    positive,
    sample_size,
    share_list,
    share_of_errors,
)

__all__ = ["build_parser"]

_SCALES = ("auto", "none", "minmax", "standard")


def build_parser() -> argparse.ArgumentParser:
    """The parser; a parsed command carries ``module`` and ``function`` to call."""
    parser = argparse.ArgumentParser(
        prog="marginlab",
        description=INTRO,
        epilog=START,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"marginlab {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_correct(commands)
    _add_tune(commands)
    _add_bound(commands)
    _add_predict(commands)
    _add_datasets(commands)
    _add_compare(commands)
    _add_doctor(commands)
    return parser


def _command(
    commands: Any, name: str, text: str, examples: str, module: str, function: str = "run"
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(module=module, function=function, given=set())
    parser.register("action", None, Store)
    _habits(parser)
    return parser


def _habits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the result as one JSON object")
    group.add_argument("--quiet", action="store_true", help="no progress and no notes")
    group.add_argument("--debug", action="store_true", help="print a defect's traceback")


def _reading(parser: argparse.ArgumentParser, scale: str | None) -> None:
    group = parser.add_argument_group("reading the file")
    group.add_argument(
        "--label",
        metavar="COLUMN",
        help="label column: its name, or number from 1 (-1 is the last); "
        "default: a column named label, class, target or y",
    )
    group.add_argument(
        "--drop", metavar="COLUMN", action="append", default=[], help="leave out a column; repeat"
    )
    group.add_argument(
        "--categorical", action="store_true", help="turn text columns into 0/1 columns"
    )
    group.add_argument(
        "--format", choices=("csv", "libsvm", "parquet"), help="default: told by name or content"
    )
    group.add_argument("--no-header", action="store_true", help="the CSV's first line is data")
    group.add_argument(
        "--n-features", metavar="N", type=at_least(1), help="LIBSVM: number of features"
    )
    if scale:
        group.add_argument(
            "--scale",
            choices=_SCALES,
            default=scale,
            help="auto: to [0, 1] unless all lie in [-1, 1] already (default: %(default)s)",
        )


def _seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", type=at_least(0), default=0, help="of all that is random (default: %(default)s)"
    )


def _add_correct(commands: Any) -> None:
    text = "correct noisy labels of two classes by SubSVMs' votes"
    parser = _command(commands, "correct", text, CORRECT, "correct")
    parser.add_argument("file", metavar="FILE", help="data, or - for standard input")
    parser.add_argument(
        "--out", metavar="FILE", help="the data with corrected labels; - is standard output"
    )
    parser.add_argument(
        "--share",
        metavar="COLUMN",
        help="add a column with the share of votes to --out, for tune --weight",
    )
    parser.add_argument("--votes", metavar="FILE", help="write every row's vote as CSV")
    parser.add_argument(
        "--show", metavar="N", type=at_least(0), default=5, help="rows to show (default: 5)"
    )
    check = parser.add_argument_group("does it help on my data?")
    check.add_argument("--test", metavar="FILE", help="rows with labels that you trust")
    check.add_argument(
        "--simulate",
        "--check",
        action="store_true",
        help="corrupt your labels on purpose and measure what SubSVMs brings back",
    )
    check.add_argument(
        "--rho",
        metavar="SHARE",
        type=share_of_errors,
        default=0.5,
        help="simulated errors as a share of the minority class (default: %(default)s)",
    )
    check.add_argument(
        "--alpha",
        metavar="LIST",
        type=share_list,
        default=share_list("0,0.5,1"),
        help="share of the errors that move majority rows into the minority (default: 0,0.5,1)",
    )
    check.add_argument(
        "--repeats",
        metavar="N",
        type=at_least(2),
        default=6,
        help="simulations of each kind (default: %(default)s)",
    )
    check.add_argument(
        "--max-rows",
        metavar="N",
        type=at_least(20),
        default=2000,
        help="rows for training in the check; more are drawn at random (default: %(default)s)",
    )
    method = parser.add_argument_group("SubSVMs")
    method.add_argument(
        "--n-svms",
        metavar="N",
        type=at_least(1),
        default=1000,
        help="number of SVMs that vote (default: %(default)s)",
    )
    method.add_argument(
        "--sample-size",
        metavar="S",
        type=sample_size,
        default="log2",
        help="rows for each: a number, log or log2 of the number of rows (default: %(default)s)",
    )
    method.add_argument(
        "--C", type=positive, default=100.0, help="penalty of slack (default: %(default)s)"
    )
    method.add_argument(
        "--gamma",
        type=gamma,
        default="1/d",
        help="kernel exp(-gamma |x - z|^2), 1/d or a number (default: %(default)s)",
    )
    method.add_argument(
        "--loss",
        choices=("l2", "l1"),
        default="l2",
        help="squared or plain hinge loss (default: %(default)s)",
    )
    _seed(method)  # type: ignore[arg-type]
    _reading(parser, "auto")


def _add_tune(commands: Any) -> None:
    text = "choose class or instance weights, C and gamma of an SVM by the span-rule"
    parser = _command(commands, "tune", text, TUNE, "tune")
    parser.add_argument("file", metavar="FILE", help="data, or - for standard input")
    parser.add_argument("--test", metavar="FILE", help="report the error on these rows")
    parser.add_argument("--out", metavar="MODEL", help="save the chosen model (.npz)")
    parser.add_argument("--table", metavar="FILE", help="write all settings tried as CSV")
    parser.add_argument(
        "--top", metavar="N", type=at_least(1), default=5, help="rows to show (default: 5)"
    )
    grid = parser.add_argument_group("grid")
    grid.add_argument(
        "--log2-C",
        metavar="LIST",
        type=number_list,
        default=number_list("-4:10:2"),
        dest="log2_c",
        help="powers of two for C; write --log2-C=-4:10:2 (the default)",
    )
    grid.add_argument(
        "--gamma",
        metavar="LIST",
        type=number_list,
        default=[0.25, 1.0, 4.0],
        help="in units of 1/d (default: 0.25,1,4)",
    )
    grid.add_argument(
        "--class-weights",
        metavar="LIST",
        type=number_list,
        default=None,
        help="weights of the rarer class, the other has 1 (default: 1,2,4; with --weight: 1)",
    )
    grid.add_argument(
        "--criterion",
        choices=("span_rule", "span_bound", "xi_alpha", "cv"),
        default="span_rule",
        help="the estimate that is minimised (default: %(default)s)",
    )
    grid.add_argument(
        "--cv",
        metavar="K",
        type=at_least(2),
        default=5,
        help="folds of --criterion cv (default: %(default)s)",
    )
    grid.add_argument(
        "--max-rows",
        metavar="N",
        type=at_least(20),
        default=2000,
        help="rows for choosing; more are drawn at random, the model is fitted on all "
        "(default: %(default)s)",
    )
    _seed(grid)  # type: ignore[arg-type]
    weights = parser.add_argument_group("importance of single rows")
    weights.add_argument("--weight", metavar="COLUMN", help="column of scores q, larger is better")
    weights.add_argument(
        "--map",
        choices=("logistic", "none"),
        default="logistic",
        help="logistic: q scaled to [0, 1], weight .01 + .99 / (1 + exp(-A (q - B))), A and B "
        "chosen too; none: the scores are the weights",
    )
    weights.add_argument(
        "--slope",
        metavar="LIST",
        type=number_list,
        default=[2.0, 5.0, 10.0],
        help="A of the map (default: 2,5,10)",
    )
    weights.add_argument(
        "--middle",
        metavar="LIST",
        type=number_list,
        default=[0.0, 0.3, 0.6],
        help="B of the map (default: 0,0.3,0.6)",
    )
    _reading(parser, "auto")


def _add_bound(commands: Any) -> None:
    text = "fit a classifier that minimises the worst-case error probability, and state it"
    parser = _command(commands, "bound", text, BOUND, "bound")
    parser.add_argument("file", metavar="FILE", help="data, or - for standard input")
    parser.add_argument("--test", metavar="FILE", help="report the error on these rows")
    parser.add_argument("--save", metavar="MODEL", help="save the classifier (.npz)")
    method = parser.add_argument_group("minimax risk classifier")
    method.add_argument(
        "--mapping",
        choices=("auto", "linear", "fourier"),
        default="auto",
        help="auto: random Fourier features below 100 features, linear from there",
    )
    method.add_argument(
        "--n-components",
        metavar="N",
        type=at_least(1),
        default=400,
        help="number of random Fourier features (default: %(default)s)",
    )
    method.add_argument(
        "--lambda-0",
        metavar="L",
        type=positive,
        default=0.01,
        dest="lambda_0",
        help="width of the uncertainty set in standard deviations (default: %(default)s)",
    )
    method.add_argument(
        "--method",
        choices=("auto", "ccg", "lp", "compact", "subgradient"),
        default="auto",
        help="constraint and column generation (ccg), all constraints at once (lp), their "
        "compact form, subgradient descent; auto chooses by size (default: %(default)s)",
    )
    method.add_argument(
        "--solver", choices=("auto", "highs", "cbc"), default="auto", help="default: %(default)s"
    )
    method.add_argument(
        "--eps-1",
        metavar="E",
        type=positive,
        default=1e-3,
        dest="eps_1",
        help="how far the two bounds may stay apart (default: %(default)s)",
    )
    method.add_argument("--time-limit", metavar="SECONDS", type=positive, help="give up then")
    _seed(method)  # type: ignore[arg-type]
    _reading(parser, "standard")


def _add_predict(commands: Any) -> None:
    text = "predict labels by a saved model"
    parser = _command(commands, "predict", text, PREDICT, "predict")
    parser.add_argument("model", metavar="MODEL", help="file saved by tune or bound")
    parser.add_argument("file", metavar="FILE", help="data, or - for standard input")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="row, prediction and score as CSV; - is standard output",
    )
    parser.add_argument(
        "--probabilities",
        action="store_true",
        help="each label's probability too (models of bound)",
    )
    group = parser.add_argument_group("reading the file")
    group.add_argument("--label", metavar="COLUMN", help="label column, if it has another name")
    group.add_argument(
        "--format", choices=("csv", "libsvm", "parquet"), help="default: told by name or content"
    )
    group.add_argument("--no-header", action="store_true", help="the CSV's first line is data")


def _add_datasets(commands: Any) -> None:
    text = "list, fetch and verify the papers' data sets"
    parser = _command(commands, "datasets", text, DATASETS, "datasets")
    parser.add_argument(
        "action",
        choices=("list", "info", "fetch", "verify"),
        help="list all; say all about NAME; get NAME; check what is here against the registry",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="default for verify: all in reach")


def _add_compare(commands: Any) -> None:
    text = "print the papers' numbers and claims against a run of the workflow"
    parser = _command(commands, "compare", text, COMPARE, "compare")
    parser.add_argument("--run", default="paper", help="paper or quick (default: %(default)s)")
    parser.add_argument("--brief", action="store_true", help="ten lines at most")


def _add_doctor(commands: Any) -> None:
    text = "check solvers, threads, data folder and versions"
    _command(commands, "doctor", text, DOCTOR, "doctor")
