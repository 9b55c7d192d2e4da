"""Chain, step 3: minimax risk classifiers on given and corrected labels."""

from marginlab.experiments.chain_risk import bound_risk
from marginlab.job import job

with job(snakemake):
    bound_risk(
        snakemake.input.data,
        snakemake.input.labels,
        snakemake.output.table,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
