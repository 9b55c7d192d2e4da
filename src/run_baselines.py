"""Oracle-SVM, Bag-SVM and CV-SVM of one data set, all settings on shared kernels."""

from marginlab.experiments.subsvms_baselines import run_baselines
from marginlab.job import job

with job(snakemake):
    run_baselines(
        snakemake.input.data,
        dict(zip(snakemake.params.alphas, snakemake.input.noise, strict=True)),
        snakemake.output.table,
        snakemake.output.grid,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
