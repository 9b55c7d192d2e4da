"""Paper 3's tables, from the results of all its jobs."""

from pathlib import Path

from marginlab.experiments.mrc_report import tabulate
from marginlab.job import job

with job(snakemake):
    tabulate(
        snakemake.input.rows,
        snakemake.input.listed,
        Path(snakemake.output[0]).parent,
        settings=snakemake.params.settings,
        missing=snakemake.params.missing,
    )
