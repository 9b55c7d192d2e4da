"""Corrupted label vectors of one data set and direction of attack."""

from marginlab.experiments.corruption import corrupt
from marginlab.job import job

with job(snakemake):
    corrupt(
        snakemake.input.data,
        snakemake.output.noise,
        alpha=snakemake.wildcards.alpha,
        rho=float(snakemake.wildcards.rho),
        repeats=snakemake.params.repeats,
        seed=snakemake.params.seed,
    )
