"""Fetch the files of one data set and verify their sha256."""

from marginlab.datasets.record import record_files
from marginlab.job import job

with job(snakemake):
    record_files(
        snakemake.wildcards.dataset,
        snakemake.output.record,
        mirror=snakemake.config["mirror"],
        cache=snakemake.config["cache"],
    )
