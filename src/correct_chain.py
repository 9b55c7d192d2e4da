"""Chain, step 1: votes and corrected labels of one data set under every corruption."""

from marginlab.experiments.chain_labels import correct_labels
from marginlab.job import job

with job(snakemake):
    correct_labels(
        snakemake.input.data,
        dict(zip(map(tuple, snakemake.params.noise), snakemake.input.noise, strict=True)),
        snakemake.output.labels,
        snakemake.output.table,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
