"""Chain, step 2: weighted SVMs on given and corrected labels, chosen by the span-rule."""

from marginlab.experiments.chain_weights import tune_weights
from marginlab.job import job

with job(snakemake):
    tune_weights(
        snakemake.input.data,
        snakemake.input.labels,
        snakemake.output.table,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
