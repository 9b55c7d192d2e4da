"""Blind-SVM: one setting of the parameters for all data sets, best on average."""

from marginlab.experiments.subsvms_baselines import choose_blind
from marginlab.job import job

with job(snakemake):
    choose_blind(
        snakemake.input.grids,
        snakemake.output.table,
        snakemake.output.choices,
        run=snakemake.params.run,
    )
