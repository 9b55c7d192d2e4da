"""SubSVMs on the corrupted labels of one data set: corrected labels and test scores."""

from marginlab.experiments.subsvms_uci import correct_dataset
from marginlab.job import job

with job(snakemake):
    correct_dataset(
        snakemake.input.data,
        snakemake.input.noise,
        snakemake.output.table,
        snakemake.output.arrays,
        alpha=snakemake.wildcards.alpha,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
