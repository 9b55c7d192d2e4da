"""The methods of paper 3 on one data set, in turn, each in a process of its own."""

from marginlab.experiments.mrc_runs import run_job
from marginlab.job import job

with job(snakemake):
    run_job(
        snakemake.input.data,
        snakemake.output.table,
        snakemake.output.curves,
        job=snakemake.params.job,
        methods=snakemake.params.methods,
        defaults=snakemake.params.defaults,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
