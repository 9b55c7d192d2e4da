"""Which data sets the run can have. It holds no rules."""

import os

from marginlab.datasets.fetch import can_be_had, has_no_source, web_addresses
from marginlab.datasets.registry import dataset_names
from marginlab.datasets.web import reachable

NO_DATA = {}  # data set -> why it cannot be had, of those that this run names


def reach(name):
    """Whether a data set is within reach, and the reason; asks no network."""
    return can_be_had(name, mirror=config["mirror"], cache=config["cache"])


def note_a_missing_web(names):
    """With ``unavailable: skip``, find out once whether the web that some sets need is there.

    The answer goes into MARGINLAB_OFFLINE, so that the jobs' own processes see the same
    sets as this one.
    """
    if config["unavailable"] == "error" or "MARGINLAB_OFFLINE" in os.environ:
        return
    found = {name: reach(name) for name in names}
    needed = [name for name, (within, source) in found.items() if within and "web" in source]
    urls = [url for name in needed for url in web_addresses(name)]
    if urls:
        os.environ.update(MARGINLAB_OFFLINE="0" if reachable(urls) else "1")


def available(names):
    """The data sets that the run can have; the rest is noted in NO_DATA.

    With ``unavailable: skip`` they are left out of the run; with ``error`` they stay,
    and the run stops before its first job if it needs one of them. Sets that no source
    gives to anyone are left out in either case.
    """
    try:
        note_a_missing_web(names)
        found = {name: reach(name) for name in names}
        kept = [name for name in names if found[name][0] or stops_the_run(name)]
    except MarginlabError as error:
        raise WorkflowError(str(error)) from None
    for name, (within, reason) in found.items():
        if not within and name not in NO_DATA:
            NO_DATA[name] = reason
            if name not in kept and workflow.is_main_process:
                logger.warning(f"no data for {name}: {reason}")
    return kept


def stops_the_run(name):
    """Whether a set that is not within reach is one that the user asked to insist on."""
    settings = {"mirror": config["mirror"], "cache": config["cache"]}
    return config["unavailable"] == "error" and not has_no_source(name, **settings)


def named_datasets(settings):
    """Data sets that the settings name, wherever a key speaks of data sets."""
    known, names = set(dataset_names()), set()

    def visit(key, value):
        if isinstance(value, dict):
            for inner, below in value.items():
                visit(str(inner), below)
        elif isinstance(value, list):
            for below in value:
                visit(key, below)
        elif "dataset" in key and value in known:
            names.add(value)

    visit("", settings)
    return sorted(names)
