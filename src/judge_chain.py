"""The chain's questions, answered by its own evidence."""

from marginlab.experiments.chain_claims import write_claims
from marginlab.job import job

with job(snakemake):
    write_claims(
        snakemake.input.published,
        snakemake.input.rows,
        snakemake.output.claims,
        settings=snakemake.params.settings,
    )
