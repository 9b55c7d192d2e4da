"""SubSVMs with the L1 loss on the corrupted labels of one data set."""

from marginlab.experiments.subsvms_uci import correct_dataset
from marginlab.job import job

with job(snakemake):
    correct_dataset(
        snakemake.input.data,
        dict(zip(snakemake.params.alphas, snakemake.input.noise, strict=True)),
        snakemake.output.table,
        None,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
        method="SubSVMs (L1 loss)",
    )
