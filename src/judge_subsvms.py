"""Paper 1's claims in words, with evidence and verdict."""

from marginlab.experiments.subsvms_claims import write_claims
from marginlab.job import job

with job(snakemake):
    write_claims(
        snakemake.input.published,
        snakemake.input.rows,
        snakemake.input.gaussians,
        snakemake.output.claims,
    )
