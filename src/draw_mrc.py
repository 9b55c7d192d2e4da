"""One figure of paper 3, from the results of its jobs."""

from marginlab.experiments.mrc_report import draw
from marginlab.job import job

with job(snakemake):
    draw(
        snakemake.params.figure,
        snakemake.input.rows,
        snakemake.input.curves,
        snakemake.params.stem,
        settings=snakemake.params.settings,
    )
