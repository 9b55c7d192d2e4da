"""Error correction on separable Gaussians, for one dimension and one C (Fig. 2)."""

from marginlab.experiments.subsvms_synthetic import run_synthetic
from marginlab.job import job

with job(snakemake):
    run_synthetic(
        snakemake.output.table,
        d=int(snakemake.wildcards.d),
        C=float(snakemake.wildcards.C),
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
    )
