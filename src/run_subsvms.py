"""SubSVMs on the corrupted labels of one data set: corrected labels and test scores."""

from marginlab.experiments.subsvms_uci import correct_dataset
from marginlab.job import job

with job(snakemake):
    correct_dataset(
        snakemake.input.data,
        dict(zip(snakemake.params.alphas, snakemake.input.noise, strict=True)),
        snakemake.output.table,
        dict(zip(snakemake.params.alphas, snakemake.output.arrays, strict=True)),
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
