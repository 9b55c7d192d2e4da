"""Tools of today on the corrupted labels of one data set."""

from marginlab.experiments.subsvms_peers import run_peers
from marginlab.job import job

with job(snakemake):
    run_peers(
        snakemake.input.data,
        dict(zip(snakemake.params.alphas, snakemake.input.noise, strict=True)),
        snakemake.output.table,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
