"""Verdicts on the sentences of paper 3."""

from marginlab.experiments.mrc_report import weigh_claims
from marginlab.job import job

with job(snakemake):
    weigh_claims(
        snakemake.input.claims,
        snakemake.input.rows,
        snakemake.input.curves,
        snakemake.output.verdicts,
        settings=snakemake.params.settings,
    )
