"""Corrupted label vectors of one data set, for every direction of attack and share of errors."""

from marginlab.experiments.corruption import corrupt
from marginlab.job import job

with job(snakemake):
    for (alpha, rho), noise in zip(snakemake.params.noise, snakemake.output.noise, strict=True):
        corrupt(
            snakemake.input.data,
            noise,
            alpha=alpha,
            rho=float(rho),
            repeats=snakemake.params.repeats,
            seed=snakemake.params.seed,
        )
